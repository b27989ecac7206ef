"""The skeletons of dialogues: which places are named, refused and compared in what order (decisions, 18).

A shape is a line of steps over numbered places: `R0` recommends place 0, `C12` compares 1 and 2 (1 is named first),
`X0` refuses 0 with a new wish, `I` goes on without refusing. Before the first step the user states the first wishes.
The numbered places form the chain: each satisfies all that was asked before it was first named, and whatever was asked
before it is recommended (the first place of a step is the one recommended). `p` is a partner, named only to compare with; it
may miss one wish, and the text says so. Whoever refuses after a comparison refuses the place named last, or all of them: a
system that repeats the last place named must not recover by that (decisions, 13).

The weights keep what was named before from giving the next gold away. Mostly a new place is recommended, as in the paper;
one that was named and still stands is the gold about as often as any other that was not refused, after any course of the
dialogue (`tests/dialogues/test_shapes.py` works out what a ranker of the skeleton alone would score).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from trace_dataset.dialogues.draws import chance, pick_weighted

SECOND_REJECTION = 0.10  # share of medium dialogues with two rejections: brings the corpus to 29.4 % (definitions, P57)

ONE_REJECTION = (
    ("R0 X0 R1 I C21", 22),
    ("R0 X0 R1 I C1p", 5),
    ("R0 X0 R1 I C2p", 1),
    ("R0 X0 C1p I R2", 2),
    ("R0 X0 C1p I R1", 1),
    ("R0 X0 C12 I R2", 1),
    ("R0 I C10 X0 R2", 16),
    ("R0 I C10 X10 R2", 5),
    ("R0 I C0p Xp R1", 4),
    ("R0 I C10 X0 C21", 6),
    ("R0 I R1 X1 C20", 19),
    ("R0 I R1 X1 C0p", 4),
    ("R0 I R1 X1 C20p", 1),
    ("C0p I R1 X1 R2", 1),
    ("C0p Xp R1 I R2", 1),
    ("C0p X0p R1 I R2", 1),
    ("C0p Xp R0 I R1", 3),
    ("C0p I R0 X0 R1", 2),
    ("C10 I R0 X0 R2", 1),
)
TWO_REJECTIONS = (
    ("R0 X0 R1 X1 C2p", 46),
    ("R0 X0 C1p Xp R2", 23),
    ("R0 X0 C1p Xp R1", 14),
    ("R0 X0 C1p X1p R2", 10),
    ("R0 X0 C1p Xp C21", 7),
)
HARD = (
    ("R0 X0 R1 X1 C2p", 29),
    ("R0 X0 C1p Xp R2", 11),
    ("R0 X0 C1p Xp R1", 9),
    ("R0 X0 C1p X1p R2", 5),
    ("R0 X0 C1p Xp C21", 5),
    ("C0p Xp R1 X1 R2", 5),
    ("C0p Xp R0 X0 R1", 4),
    ("C0p X0p R1 X1 R2", 3),
    ("R0 I C10 X0 R2 X2 R3", 4),
    ("R0 I R1 X1 R2 X2 C30", 4),
    ("R0 I R1 X1 R2 X2 C0p", 1),
    ("R0 I R1 X1 C20 X0 R3", 4),
    ("R0 X0 R1 I C21 X1 R3", 2),
    ("R0 X0 R1 I C21 X1 R2", 4),
    ("R0 X0 R1 I C1p Xp R2", 3),
    ("R0 X0 R1 I C21 X21 R3", 1),
)
EXPERT = (
    ("R0 X0 R1 X1 R2 X2 C3p", 36),
    ("R0 X0 R1 X1 C2p Xp R3", 10),
    ("R0 X0 R1 X1 C2p Xp R2", 12),
    ("R0 X0 R1 X1 C2p X2p R3", 5),
    ("R0 X0 C1p Xp R1 X1 R2", 13),
    ("R0 X0 C1p Xp R2 X2 R3", 8),
    ("C0p Xp R0 X0 R1 X1 R2", 9),
    ("C0p Xp R1 X1 R2 X2 R3", 7),
)
PARTNERS = {"p": -1}


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
        later: places recommended or first named afterwards: they have to support what is asked here.
        refused: places that must not support it.
    """

    step: int
    later: tuple[int, ...]
    refused: tuple[int, ...]

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
    moments = [-1, *(index for index, step in enumerate(steps) if not step.recommends)]
    return tuple(Event(index, _bound(steps, index), steps[index].places if index >= 0 else ()) for index in moments)


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


def _bound(steps: tuple[Step, ...], moment: int) -> tuple[int, ...]:
    """Return the places that are recommended after a moment, or named then for the first time."""
    named = _named(steps[: max(moment, 0)])
    after = [step.places for step in steps[moment + 1 :] if step.recommends]
    recommended = {places[0] for places in after}
    return tuple(place for place in _named(steps[moment + 1 :]) if place in recommended or place not in named)
