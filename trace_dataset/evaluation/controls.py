"""Control rows that stand in every table, so that a number can be read (decisions, items 14 and 23).

`random` is chance; `random_unseen` is chance among places not yet rejected or named; `parrot` repeats the last place named;
`oracle` knows the answer. None of them is a baseline that anyone would run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydrate.errors import UsageError
from trace_dataset.baseline import Baseline
from trace_dataset.schema import Dialogue
from trace_dataset.turns import TurnContext

CONTROLS = ("random", "random_unseen", "parrot", "oracle")


class RandomOrder(Baseline):
    """Shuffles the pool."""

    name = "random"

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool in a random order of this turn's own."""
        order = sorted(turn.pool)
        turn.rng.shuffle(order)
        return order


class RandomUnseen(RandomOrder):
    """Shuffles the pool, with places that were named or rejected before at the end."""

    name = "random_unseen"

    def rank(self, turn: TurnContext) -> list[str]:
        """Return a random order in which places already named stand last."""
        seen = {place for past in turn.history for place in (*past.poi_ids, *past.rejected_poi_ids)}
        order = super().rank(turn)
        return [place for place in order if place not in seen] + [place for place in order if place in seen]


class Parrot(RandomOrder):
    """Repeats the last place named, and nothing else; at the first turn a random one."""

    name = "parrot"

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the last place named, alone, or a random order where none was named."""
        named = [place for past in turn.history if past.role == "system" for place in past.poi_ids]
        return named[-1:] or super().rank(turn)


class Oracle(Baseline):
    """Puts the reference's places first."""

    name = "oracle"

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.answers: Mapping[tuple[str, int], tuple[str, ...]] = {
            (item.dialogue_id, turn.index): turn.poi_ids for item in dialogues for turn in item.turns
        }

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool with the reference's places first, in its order."""
        wanted = self.answers[turn.dialogue_id, len(turn.history)]
        return [place for place in wanted if place in turn.pool] + [place for place in turn.pool if place not in wanted]


def control(name: str, dialogues: Sequence[Dialogue]) -> Baseline:
    """Return a control by name; only `oracle` looks at the dialogues."""
    if name == "oracle":
        return Oracle(dialogues)
    for kind in (RandomOrder, RandomUnseen, Parrot):
        if kind.name == name:
            return kind()
    raise UsageError(f"there is no control called {name!r}", do=f"use one of: {', '.join(CONTROLS)}")
