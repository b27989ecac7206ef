"""What a baseline is: it ranks the places of a pool for a turn, and answers with a text that cites reviews.

Implement `rank`; override `respond` to write your own text. A baseline sees what a deployed system would see: the turns so
far, the pool, the city, and the knowledge base. It never sees constraints, golds or the evidence that chose them.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from hydrate.errors import TraceError, UsageError
from trace_dataset.installed import hub_names, hub_path
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.templates import TemplateWriter
from trace_dataset.turns import PastTurn, Response, TurnContext

__all__ = ["Baseline", "PastTurn", "Response", "TurnContext", "load_baseline", "load_folder"]


class Baseline:
    """Base class of all baselines; `name` is the folder's name.

    Attributes:
        uses_lm: whether it asks a language model; `lm` says which: a name, `LmSettings`, an open model, or a `dspy.LM`.
        session_isolated: whether a dialogue's answers depend on that dialogue alone; if not, dialogues are run in order.
    """

    name = "baseline"
    uses_lm: ClassVar[bool] = False
    session_isolated: ClassVar[bool] = True
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


def load_baseline(name: str, trust_remote_code: bool = False, *, lm: Any = None) -> Baseline:
    """Return a baseline by the name of an installed one, or by the path of a folder.

    Args:
        name: a bare name is always the installed baseline (`"tfidf"`); a path has a slash in it (`"./my_idea"`).
        trust_remote_code: needed for code that comes from the Hub.
        lm: the language model to ask: `"local"`, `"openai/…"`, `"anthropic/…"`, `LmSettings`, an open model, a `dspy.LM`.

    Raises:
        UsageError: there is no such baseline (the message lists those that exist), or it asks no language model.

    Example:
        >>> load_baseline("popularity").name
        'popularity'
    """
    folder = hub_path("baselines", name) if "/" not in name else Path(name).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {name!r}",
            do=f"give a folder that holds <name>/<name>.py, or one of: {', '.join(hub_names('baselines'))}",
        )
    baseline = load_folder(folder)
    if lm is not None:
        if not baseline.uses_lm:
            raise UsageError(f"{baseline.name} asks no language model", do="leave lm=… (--lm) out")
        baseline.lm = lm
    return baseline


def load_folder(folder: Path) -> Baseline:
    """Import `<folder>/<folder's name>.py` and return an instance of the one `Baseline` class that it defines."""
    folder = folder.resolve()
    path = folder / f"{folder.name}.py"
    if not path.is_file():
        raise UsageError(f"{folder} holds no {path.name}", do="name the module like its folder")
    module_name = f"trace_baseline_{folder.name}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickling look a class's module up by its name
    try:
        spec.loader.exec_module(module)
    except TraceError:
        raise
    except Exception as error:
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
    baseline: Baseline = classes[0]()
    baseline.name = folder.name
    return baseline
