"""Rankers that look at nothing that matters; a sound benchmark rewards none of them above chance or popularity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trace_dataset.turns import TurnContext

Ranker = Callable[[TurnContext], Sequence[str]]


def at_position(position: int) -> Ranker:
    """Return a ranker that takes the place at one position of the candidates, from 0."""
    return lambda turn: [turn.pool[position]]


def by_number(key: Callable[[str], float]) -> Callable[[TurnContext], list[str]]:
    """Return a ranker by one number, ties at random."""

    def rank(turn: TurnContext) -> list[str]:
        order = sorted(turn.pool)
        turn.rng.shuffle(order)
        return sorted(order, key=key)

    return rank


def by_standing(position: int) -> Ranker:
    """Return a ranker that prefers the first (0) or last (-1) place that was named and not refused; without one, any."""

    def rank(turn: TurnContext) -> list[str]:
        named = [place for past in turn.history if past.role == "system" for place in past.poi_ids]
        standing = [place for place in named if place not in turn.rejected]
        wanted = standing[position] if standing else None
        return by_number(lambda place: place != wanted)(turn)

    return rank
