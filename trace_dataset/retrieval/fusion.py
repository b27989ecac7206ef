"""Reciprocal rank fusion (definitions, B6)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from trace_dataset.schema import POI

RRF_CONSTANT = 60


def rrf_scores(rankings: Sequence[Sequence[str]], constant: int = RRF_CONSTANT) -> dict[str, float]:
    """Return the sum over rankings of 1/(constant + rank), ranks from 1; an item that a ranking lacks gets nothing from it.

    Example:
        >>> {key: round(value, 6) for key, value in rrf_scores([["a", "b"], ["a"]]).items()}
        {'a': 0.032787, 'b': 0.016129}
    """
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            shares.setdefault(item, []).append(1 / (constant + rank))
    return {item: math.fsum(values) for item, values in shares.items()}


def attribute_rank(places: Iterable[POI]) -> list[str]:
    """Return business ids by stars descending, then price ascending with unknown prices last, then id (P43)."""
    return [
        place.business_id
        for place in sorted(places, key=lambda place: (-place.stars, place.price or 9, place.business_id))
    ]
