"""What passes between the runner and a baseline: the turns so far in, a response out."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from trace_dataset.schema import Citation, Turn


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn as a baseline sees it: what was said, and what it named, cited or rejected."""

    role: str
    action: str
    text: str
    poi_ids: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    rejected_poi_ids: tuple[str, ...] = ()

    @classmethod
    def of(cls, turn: Turn) -> PastTurn:
        """Return the public part of a reference turn."""
        return cls(turn.role, turn.action, turn.text, turn.poi_ids, turn.citations, turn.rejected_poi_ids)


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Everything a baseline may use for one system turn.

    Attributes:
        history: the reference turns before this one (teacher forcing), the last of them a user turn.
        action: what the turn has to do: `greet`, `clarify`, `recommend`, `compare`, `explain` or `close`.
        pool: the business ids that may be recommended.
        rng: a generator of this turn's own; draws do not depend on other turns or on workers.
    """

    dialogue_id: str
    history: tuple[PastTurn, ...]
    action: str
    pool: tuple[str, ...]
    city: str
    poi_type: str
    persona_description: str
    rng: random.Random

    @property
    def query(self) -> str:
        """All user turns so far, joined by a blank (definitions, section 6)."""
        return " ".join(turn.text for turn in self.history if turn.role == "user")

    @property
    def rejected(self) -> tuple[str, ...]:
        """The places the user has turned down so far, in order."""
        return tuple(dict.fromkeys(place for turn in self.history for place in turn.rejected_poi_ids))


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to one turn.

    Attributes:
        text: with `[Rn]` labels and quotes in double quotation marks.
        poi_ids: the places the text names, in order; these the accuracy metrics score.
        citations: what the labels refer to.
        ranking: the whole pool, best first; scored in columns of its own.
        usage: tokens and cost of model calls, if any.
        error: why there is no answer; such a turn is scored as a miss and counted.
    """

    text: str
    poi_ids: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    ranking: tuple[str, ...] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    error: str | None = None
