"""What a baseline is: it ranks the places of a pool for a turn, and answers with a text that cites reviews.

Implement `rank`; override `respond` to write your own text. A baseline sees what a deployed system would see: the turns so
far, the pool, the city, and the knowledge base. It never sees constraints, golds or the evidence that chose them.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import orjson

from hydrate.errors import TraceError, UsageError
from trace_dataset.installed import hub_names, hub_path
from trace_dataset.kb import KnowledgeBase
from trace_dataset.remote import REPO_ID, fetch
from trace_dataset.retrieval.templates import TemplateWriter
from trace_dataset.turns import PastTurn, Response, TurnContext

__all__ = ["Baseline", "PastTurn", "Response", "TurnContext", "load_baseline", "load_folder"]


logger = logging.getLogger(__name__)


class Baseline:
    """Base class of all baselines; `name` is the folder's name.

    Attributes:
        origin: the Space and commit that it was loaded from, `user/space@commit`; None for one on this machine.
        uses_lm: whether it asks a language model; `lm` says which: a name, `LmSettings`, an open model, or a `dspy.LM`.
        session_isolated: whether a dialogue's answers depend on that dialogue alone; if not, dialogues are run in order.
        retrievers: which of them may choose the places that a model is shown of a wide pool; `retriever` is the one that does.
    """

    name = "baseline"
    origin: str | None = None
    uses_lm: ClassVar[bool] = False
    session_isolated: ClassVar[bool] = True
    retrievers: ClassVar[tuple[str, ...]] = ()
    retriever: str = "tfidf"
    lm: Any = None
    kb: KnowledgeBase
    writer: TemplateWriter

    @property
    def parameters(self) -> dict[str, Any]:
        """What the answers depend on besides code and data, as JSON values; runs that differ in it never mix."""
        return {}

    def prepare(self, kb: KnowledgeBase) -> None:
        """Build whatever the baseline needs, once, before the first turn; an override calls `super().prepare(kb)`."""
        self.kb = kb
        self.writer = TemplateWriter(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the business ids of `turn.pool`, best first."""
        raise UsageError(
            f"the baseline {type(self).__name__} does not implement rank",
            do="write `def rank(self, turn): return sorted(turn.pool, key=…)`",
        )

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank several turns at once; the default is a loop over `rank`, and an override must agree with it."""
        return [self.rank(turn) for turn in turns]

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Return the answer; the default names the best places and quotes one review of each."""
        return self.writer.respond(turn, ranking)

    def reset(self, dialogue_id: str) -> None:
        """Forget the last dialogue; called before the first turn of each."""

    def observe(self, turn: PastTurn) -> None:
        """See a reference turn go by; for baselines that keep a state."""

    def close(self) -> None:
        """Give back what `prepare` opened, such as a server; called when a run ends."""


def load_baseline(
    name: str,
    trust_remote_code: bool = False,
    *,
    lm: Any = None,
    retriever: str | None = None,
    revision: str | None = None,
    token: str | None = None,
) -> Baseline:
    """Return a baseline by the name of an installed one, by the path of a folder, or from a Space of the Hub.

    Args:
        name: a bare name is always the installed baseline (`"tfidf"`); a path has a slash in it (`"./my_idea"`); `user/space`
            is one of the Hub where there is no such folder.
        trust_remote_code: needed for code that comes from the Hub. What is run is one commit: it is logged, and stored
            with every result as the baseline's `origin`.
        lm: the language model to ask: `"local"`, `"openai/…"`, `"anthropic/…"`, `LmSettings`, an open model, a `dspy.LM`.
        retriever: what chooses the places that a model is shown of a wide pool: `"tfidf"` (the default) or `"dense"`.
        revision: a branch, tag or commit of the Space; pin the commit that you have read.
        token: for a private Space; None takes HF_TOKEN or the stored login.

    Raises:
        UsageError: there is no such baseline (the message lists those that exist), the Hub's code was not trusted, or the
            baseline asks no language model.
        HubError: the Space or the revision is not there.

    Example:
        >>> load_baseline("popularity").name
        'popularity'
    """
    folder = hub_path("baselines", name) if "/" not in name else Path(name).expanduser()
    if folder.is_dir():
        baseline = load_folder(folder)
    elif not REPO_ID.fullmatch(name):
        raise UsageError(
            f"there is no folder {name!r}",
            do=f"give a folder that holds <name>/<name>.py, or one of: {', '.join(hub_names('baselines'))}",
        )
    elif not trust_remote_code:
        raise UsageError(
            f"there is no folder {name!r}, and the Space of that name would run code from the Hub on this machine",
            do="read the code there, then pass trust_remote_code=True (--trust-remote-code), best with the revision you read; "
            f"those installed are {', '.join(hub_names('baselines'))}",
        )
    else:
        baseline = _from_space(name, revision, token)
    if lm is not None:
        if not baseline.uses_lm:
            raise UsageError(f"{baseline.name} asks no language model", do="leave lm=… (--lm) out")
        baseline.lm = lm
    if retriever is not None:
        if retriever not in baseline.retrievers:
            known = (
                f"has the retrievers {', '.join(baseline.retrievers)}" if baseline.retrievers else "has none to choose"
            )
            raise UsageError(f"{baseline.name} {known}", do="leave retriever=… (--retriever) out, or name one of them")
        baseline.retriever = retriever
    return baseline


def _from_space(repo_id: str, revision: str | None, token: str | None) -> Baseline:
    found = fetch(repo_id, "space", revision, token=token, without=["*.whl", "app.py", "requirements.txt"])
    try:
        name = str(orjson.loads((found.folder / "trace.json").read_bytes())["name"])
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        name = repo_id.split("/")[1].replace("-", "_")
    logger.warning("running the code of %s, commit %s", repo_id, found.commit)
    baseline = load_folder(found.folder, name)
    baseline.origin = str(found)
    return baseline


def load_folder(folder: Path, name: str | None = None) -> Baseline:
    """Import `<folder>/<name>.py` and return an instance of the one `Baseline` class that it defines.

    Args:
        name: of the module; None takes the folder's.
    """
    folder = folder.resolve()
    if name is not None and not name.isidentifier():
        raise UsageError(f"{name!r} is no name of a module", do="name the module like its folder")
    module_name = f"trace_baseline_{folder.name if name is None else f'{name}_{folder.name}'}"
    name = name or folder.name
    path = folder / f"{name}.py"
    if not path.is_file():
        raise UsageError(f"{folder} holds no {path.name}", do="name the module like its folder")
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickling look a class's module up by its name
    try:
        spec.loader.exec_module(module)
    except (KeyboardInterrupt, TraceError):
        raise
    except BaseException as error:  # a stranger's code, which may also call sys.exit
        raise UsageError(
            f"{path} does not import: {type(error).__name__}: {error}",
            do="run `python " + path.name + "` in its folder to see where",
        ) from error
    classes: list[Any] = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Baseline) and value.__module__ == module_name
    ]
    if len(classes) != 1:
        found = ", ".join(item.__name__ for item in classes) or "none"
        raise UsageError(f"{path} must define one subclass of Baseline; it defines {found}", do="leave one")
    try:
        baseline: Baseline = classes[0]()
    except (KeyboardInterrupt, TraceError):
        raise
    except BaseException as error:
        raise UsageError(
            f"{classes[0].__name__} of {path} cannot be made: {type(error).__name__}: {error}",
            do="mend its __init__(), which takes no arguments here",
        ) from error
    baseline.name = name
    return baseline
