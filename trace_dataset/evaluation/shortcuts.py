"""Rankers that look at nothing that matters; a sound benchmark rewards none of them above chance or popularity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from trace_dataset.schema import POI, RECOMMENDING
from trace_dataset.scoring.text import tokenize
from trace_dataset.turns import TurnContext

Ranker = Callable[[TurnContext], Sequence[str]]


def shortcuts(pois: Mapping[str, POI]) -> dict[str, Ranker]:
    """Return the rankers by what they look at, except for those that are controls or baselines too."""

    def stars(place: str) -> float:
        return pois[place].stars

    def reviews(place: str) -> float:
        return pois[place].review_count

    def by_name(turn: TurnContext) -> list[str]:
        said = set(tokenize(turn.query))
        return by_number(lambda place: -len(said & set(tokenize(pois[place].name))))(turn)

    return {
        "most stars": by_number(lambda place: -stars(place)),
        "fewest stars": by_number(stars),
        "most reviews": by_number(lambda place: -reviews(place)),
        "fewest reviews": by_number(reviews),
        "name's words in the user's turns": by_name,
        "first place named and not refused": by_standing(0),
        "second place named and not refused": by_standing(1),
        "last place named and not refused": by_standing(-1),
        "place spoken of last and not refused": last_mentioned,
    }


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


def by_standing(position: int) -> Callable[[TurnContext], list[str]]:
    """Return a ranker that takes one of the places named and not refused, 0 the first and -1 the last; without it, any."""

    def rank(turn: TurnContext) -> list[str]:
        found = standing(turn)
        wanted = found[position] if -len(found) <= position < len(found) else None
        return by_number(lambda place: place != wanted)(turn)

    return rank


def last_mentioned(turn: TurnContext) -> list[str]:
    """Rank the place spoken of last, and not refused, before all others."""
    named = [place for place in _named(turn) if place not in turn.rejected]
    return by_number(lambda place: place != (named[-1] if named else None))(turn)


def unnamed(turn: TurnContext) -> list[str]:
    """Rank places that nobody has named before all others, each at random."""
    named = set(_named(turn))
    return by_number(lambda place: place in named)(turn)


def standing(turn: TurnContext) -> list[str]:
    """Return the places named so far and not refused, in the order in which they were first named."""
    return [place for place in dict.fromkeys(_named(turn)) if place not in turn.rejected]


class Skeleton:
    """What the order of actions and names alone gives away: learned from half of the turns, scored on the other half.

    For each course of a dialogue (recommendations, comparisons and refusals so far, and the action to perform) it learns
    which pays most: the n-th place that stands, or any place not named yet.
    """

    def __init__(self) -> None:
        self._hits: dict[tuple[str, ...], Counter[int]] = {}

    def learn(self, turn: TurnContext, gold: str) -> None:
        """Count which place of a turn was the gold; -1 is one that nobody had named."""
        found = standing(turn)
        self._hits.setdefault(_course(turn), Counter())[found.index(gold) if gold in found else -1] += 1

    def rank(self, turn: TurnContext) -> list[str]:
        """Rank by what has paid most on turns of the same course; any unnamed place first where there was none."""
        new = max(1, len(set(turn.pool) - set(_named(turn))))
        hits = self._hits.get(_course(turn), Counter[int]())
        best = max(sorted(hits), key=lambda role: hits[role] / (new if role < 0 else 1), default=-1)
        return unnamed(turn) if best < 0 else by_standing(best)(turn)


def _course(turn: TurnContext) -> tuple[str, ...]:
    past = [
        f"{item.action} {len(item.poi_ids) or len(item.rejected_poi_ids)}"
        for item in turn.history
        if item.action in RECOMMENDING or item.rejected_poi_ids
    ]
    return (*past, turn.history[-1].action, turn.action)


def _named(turn: TurnContext) -> list[str]:
    return [place for past in turn.history if past.role == "system" for place in past.poi_ids]
