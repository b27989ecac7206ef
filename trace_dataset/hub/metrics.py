"""A metric's Space: its script with the scoring files that it needs beside it, so that it needs nothing of ours installed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import trace_dataset
from hydrate.errors import UsageError
from trace_dataset.hub.cards import heading, short, split_card, with_metadata
from trace_dataset.hub.files import PublishedFile
from trace_dataset.hub.guard import Guard, guard_for
from trace_dataset.hub.publication import Publication, Push, assemble, folder_files
from trace_dataset.hub.trial import try_metrics
from trace_dataset.hub.upload import Options, push
from trace_dataset.installed import hub_names, hub_path, render
from trace_dataset.release.local import Progress
from trace_dataset.remote import check_repo_id

GRADIO = "6.31.0"
LIGHT = ("evaluate", "numpy", "rapidfuzz")
MODELS = ("torch>=2.2", "transformers>=4.40", "sentencepiece>=0.2", "protobuf>=4")  # what `nli` loads when asked
SCORING = re.compile(r"^from trace_dataset\.scoring\.(\w+) import", flags=re.M)


def push_metric(
    metric: str,
    repo_id: str,
    *,
    yelp_path: str | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Push:
    """Publish an evaluate module as a Space, so that `evaluate.load(repo_id)` works anywhere.

    Args:
        metric: the name of an installed one (`"cgs"`), or the path of a folder (with a slash in it).
        repo_id: `owner/name`; the name must be the metric's, since `evaluate` looks for `<name>.py`.
        yelp_path: a bundle whose reviews must not stand in the files; None takes the benchmarks in the cache.
        dry_run: validate everything and return what would go up, and send nothing.
        private, revision, token, replace: see `trace_dataset.hub.upload.Options`.

    Raises:
        UsageError: the folder, card or name is wrong, or the module does not load or run its own example.
        LicensedTextError: review text stands in it, or there is nothing to look for it with.
        HubError: the Hub refused or could not be reached.

    Example:
        >>> print(push_metric("cgs", "trace/cgs", dry_run=True))  # doctest: +SKIP
    """
    metric_folder(metric, repo_id)  # a wrong name is told before anything is read
    guard = guard_for(None, yelp_path, progress)
    publication = prepare_metric(metric, repo_id, guard, token=token, progress=progress)
    return push(publication, Options(dry_run, private, revision, token, replace))


def push_metrics(
    owner: str,
    *,
    yelp_path: str | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> list[Push]:
    """Publish every installed metric under one owner, each as `push_metric` does; all are validated before one is sent."""
    guard = guard_for(None, yelp_path, progress)
    names = hub_names("metrics")
    tried = try_metrics({name: lay_out(name, hub_path("metrics", name)) for name in names})
    prepared = [
        prepare_metric(name, f"{owner}/{name}", guard, examples=tried[name], token=token, progress=progress)
        for name in names
    ]
    return [push(item, Options(dry_run, private, revision, token, replace)) for item in prepared]


def prepare_metric(
    metric: str,
    repo_id: str,
    guard: Guard,
    *,
    examples: int | None = None,
    token: str | None = None,
    progress: Progress | None = None,
) -> Publication:
    """Return what `push_metric` would publish, validated; `examples` is how many ran in a trial of these files already."""
    folder = metric_folder(metric, repo_id)
    name = folder.name
    files, left_out = folder_files(folder)
    laid_out = lay_out(name, folder, files)
    examples = examples or try_metrics({name: laid_out})[name]
    files |= {path: PublishedFile(path, content) for path, content in laid_out.items()}
    files |= _space_files(name, repo_id, files)
    return assemble(
        "metric",
        repo_id,
        name,
        files.values(),
        guard=guard,
        checks=(f"loads without trace_dataset and runs its {examples} examples",),
        left_out=left_out,
        token=token,
        progress=progress,
    )


def metric_folder(metric: str, repo_id: str) -> Path:
    """Return the folder of a metric; raises `UsageError` for a repository name under which `evaluate` would not find it."""
    check_repo_id(repo_id)
    folder = Path(metric).expanduser().resolve() if "/" in metric else hub_path("metrics", metric)
    owner, name = repo_id.split("/")
    if name != folder.name:
        raise UsageError(
            f"the metric {folder.name!r} cannot be published as {repo_id!r}: evaluate would look for another script",
            do=f"use {owner}/{folder.name}",
        )
    return folder


def siblings(script: str) -> list[str]:
    """Return the scoring modules that a script needs, those that they need included."""
    waiting = SCORING.findall(script)
    found: list[str] = []
    while waiting:
        name = waiting.pop()
        if name not in found:
            path = _scoring() / f"{name}.py"
            if not path.is_file():
                raise UsageError(
                    f"there is no trace_dataset.scoring.{name}", do="import a module of trace_dataset.scoring"
                )
            found.append(name)
            waiting += re.findall(r"^from \.(\w+) import", path.read_text(encoding="utf-8"), flags=re.M)
    return sorted(found)


def lay_out(name: str, folder: Path, files: dict[str, PublishedFile] | None = None) -> dict[str, bytes]:
    """Return a metric's Python files the way they are published: flat, importing nothing of this project.

    `evaluate` copies only the files that the script itself names, so the script names every one.
    """
    path = folder / f"{name}.py"
    if not path.is_file():
        raise UsageError(f"{folder} holds no {name}.py", do="name the module like its folder")
    script = path.read_text(encoding="utf-8")
    needed = siblings(script)
    direct = SCORING.findall(script)
    if name in needed:
        raise UsageError(
            f"the metric is named like trace_dataset.scoring.{name}, which it needs", do="give it another name"
        )
    script = re.sub(r"^from trace_dataset\.scoring\.", "from .", script, flags=re.M)
    extra = "".join(f"from .{other} import __doc__ as _{other}\n" for other in needed if other not in direct)
    script = script.replace("import evaluate\n\n", f"import evaluate\n\n{extra}", 1)
    if re.search(r"^\s*(from|import) (trace_dataset|hydrate)\b", script, flags=re.M):
        raise UsageError(
            f"{name}.py imports more of this project than trace_dataset.scoring",
            do="write `from trace_dataset.scoring.<module> import …`, one import a line",
        )
    own = {inner: file.read() for inner, file in (files or {}).items() if inner.endswith(".py") and "/" not in inner}
    shared = {f"{other}.py": (_scoring() / f"{other}.py").read_bytes() for other in needed}
    return {**own, **shared, f"{name}.py": script.encode()}


def _scoring() -> Path:
    return Path(trace_dataset.__file__).parent / "scoring"


def _space_files(name: str, repo_id: str, files: dict[str, PublishedFile]) -> dict[str, PublishedFile]:
    if "README.md" not in files:
        raise UsageError(
            f"the metric {name!r} has no README.md", do="write its card: what it measures, inputs, outputs, limits"
        )
    metadata, body = split_card(files["README.md"].read().decode("utf-8"))
    extra = MODELS if "nli.py" in files else ()
    title = heading(body, name)
    values = {
        "name": name,
        "repo_id": repo_id,
        "title": title,
        "short_description": short(title),
        "description": _description(files[f"{name}.py"].read().decode("utf-8")) or title,
        "body": body.strip(),
        "requirements": [*LIGHT, *(line.split(">")[0] for line in extra)],
        "extra": extra,
        "gradio": GRADIO,
        "version": trace_dataset.__version__,
    }
    made = {"README.md": with_metadata(render("metric_card.md.jinja", **values), metadata), **widgets()}
    for path, template in (("app.py", "metric_app.py.jinja"), ("requirements.txt", "metric_requirements.txt.jinja")):
        if path not in files:
            made[path] = render(template, **values)
    return {path: PublishedFile(path, text.encode()) for path, text in made.items()}


def widgets() -> dict[str, str]:
    """Return the files of the page that a metric's and the leaderboard's Space carry along, by path."""
    folder = Path(trace_dataset.__file__).parent / "apps" / "widgets"
    return {f"widgets/{path.name}": path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def _description(script: str) -> str:
    """Return the script's `_DESCRIPTION`, on one line."""
    for node in ast.parse(script).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_DESCRIPTION":
            return " ".join(str(ast.literal_eval(node.value)).split())
    return ""
