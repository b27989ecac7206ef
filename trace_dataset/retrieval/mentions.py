"""From text to places: which places of a pool a text names, in order (decisions, item 5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from rapidfuzz import fuzz

from trace_dataset.scoring.text import normalize_text

FUZZY = 90.0  # of 100, for a name that is misspelt


def mentions(text: str, pool: Mapping[str, str]) -> list[str]:
    """Return the business ids that a text names, in the order of first mention.

    Full names are looked for first, longest first, and what they cover is spent; then names that occur with small spelling
    differences. A name that two places of the pool share is ambiguous and gives none.

    Args:
        text: a response.
        pool: business id to name.

    Example:
        >>> mentions("Try Blue Door, or Blue Door Annex.", {"a": "Blue Door", "b": "Blue Door Annex", "c": "Elm"})
        ['a', 'b']
    """
    left = normalize_text(text)
    names = {business: normalize_text(name) for business, name in pool.items()}
    shared = Counter(names.values())
    found: list[tuple[int, str]] = []
    by_length = sorted(names, key=lambda business: (-len(names[business]), names[business], business))
    missing = []
    for business in by_length:
        name = names[business]
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", left) if name else None
        if match is None:
            missing.append(business)
            continue
        if shared[name] == 1:
            found.append((match.start(), business))
            left = left[: match.start()] + "\0" * (match.end() - match.start()) + left[match.end() :]
    found += _misspelt(left, {business: names[business] for business in missing if shared[names[business]] == 1})
    return [business for _, business in sorted(found)]


def names_place(text: str, name: str) -> bool:
    """Return whether a text names one given place, exactly or with small spelling differences."""
    plain, wanted = normalize_text(text), normalize_text(name)
    if not wanted:
        return False
    return wanted in plain or fuzz.partial_ratio(wanted, plain, score_cutoff=FUZZY) >= FUZZY


def _misspelt(text: str, names: Mapping[str, str]) -> list[tuple[int, str]]:
    hits: list[tuple[int, int, str]] = []
    for business, name in names.items():
        if len(name) < 5:  # a short name is within a letter of ordinary words
            continue
        alignment = fuzz.partial_ratio_alignment(name, text, score_cutoff=FUZZY)
        if alignment is not None:
            hits.append((alignment.dest_start, alignment.dest_end, business))
    return [
        (start, business)
        for start, end, business in hits
        if not any(other != business and start < to and begin < end for begin, to, other in hits)
    ]
