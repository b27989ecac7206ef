"""Total orders of places: no tie is ever left to the order in which they came (definitions, P7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trace_dataset.schema import POI

DECIMALS = 12  # scores equal to this many decimals are ties, whatever the machine's last bit says


def popularity_key(place: POI) -> tuple[float, int, str]:
    """Sort key of B1: stars descending, review count descending, id ascending."""
    return (-place.stars, -place.review_count, place.business_id)


def popularity_rank(places: Iterable[POI]) -> list[str]:
    """Return business ids by stars, then review count, then id (definitions, B1)."""
    return [place.business_id for place in sorted(places, key=popularity_key)]


def by_score(scores: Mapping[str, float], places: Mapping[str, POI]) -> list[str]:
    """Return business ids by score descending, ties by B1's rule."""
    return sorted(scores, key=lambda business: (-round(scores[business], DECIMALS), *popularity_key(places[business])))
