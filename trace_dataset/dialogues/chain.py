"""Fits places and wishes to a shape: who is named when, and what is asked at each step."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trace_dataset.dialogues.draws import chance, shuffled, weighted_order
from trace_dataset.dialogues.shapes import Event, events, place_count
from trace_dataset.dialogues.views import CellView

MOST_VISITS = 600  # of the search through orders of places; a pool that needs more is redrawn
MOST_CHAINS = 12
FIRST_WISHES = {"easy": (1, 2, 2, 2), "medium": (1, 2, 2, 2, 3), "hard": (2, 3, 3), "expert": (2, 3, 3)}
SECOND_NEW_WISH = 0.15  # of the refusals name two wishes that the place fails
WISH_WITHOUT_REFUSAL = 0.55
WITHOUT_QUOTE = 0.35  # how much less often a wish is asked that only an attribute, and no sentence, supports


@dataclass(frozen=True, slots=True)
class Chain:
    """A shape with its places and wishes: `wishes[i]` holds the numbers asked at event `i`, the opening first."""

    shape: str
    places: tuple[str, ...]
    wishes: tuple[tuple[int, ...], ...]


def fit(view: CellView, shape: str, tier: str, pool: Sequence[str], interest: Sequence[float], rng: random.Random,
        least_first: int) -> Chain | None:
    """Return places of the pool and wishes that carry out a shape, or None where the pool does not allow it.

    Args:
        interest: of the persona, by wish number; wishes of interest 0 are never asked.
        least_first: how many wishes the opening needs.
    """
    askable = sum(1 << number for number, weight in enumerate(interest) if weight > 0)
    supports = {business: view.supports[business] & askable for business in pool}
    moments = events(shape)
    for attempt, places in enumerate(_orders(supports, shape, shuffled(rng, pool), least_first)):
        wishes = _choose(view, moments, places, supports, tier, interest, rng, least_first)
        if wishes is not None:
            return Chain(shape, places, wishes)
        if attempt + 1 >= MOST_CHAINS:
            break
    return None


def askable_at(event: Event, places: Sequence[str | None], supports: dict[str, int], strict: bool = False) -> int:
    """Return the wishes that everyone named later supports and nobody refused does; unset places are left out."""
    total = -1
    for index in event.later:
        if (business := places[index]) is not None:
            total &= supports[business]
    for index in event.refused:
        if (business := places[index]) is not None:
            total &= ~supports[business]
    if strict:
        for index in event.standing:
            if (business := places[index]) is not None:
                total &= supports[business]
    return total


def _orders(supports: dict[str, int], shape: str, order: Sequence[str], least_first: int) -> Iterator[tuple[str, ...]]:
    """Yield assignments of places to a shape under which every required moment has something to ask."""
    needed = [event for event in events(shape) if event.required]
    places: list[str | None] = [None] * place_count(shape)
    visits = 0

    def fill(index: int) -> Iterator[tuple[str, ...]]:
        nonlocal visits
        if index < 0:
            yield tuple(place for place in places if place is not None)
            return
        for business in order:
            if business in places or visits >= MOST_VISITS:
                continue
            visits += 1
            places[index] = business
            if all((askable_at(event, places, supports)).bit_count() >= (least_first if event.step < 0 else 1)
                   if _touched(event, places) else True for event in needed):
                yield from fill(index - 1)
            places[index] = None

    yield from fill(len(places) - 1)


def _touched(event: Event, places: Sequence[str | None]) -> bool:
    return any(places[index] is not None for index in event.later)


def _choose(view: CellView, moments: Sequence[Event], places: tuple[str, ...], supports: dict[str, int], tier: str,
            interest: Sequence[float], rng: random.Random, least_first: int) -> tuple[tuple[int, ...], ...] | None:
    """Return the wishes asked at each moment, or None where clashes leave a required one without."""
    taken = 0
    chosen: dict[int, tuple[int, ...]] = {}
    for index in sorted(range(len(moments)), key=lambda index: (not moments[index].refused, index)):
        event = moments[index]
        open_to = askable_at(event, places, supports, strict=not event.required)
        wanted, least = _how_many(event, tier, rng, least_first)
        found: list[int] = []
        quoted = places[event.later[0]]
        for number in _in_order(view, open_to & ~taken, quoted, interest, rng):
            if len(found) < wanted and not taken >> number & 1:
                found.append(number)
                taken |= view.clashes(number)
        if len(found) < least:
            return None
        chosen[index] = tuple(found)
    return tuple(chosen[index] for index in range(len(moments)))


def _in_order(view: CellView, numbers: int, business: str, interest: Sequence[float], rng: random.Random) -> list[int]:
    members = list(view.members(numbers))
    weights = [interest[number] * (1.0 if view.spans(business, view.wishes[number]) else WITHOUT_QUOTE) for number in members]
    return weighted_order(rng, members, weights)


def _how_many(event: Event, tier: str, rng: random.Random, least_first: int) -> tuple[int, int]:
    """Return how many wishes to ask for at a moment, and how many are needed."""
    if event.step < 0:
        options = FIRST_WISHES[tier]
        return max(least_first, options[int(rng.random() * len(options))]), least_first
    if event.refused:
        return (2 if chance(rng, SECOND_NEW_WISH) else 1), 1
    return (1 if chance(rng, WISH_WITHOUT_REFUSAL) else 0), 0
