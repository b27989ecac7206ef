"""What a user has stated, as a system without a language model can read it: a price ceiling, categories, aspect terms."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trace_dataset.schema import POI
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.scoring.practical import price_ceiling
from trace_dataset.scoring.text import normalize_text, tokenize


def stated_share(user_turns: Sequence[str], place: POI, place_terms: Collection[str]) -> float:
    """Return the share of stated attributes that a place satisfies, in [0, 1]; 0 where nothing is stated (B8, P44).

    Args:
        user_turns: the user's texts so far.
        place_terms: the inventory terms that the place's categories, attributes and reviews hold.
    """
    query = " ".join(user_turns)
    checks: list[bool] = []
    ceiling = price_ceiling(user_turns)
    if ceiling is not None:
        checks.append(place.price is not None and place.price <= ceiling)
    checks += [term in place_terms for term in sorted(find_terms(query))]
    words = set(tokenize(query))
    for category in place.categories:
        parts = tokenize(normalize_text(category))
        if parts and words.issuperset(parts):
            checks.append(True)
    return sum(checks) / len(checks) if checks else 0.0
