"""Fits places and wishes to a shape: who is named when, and what is asked at each step."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from trace_dataset.dialogues.draws import chance, pick, shuffled, weighted_order
from trace_dataset.dialogues.shapes import Event, chain_length, events, parse
from trace_dataset.dialogues.views import CellView

MOST_VISITS = 600  # of the search through orders of places; a pool that needs more is redrawn
ENOUGH_CHAINS = 16  # to choose from, if one of them is tight
MOST_ORDERS = 80  # looked at: few other places should fit, and the golds be well spoken of
STRENGTH, ADVANTAGE = (
    0.1,
    0.2,
)  # of a sentence for the gold; of one more than others have; 1 being another place that fits
MISS = 1.0  # of each wish more than one that a place misses beside the gold
ENOUGH_SENTENCES = 3
NEAR_MISS = 0.95  # of the partners miss one wish
FIRST_WISHES = {"easy": (2, 2, 3), "medium": (2, 3), "hard": (2, 3, 3, 4), "expert": (3, 3, 4)}
SECOND_NEW_WISH = 0.2  # of the refusals name two wishes that the place fails
WISH_WITHOUT_REFUSAL = 0.75
WITHOUT_QUOTE = 0.35  # how much less often a wish is asked that only an attribute, and no sentence, supports


@dataclass(frozen=True, slots=True)
class Chain:
    """A shape with its places and wishes.

    Attributes:
        places: business ids by index of the shape; a partner stands at the end, so that -1 finds it.
        wishes: the numbers of the wishes asked at each event, the opening first.
        cost: how loosely the wishes fit: other places of the pool that fit as well, less the sentences for the golds.
    """

    shape: str
    places: tuple[str, ...]
    wishes: tuple[tuple[int, ...], ...]
    cost: float


def fit(
    view: CellView,
    shape: str,
    tier: str,
    pool: Sequence[str],
    interest: Sequence[float],
    rng: random.Random,
    least_first: int,
) -> Chain | None:
    """Return places of the pool and wishes that carry out a shape, or None where the pool does not allow it.

    Args:
        interest: of the persona, by wish number; wishes of interest 0 are never asked.
        least_first: how many wishes the opening needs.
    """
    askable = sum(1 << number for number, weight in enumerate(interest) if weight > 0)
    supports = {business: view.supports[business] & askable for business in pool}
    found: list[Chain] = []
    tight = False  # whether some chain lets nobody fit but those whose turn comes later
    for places in islice(_orders(supports, shape, shuffled(rng, pool), least_first), MOST_ORDERS):
        wishes = _choose(view, shape, places, supports, tier, interest, rng, least_first)
        partners = None if wishes is None else _partners(view, shape, pool, places, wishes, rng)
        if wishes is not None and partners is not None:
            cost, fitting = _cost(view, shape, pool, places, wishes)
            found.append(Chain(shape, places + partners, wishes, cost))
            tight = tight or fitting <= _due(shape)
        if tight and len(found) >= ENOUGH_CHAINS:
            break
    return min(found, key=lambda chain: chain.cost) if found else None


def askable_at(event: Event, places: Sequence[str | None], supports: dict[str, int]) -> int:
    """Return the wishes that everyone named later supports and nobody refused does; partners and unset places are left out."""
    total = -1
    for index in event.later:
        if (business := places[index]) is not None:
            total &= supports[business]
    for index in event.refused:
        if index >= 0 and (business := places[index]) is not None:
            total &= ~supports[business]
    return total


def _orders(supports: dict[str, int], shape: str, order: Sequence[str], least_first: int) -> Iterator[tuple[str, ...]]:
    """Yield assignments of places to a shape under which every required moment has something to ask."""
    touching = _touching(shape)
    places: list[str | None] = [None] * chain_length(shape)
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
            for event, least in touching[index]:
                if askable_at(event, places, supports).bit_count() < (least or least_first):
                    break
            else:
                yield from fill(index - 1)
            places[index] = None

    yield from fill(len(places) - 1)


@cache
def _touching(shape: str) -> tuple[tuple[tuple[Event, int], ...], ...]:
    """Return, for each place, the moments that have to be looked at again once it is set, and how many wishes they need.

    Places are set from the last to the first, so a moment counts from the first of its later places on; 0 stands for the
    number of wishes that the opening needs.
    """
    needed = [event for event in events(shape) if event.required]
    return tuple(
        tuple(
            (event, 0 if event.step < 0 else 1)
            for event in needed
            if index in event.later or (index in event.refused and max(event.later) > index)
        )
        for index in range(chain_length(shape))
    )


@cache
def _asking_order(shape: str) -> tuple[int, ...]:
    """Return the moments of a shape in the order in which wishes are drawn: refusals first, they have the least choice."""
    moments = events(shape)
    return tuple(sorted(range(len(moments)), key=lambda index: (not moments[index].refused, index)))


def _choose(
    view: CellView,
    shape: str,
    places: tuple[str, ...],
    supports: dict[str, int],
    tier: str,
    interest: Sequence[float],
    rng: random.Random,
    least_first: int,
) -> tuple[tuple[int, ...], ...] | None:
    """Return the wishes asked at each moment, or None where clashes leave a required one without."""
    moments = events(shape)
    taken = 0
    chosen: dict[int, tuple[int, ...]] = {}
    for index in _asking_order(shape):
        event = moments[index]
        open_to = askable_at(event, places, supports)
        wanted, least = _how_many(event, tier, rng, least_first)
        found: list[int] = []
        order = _in_order(view, open_to & ~taken, places[event.later[0]], interest, rng) if wanted else iter(())
        while len(found) < wanted and (number := next(order, None)) is not None:
            if not taken >> number & 1:
                found.append(number)
                taken |= view.clashes(number)
        if len(found) < least:
            return None
        chosen[index] = tuple(found)
    return tuple(chosen[index] for index in range(len(moments)))


def asked_before(shape: str, wishes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return, for each recommending step by index, the set of the wishes asked before it."""
    stated = {event.step: numbers for event, numbers in zip(events(shape), wishes, strict=True)}
    total = sum(1 << number for number in stated[-1])
    found = {}
    for index, step in enumerate(parse(shape)):
        if step.recommends:
            found[index] = total
        for number in stated.get(index, ()):
            total |= 1 << number
    return found


def _cost(
    view: CellView, shape: str, pool: Sequence[str], places: Sequence[str], wishes: Sequence[Sequence[int]]
) -> tuple[float, int]:
    """Return how many others fit at each recommendation, less how much more the reviews say for the gold than for them.

    The second number is how many others fit in all.

    A place that stands beside the gold in a comparison should miss one wish at most, as a partner does.
    """
    steps = parse(shape)
    cost, fitting = 0.0, 0
    for index, asked in asked_before(shape, wishes).items():
        refused = {places[place] for step in steps[:index] if step.kind == "X" for place in step.places if place >= 0}
        gold = places[steps[index].places[0]]
        others = [
            business
            for business in pool
            if business != gold and business not in refused and not asked & ~view.supports[business]
        ]
        beside = [places[place] for place in steps[index].places[1:] if place >= 0]
        cost += MISS * sum(max(0, (asked & ~view.supports[business]).bit_count() - 1) for business in beside)
        numbers = tuple(view.members(asked))
        speaking = _said(view, gold, numbers)
        fitting += len(others)
        cost += len(others) - STRENGTH * speaking
        if others:
            cost -= ADVANTAGE * (speaking - sum(_said(view, business, numbers) for business in others) / len(others))
    return cost, fitting


@cache
def _due(shape: str) -> int:
    """Return how many others fit at the recommendations of a shape in any case: those that are recommended later."""
    golds = [step.places[0] for step in parse(shape) if step.recommends]
    return sum(len(set(golds[index:])) - 1 for index in range(len(golds)))


def _said(view: CellView, business: str, numbers: Iterable[int]) -> int:
    total = 0
    for number in numbers:
        total += min(ENOUGH_SENTENCES, view.sentences(business, number))
    return total


def _partners(
    view: CellView,
    shape: str,
    pool: Sequence[str],
    places: tuple[str, ...],
    wishes: Sequence[Sequence[int]],
    rng: random.Random,
) -> tuple[str, ...] | None:
    """Return the place that is only compared with, if the shape has one; None where none comes close enough.

    Where it is refused afterwards it must not support what is asked then.
    """
    steps = parse(shape)
    step = next((index for index, step in enumerate(steps) if step.recommends and min(step.places) < 0), None)
    if step is None:
        return ()
    asked = asked_before(shape, wishes)[step]
    unmet = sum(
        1 << number
        for event, numbers in zip(events(shape), wishes, strict=True)
        if event.refused and min(event.refused) < 0
        for number in numbers
    )
    missing = {
        business: (asked & ~view.supports[business]).bit_count()
        for business in pool
        if business not in places and not view.supports[business] & unmet and _shows(view, business, asked)
    }
    near = [business for business, many in missing.items() if many == 1]
    full = [business for business, many in missing.items() if many == 0]
    options = (near or full) if chance(rng, NEAR_MISS) else (full or near)
    return (pick(rng, options),) if options else None


def _shows(view: CellView, business: str, asked: int) -> bool:
    """Whether something can be quoted about a place that answers one of the wishes."""
    return any(view.sentences(business, number) for number in view.members(asked & view.supports[business]))


def _in_order(
    view: CellView, numbers: int, business: str, interest: Sequence[float], rng: random.Random
) -> Iterator[int]:
    members = list(view.members(numbers))
    weights = [interest[number] * (1.0 if view.sentences(business, number) else WITHOUT_QUOTE) for number in members]
    return weighted_order(rng, members, weights)


def _how_many(event: Event, tier: str, rng: random.Random, least_first: int) -> tuple[int, int]:
    """Return how many wishes to ask for at a moment, and how many are needed."""
    if event.step < 0:
        options = FIRST_WISHES[tier]
        return max(least_first, options[int(rng.random() * len(options))]), least_first
    if event.refused:
        return (2 if chance(rng, SECOND_NEW_WISH) else 1), 1
    return (1 if chance(rng, WISH_WITHOUT_REFUSAL) else 0), 0
