"""Does a quote stand in a review? The predicate of definitions 2.5, in the order of what it costs.

The verdict is always that of `quote_similarity(quote, review) >= threshold`; three shortcuts reach it sooner: the quote stands
in the review as it is; a window around a piece of it is similar enough; its normal form is a substring.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from .checks import check_threshold
from .text import ROUNDING, normalize_text, similarity

FIRST_COMBINING = "\u0300"  # from here on a character may join the one before it in the normal form
PIECE = 8  # characters of a quote by which a window of the review is found


class NormalForms(dict[str, str]):
    """Normal forms of reviews; one that many responses cite is normalised once."""

    def __missing__(self, review: str) -> str:
        self[review] = plain = normalize_text(review)
        return plain


def cutoff_of(threshold: float | str) -> float:
    """Return a threshold, or "exact", on RapidFuzz's scale; raises `UsageError` for anything else."""
    check_threshold(threshold)
    return 100.0 if isinstance(threshold, str) else 100.0 * threshold - ROUNDING


def stands_in(quote: str, reviews: Sequence[str], cutoff: float, plain: NormalForms) -> bool:
    """Return whether a quote stands in one of the reviews; one glued from two must stand in one of them.

    Args:
        cutoff: from `cutoff_of`.
        plain: normal forms, kept from call to call.
    """
    ascii_quote = quote.isascii()
    if ascii_quote:
        for review in reviews:
            if _verbatim(quote, review):
                return quote.strip() != ""
    wanted = normalize_text(quote)
    if not wanted:
        return False
    fuzzy = cutoff < 100.0  # without a substring no similarity reaches 100
    if fuzzy and ascii_quote and len(quote) == len(wanted):
        for review in reviews:
            if _nearly(quote, wanted, review, cutoff):
                return True
    normal = [plain[review] for review in reviews]
    if any(wanted in review for review in normal):
        return True
    return fuzzy and any(similarity(wanted, review, cutoff) >= cutoff for review in normal)


def _verbatim(quote: str, review: str) -> bool:
    """Return whether an ASCII quote is a substring whose normal form is one too: no accent may join its last letter."""
    start = review.find(quote)
    return start >= 0 and review[start + len(quote) : start + len(quote) + 1] < FIRST_COMBINING


def _nearly(quote: str, wanted: str, review: str, cutoff: float) -> bool:
    """Return whether a window of the review around a piece of the quote is similar enough: True is sure, False is not."""
    size = len(quote)
    for offset in (0, size // 3, 2 * size // 3):
        at = review.find(quote[offset : offset + PIECE])
        if at < 0:
            continue
        start = max(0, min(at - offset, len(review) - size))
        window = review[start : start + size]
        if (
            len(window) == size
            and _unchanged(window, review[start - 1 : start] if start else "", review[start + size : start + size + 1])
            and fuzz.ratio(wanted, window.lower(), score_cutoff=cutoff) >= cutoff
        ):
            return True
    return False


def _unchanged(window: str, before: str, after: str) -> bool:
    """Return whether a window is, but for case, a substring of the review's normal form; given its neighbours."""
    return (
        window.isascii()
        and window.isprintable()
        and "  " not in window
        and after < FIRST_COMBINING
        and (window[0] != " " or before.strip() != "")
        and (window[-1] != " " or after.strip() != "")
    )
