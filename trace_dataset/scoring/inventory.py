"""The 41 aspect terms of provenance coverage and preference coverage (definitions, M8), and where they stand in a text.

The paper prints 13 of them; generic words such as food or service are left out on purpose.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

FAMILIES: dict[str, tuple[str, ...]] = {
    "food": (
        "seafood",
        "vegan",
        "vegetarian",
        "gluten-free",
        "breakfast",
        "brunch",
        "coffee",
        "cafe",
        "dessert",
        "pizza",
        "sushi",
        "steak",
        "cocktails",
    ),
    "ambience": (
        "quiet",
        "cozy",
        "romantic",
        "lively",
        "casual",
        "modern",
        "historic",
        "trendy",
        "scenic",
        "clean",
    ),
    "logistics": (
        "parking",
        "wifi",
        "outdoor seating",
        "patio",
        "reservations",
        "delivery",
        "takeout",
        "wheelchair accessible",
        "pet-friendly",
        "pool",
    ),
    "value": (
        "cheap",
        "affordable",
        "budget",
        "expensive",
        "upscale",
        "luxury",
        "family-friendly",
        "kid-friendly",
    ),
}
TERMS: tuple[str, ...] = tuple(term for terms in FAMILIES.values() for term in terms)


def find_terms(text: str, terms: Sequence[str] = TERMS) -> dict[str, list[int]]:
    """Return the terms that stand in a text as whole words, each with the offsets of its occurrences.

    Any case; no stemming and no synonyms.

    Example:
        >>> find_terms("A quiet patio, very QUIET; breakfasts too.")
        {'quiet': [2, 20], 'patio': [8]}
    """
    found: dict[str, list[int]] = {}
    lowered = _lowered(text)
    for pattern in _patterns(tuple(terms)):
        for match in pattern.finditer(lowered):
            found.setdefault(match.group(), []).append(match.start())
    return found


@functools.lru_cache(maxsize=16)
def _patterns(terms: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return one pattern for our own terms, none of which overlap, and a pattern a term for any other list."""
    if terms == TERMS:  # five times as fast as a pattern a term; needs every term to begin and end with a letter
        return (re.compile(rf"\b(?:{'|'.join(map(re.escape, terms))})\b"),)
    return tuple(re.compile(rf"(?<!\w){re.escape(term)}(?!\w)") for term in dict.fromkeys(terms))


def _lowered(text: str) -> str:
    """Return the text in lower case with every offset kept: a few letters become two when lowered."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
