"""Stage 2: eight candidate places by stratified rating and category sampling (definitions, 7.2)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from trace_dataset.dialogues.draws import shuffled
from trace_dataset.schema import POI

POOL_SIZE = 8
BANDS = ((0.0, 3.5, 2), (3.5, 4.25, 3), (4.25, 6.0, 3))  # below 3.5, 3.5 to 4.0, above 4.0 (stars come in halves)
PER_CATEGORY = 2


def draw_candidates(places: Sequence[POI], rng: random.Random) -> tuple[str, ...]:
    """Return eight places of a cell in random order, or all of a smaller cell.

    Two, three and three come from the three star bands; no first category stands more than twice, nor any name more
    than once, for a name has to say which place is meant. A band that is short is filled from the others. Where the
    categories leave fewer than eight, three of one are let in, then four, and so on.
    """
    order = shuffled(rng, sorted(places, key=lambda place: place.business_id))
    most = min(POOL_SIZE, len({_plain(place.name) for place in places}))
    chosen: list[POI] = []
    for limit in range(PER_CATEGORY, POOL_SIZE + 1):
        chosen = _stratified(order, limit)
        if len(chosen) == most:
            break
    return tuple(shuffled(rng, [place.business_id for place in chosen]))


def _stratified(order: Sequence[POI], limit: int) -> list[POI]:
    seen: Counter[str] = Counter()
    chosen: list[POI] = []
    names: set[str] = set()

    def take(places: Iterable[POI], wanted: int) -> None:
        for place in places:
            if not wanted:
                return
            first = place.categories[0] if place.categories else ""
            if seen[first] < limit and (name := _plain(place.name)) not in names:
                chosen.append(place)
                names.add(name)
                seen[first] += 1
                wanted -= 1

    for low, high, quota in BANDS:
        take((place for place in order if low <= place.stars < high), quota)
    take(order, POOL_SIZE - len(chosen))
    return chosen


@cache
def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
