"""A dialogue without its words: what a plan holds and a writer reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from trace_dataset.dialogues.scenario import Scenario
from trace_dataset.schema import Citation, Constraint, Quote


@dataclass(frozen=True, slots=True)
class PlannedQuote:
    """A quote of a turn, what it shows, and its words. `polarity` is 1 where it praises, -1 where it complains."""

    quote: Quote
    text: str
    wish: Constraint | None
    polarity: int = 1


@dataclass(frozen=True, slots=True)
class Fact:
    """A wish that a place supports and no quote of the turn shows; `reviewed` if some review does, else its listing."""

    business_id: str
    wish: Constraint
    reviewed: bool


@dataclass(frozen=True, slots=True)
class Miss:
    """A wish that a place does not meet: `contradicted` or `unknown`; `reviewed` if reviews complain, else its listing."""

    business_id: str
    wish: Constraint
    status: str
    reviewed: bool


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn without its words.

    Attributes:
        cue: what a user turn is for: `open`, `answer`, `more`, `compare`, `choose`, `refuse`, `ask`, `accept`, `close`;
            for a system turn, its action.
        wishes: what a user turn newly asks for; on a system turn, what it answers.
        places: the places a system turn names, in order.
        quotes: the quotes of a system turn; a writer has to use each once.
        facts: new wishes that the named places support and no quote of this turn shows.
        failures: why a user refuses, one for each place and new wish.
        misses: which wishes a place does not meet that a system turn names for comparison.
        topic: what a clarifying question, a user's question or its answer is about.
        finding: `supported`, `contradicted` or `unknown`: the answer to a user's question.
        last: whether the dialogue ends with this turn.
    """

    role: str
    action: str
    cue: str
    wishes: tuple[Constraint, ...] = ()
    places: tuple[str, ...] = ()
    golds: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    quotes: tuple[PlannedQuote, ...] = ()
    facts: tuple[Fact, ...] = ()
    failures: tuple[Miss, ...] = ()
    misses: tuple[Miss, ...] = ()
    topic: Constraint | None = None
    finding: str | None = None
    last: bool = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The labels that this turn's text has to hold."""
        return tuple(
            dict.fromkeys(
                Citation(item.quote.label, item.quote.business_id, item.quote.review_id) for item in self.quotes
            )
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A dialogue that only lacks its words. `redraws` and `falls` count what it took to find it."""

    scenario: Scenario
    tier: str
    shape: str
    candidates: tuple[str, ...]
    turns: tuple[PlannedTurn, ...]
    redraws: int = 0
    falls: int = 0


@dataclass
class PlanFailure:
    """No pool of the cell carried out any tier: what was tried."""

    redraws: int = 0
    falls: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
