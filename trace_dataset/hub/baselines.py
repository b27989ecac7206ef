"""A baseline's Space: its folder as it stands, a card, an app, and the wheel of the package that it was pushed with."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import trace_dataset
from hydrate.errors import UsageError
from trace_dataset.evaluation.results import Results
from trace_dataset.hub.cards import heading, short, split_card, with_metadata
from trace_dataset.hub.figures import model_index, results_of
from trace_dataset.hub.files import PublishedFile, collect
from trace_dataset.hub.guard import Guard, guard_for
from trace_dataset.hub.metrics import GRADIO
from trace_dataset.hub.publication import Publication, Push, assemble, folder_files
from trace_dataset.hub.trial import BaselineTrial, try_baselines
from trace_dataset.hub.upload import Options, push
from trace_dataset.hub.wheel import own_wheel
from trace_dataset.installed import hub_names, hub_path, render
from trace_dataset.release.local import Progress
from trace_dataset.remote import check_repo_id

OURS = ("trace-dataset", "hydrate")
CARRIED = (  # what trace-dataset requires, so a baseline may import it
    *("datasets", "evaluate", "huggingface-hub", "pyarrow", "numpy", "rapidfuzz", "orjson", "filelock", "tqdm"),
    *("jinja2", "wrapt", "matplotlib", "pyyaml", "gradio"),
)


def push_baseline(
    baseline: str,
    repo_id: str,
    *,
    results: Results | str | Path | None = None,
    from_index: str | None = None,
    lm: str | None = None,
    yelp_path: str | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Push:
    """Publish a baseline as a Space that anyone can talk to, and load with `load_baseline(repo_id, trust_remote_code=True)`.

    Args:
        baseline: the name of an installed one (`"tfidf"`), or the path of a folder (with a slash in it).
        repo_id: `owner/name`; any name will do.
        results: scores for the card's evaluation metadata: a `Results`, or a run folder that was scored.
        from_index: a released version of trace-dataset to require; None puts the wheel that is running into the repository.
        lm: the language model to try it with, for a baseline that asks one; without it such a baseline is only loaded.
        yelp_path: a bundle whose reviews must not stand in the files; None takes the benchmarks in the cache.
        dry_run: validate everything and return what would go up, and send nothing.
        private, revision, token, replace: see `trace_dataset.hub.upload.Options`.

    Raises:
        UsageError: the folder, card, requirements or name is wrong, or the baseline does not load and answer.
        LicensedTextError: review text stands in it, or there is nothing to look for it with.
        HubError: the Hub refused or could not be reached.

    Example:
        >>> print(push_baseline("./my_idea", "me/my-idea", dry_run=True))  # doctest: +SKIP
    """
    check_repo_id(repo_id)
    collect(baseline_folder(baseline))  # what is refused outright is told before anything is read
    guard = guard_for(None, yelp_path, progress)
    options = Options(dry_run, private, revision, token, replace)
    publication = prepare_baseline(
        baseline, repo_id, guard, options, results=results, from_index=from_index, lm=lm, progress=progress
    )
    return push(publication, options)


def push_baselines(
    owner: str,
    *,
    from_index: str | None = None,
    lm: str | None = None,
    yelp_path: str | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> list[Push]:
    """Publish every installed baseline under one owner, each as `push_baseline` does; all are validated before one is sent."""
    guard = guard_for(None, yelp_path, progress)
    options = Options(dry_run, private, revision, token, replace)
    names = hub_names("baselines")
    contents = {name: _contents(folder_files(hub_path("baselines", name))[0]) for name in names}
    tried = try_baselines(contents, lm)
    prepared = [
        prepare_baseline(
            name,
            f"{owner}/{name.replace('_', '-')}",
            guard,
            options,
            from_index=from_index,
            tried=tried[name],
            progress=progress,
        )
        for name in names
    ]
    return [push(item, options) for item in prepared]


def prepare_baseline(
    baseline: str,
    repo_id: str,
    guard: Guard,
    options: Options,
    *,
    results: Results | str | Path | None = None,
    from_index: str | None = None,
    lm: str | None = None,
    tried: BaselineTrial | None = None,
    progress: Progress | None = None,
) -> Publication:
    """Return what `push_baseline` would publish, validated; `tried` is what a trial of these files has shown already."""
    check_repo_id(repo_id)
    folder = baseline_folder(baseline)
    name = folder.name
    files, left_out = folder_files(folder)
    if f"{name}.py" not in files:
        raise UsageError(f"{folder} holds no {name}.py", do="name the module like its folder")
    if "README.md" not in files:
        raise UsageError(f"{folder} has no README.md", do="write its card: what it does, what it is good and bad at")
    own, extras = requirement_lines(files)
    check_imports(files, own)
    tried = tried or try_baselines({name: _contents(files)}, lm)[name]
    wheel = None if from_index else own_wheel()
    if wheel is not None:
        files[wheel.path] = wheel
    scores = None if results is None else results_of(results)
    extras |= {"app"} | ({"llm"} if tried.uses_lm else set())
    package = f"trace-dataset[{','.join(sorted(extras))}]"
    files |= _space_files(name, repo_id, files, own, package, wheel, from_index, options.revision, scores)
    checks = ["every import has a requirement", tried.told]
    if options.private and wheel is not None:
        checks.append(
            "a private Space cannot fetch its own wheel when it is built; make it public, or use --from-index"
        )
    return assemble(
        "baseline",
        repo_id,
        name,
        files.values(),
        guard=guard,
        checks=checks,
        left_out=left_out,
        token=options.token,
        progress=progress,
    )


def baseline_folder(baseline: str) -> Path:
    """Return the folder of an installed baseline, or the one at a path (with a slash in it)."""
    return Path(baseline).expanduser().resolve() if "/" in baseline else hub_path("baselines", baseline)


def requirement_lines(files: Mapping[str, PublishedFile]) -> tuple[list[str], set[str]]:
    """Return the lines of a folder's own `requirements.txt`, and the extras that it asks of `trace-dataset`.

    The package itself is left to the publisher: `trace-dataset[models]` in a folder adds the extra to the publisher's line.
    """
    if "requirements.txt" not in files:
        return [], set()
    from packaging.requirements import InvalidRequirement, Requirement

    found: list[str] = []
    extras: set[str] = set()
    for number, line in enumerate(files["requirements.txt"].read().decode("utf-8").splitlines(), 1):
        wanted = line.split(" #")[0].strip()
        if not wanted or wanted.startswith("#"):
            continue
        try:
            requirement = Requirement(wanted)
        except InvalidRequirement as error:
            raise UsageError(
                f"requirements.txt, line {number}: {str(error).splitlines()[0]}", do="write one name and version a line"
            ) from None
        if _plain(requirement.name) in OURS:
            extras |= requirement.extras
        else:
            found.append(wanted)
    return found, extras


def check_imports(files: Mapping[str, PublishedFile], own: Iterable[str]) -> None:
    """Raise `UsageError` that names every import that nothing in the requirements gives; tests may import what they like."""
    from packaging.requirements import Requirement

    given = {*OURS, *CARRIED, *(_plain(Requirement(line).name) for line in own)}
    beside = {path.split("/")[0].removesuffix(".py") for path in files}
    distributions = packages_distributions()
    missing = []
    for path, file in files.items():
        if not path.endswith(".py") or path.split("/")[-1].startswith(("test_", "conftest")):
            continue
        for module in _imports(path, file.read()):
            root = module.split(".")[0]
            if root in sys.stdlib_module_names or root in beside or root in ("trace_dataset", "hydrate"):
                continue
            names = {_plain(name) for name in distributions.get(root, [root])}
            if not names & given:
                missing.append(f"{root} ({path})")
    if missing:
        raise UsageError(
            f"nothing in the requirements gives {', '.join(dict.fromkeys(missing))}",
            do="add the package to requirements.txt in the folder",
        )


def _contents(files: Mapping[str, PublishedFile]) -> dict[str, bytes]:
    return {path: file.read() for path, file in files.items()}


def _imports(path: str, content: bytes) -> list[str]:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{path} is not Python: {error}", do="mend it") from None
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.append(node.module)
    return found


def _space_files(
    name: str,
    repo_id: str,
    files: Mapping[str, PublishedFile],
    own: list[str],
    package: str,
    wheel: PublishedFile | None,
    from_index: str | None,
    revision: str | None,
    scores: Results | None,
) -> dict[str, PublishedFile]:
    from huggingface_hub import constants

    metadata, body = split_card(files["README.md"].read().decode("utf-8"))
    title = heading(body, name)
    if wheel is None:
        requirement = f"{package}=={from_index}"
    else:
        # a Space is built from requirements.txt alone, before its files are there, so that a path would not be found
        url = f"{constants.ENDPOINT}/spaces/{repo_id}/resolve/{revision or 'main'}/{wheel.path}"
        requirement = f"{package} @ {url}#sha256={wheel.sha256}"
    values = {
        "name": name,
        "repo_id": repo_id,
        "title": title,
        "short_description": short(f"{title}, a baseline of the TRACE benchmark"),
        "body": body.strip(),
        "requirement": requirement,
        "extras": package.removeprefix("trace-dataset"),
        "own": own,
        "wheel": wheel.path if wheel else None,
        "gradio": GRADIO,
        "version": from_index or trace_dataset.__version__,
    }
    if scores is not None:
        metadata = {**metadata, "model-index": model_index(title, scores)}
    made = {
        "README.md": with_metadata(render("baseline_card.md.jinja", **values), metadata),
        "requirements.txt": render("baseline_requirements.txt.jinja", **values),
    }
    if "app.py" not in files:
        made["app.py"] = render("baseline_app.py.jinja", **values)
    return {path: PublishedFile(path, text.encode()) for path, text in made.items()}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
