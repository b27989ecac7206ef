"""The skeletons of dialogues: which places are named, refused and compared in what order (decisions, 18).

A shape is a line of steps over numbered places: `R0` recommends place 0, `C12` compares 1 and 2 (1 is named first),
`X0` refuses 0 with a new wish, `I` goes on without refusing. Before the first step the user states the first wishes.
The numbered places form the chain: each satisfies all that was asked before it was named. `p` and `q` are partners, named
only for comparison; a partner may miss one wish, and the text says so. Whoever refuses after a comparison refuses the
place named last, or all of them: a system that repeats the last place named must not recover by that (decisions, 13).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from trace_dataset.dialogues.draws import chance, pick_weighted

SECOND_REJECTION = 0.10  # share of medium dialogues with two rejections: brings the corpus to 29.4 % (definitions, P57)

ONE_REJECTION = (
    ("R0 X0 R1 I C1p", 14),
    ("R0 X0 R1 I C1pq", 3),
    ("R0 X0 R1 I C21", 10),
    ("R0 X0 C1p I R1", 26),
    ("R0 X0 C1pq I R1", 6),
    ("R0 X0 C21 I R2", 4),
    ("R0 I C10 X0 R2", 6),
    ("R0 I R1 X1 C0p", 8),
    ("R0 I R1 X1 C20", 2),
    ("C0p I R0 X0 R1", 16),
    ("C10 X0 R2 I C2p", 4),
    ("C10 X0 R1 I R2", 1),
)
TWO_REJECTIONS = (("R0 X0 R1 X1 C2p", 50), ("R0 X0 C21 X1 R2", 42), ("R0 X0 C12 X12 R3", 8))
HARD = (
    ("R0 X0 R1 X1 C2p", 32),
    ("R0 X0 C21 X1 R2", 24),
    ("R0 X0 C21 X1 R3", 3),
    ("R0 X0 C12 X12 R3", 2),
    ("R0 X0 R1 X1 R2 I C2p", 13),
    ("R0 X0 R1 X1 R2 I C32", 2),
    ("R0 X0 R1 I C21 X1 R2", 12),
    ("R0 X0 R1 I C21 X1 R3", 1),
    ("R0 I R1 X1 R2 X2 C0p", 4),
    ("C10 X0 R1 X1 R2", 7),
)
EXPERT = (
    ("R0 X0 R1 X1 C32 X2 R3", 40),
    ("R0 X0 R1 X1 R2 X2 C3p", 28),
    ("R0 X0 C21 X1 R2 X2 R3", 20),
    ("C10 X0 R1 X1 R2 X2 R3", 12),
)
PARTNERS = {"p": -1, "q": -2}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `kind` is `R`, `C`, `X` or `I`; `places` are indices into the chain, partners are negative."""

    kind: str
    places: tuple[int, ...]

    @property
    def recommends(self) -> bool:
        """Whether a system turn names places here."""
        return self.kind in "RC"


@dataclass(frozen=True, slots=True)
class Event:
    """A moment at which the user may state wishes.

    Attributes:
        step: index of the `X` or `I` step; -1 for the opening.
        later: places named afterwards: they have to support what is asked here.
        refused: places that must not support it.
        standing: places named before and not refused.
    """

    step: int
    later: tuple[int, ...]
    refused: tuple[int, ...]
    standing: tuple[int, ...]

    @property
    def required(self) -> bool:
        """Whether at least one wish has to be stated here."""
        return self.step < 0 or bool(self.refused)


@cache
def parse(shape: str) -> tuple[Step, ...]:
    """Return the steps of a shape.

    Example:
        >>> parse("R0 X0 C12")[2]
        Step(kind='C', places=(1, 2))
    """
    return tuple(
        Step(word[0], tuple(PARTNERS[mark] if mark in PARTNERS else int(mark) for mark in word[1:]))
        for word in shape.split()
    )


@cache
def events(shape: str) -> tuple[Event, ...]:
    """Return the moments of a shape at which wishes are stated, in order, the opening first."""
    steps = parse(shape)
    found = [Event(-1, _named(steps), (), ())]
    for index, step in enumerate(steps):
        if not step.recommends:
            refused_before = {place for past in steps[:index] if past.kind == "X" for place in past.places}
            standing = tuple(
                place for place in _named(steps[:index]) if place not in refused_before and place not in step.places
            )
            found.append(Event(index, _named(steps[index:]), step.places, standing))
    return tuple(found)


def chain_length(shape: str) -> int:
    """Return how many places the chain of a shape has, partners left out."""
    return len(_named(parse(shape)))


def draw_shape(tier: str, rng: random.Random) -> str:
    """Return a shape with the rejections of the tier: easy 1, medium 1 (a tenth of them 2), hard 2, expert 3."""
    table = {"easy": ONE_REJECTION, "medium": ONE_REJECTION, "hard": HARD, "expert": EXPERT}[tier]
    if tier == "medium" and chance(rng, SECOND_REJECTION):
        table = TWO_REJECTIONS
    return pick_weighted(rng, [shape for shape, _ in table], [weight for _, weight in table])


def _named(steps: tuple[Step, ...]) -> tuple[int, ...]:
    return tuple(sorted({place for step in steps if step.recommends for place in step.places if place >= 0}))
