"""What annotators said: quote labels, error categories, Likert items (definitions, M22 to M25, and Table 11 of the paper)."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Sequence

from .aggregate import summarize
from .checks import check_choice

QUOTE_LABELS = ("supported", "partial", "not")
ERRORS = (
    "fabrication",
    "wrong_poi",
    "irrelevant_citation",
    "too_vague",
    "missing_citation",
    "exaggeration",
    "factual_error",
)
NO_ERRORS = "no_errors"
Labels = Sequence["str | None"]
Selections = Sequence[Collection[str]]


def majority_label(labels: Labels, tie: str = "partial") -> str | None:
    """Return the label with most votes, `tie` where the top is shared, None without a vote.

    Example:
        >>> majority_label(["supported", "supported", "not", "not", "partial"])
        'partial'
    """
    votes = Counter(label for label in labels if label is not None)
    if not votes:
        return None
    most = max(votes.values())
    top = [label for label, count in votes.items() if count == most]
    return top[0] if len(top) == 1 else tie


def citation_precision(items: Sequence[Sequence[Labels]], level: str = "pooled") -> float | None:
    """Return the share of quotes whose majority label is "supported", 0 to 1; None without a labelled quote (M24).

    Args:
        items: for each item its quotes, for each quote the annotators' labels.
        level: "pooled" over all quotes (the paper's Table 10), or "item": mean over items with quotes (Tables 14, 15).
    """
    check_choice(level, "level", ("pooled", "item"))
    majorities = [[majority_label(quote) for quote in item] for item in items]
    supported = [[None if label is None else float(label == "supported") for label in item] for item in majorities]
    if level == "pooled":
        return summarize(value for item in supported for value in item).mean
    return summarize(summarize(item).mean for item in supported).mean


def error_free_rate(selections: Selections) -> float | None:
    """Return the share of annotators of one item whose selection is exactly "no_errors", 0 to 1 (M25)."""
    return _share([set(chosen) == {NO_ERRORS} for chosen in selections])


def flag_rate(selections: Selections) -> float | None:
    """Return the share of an annotator's items with any error category, 0 to 1; "no_errors" beside one does not clear it."""
    return _share([bool(_errors(chosen)) for chosen in selections])


def avg_categories(selections: Selections) -> float | None:
    """Return the mean number of distinct error categories an item."""
    return math.fsum(len(_errors(chosen)) for chosen in selections) / len(selections) if selections else None


def error_prevalence(items: Sequence[Selections], votes: int = 3) -> dict[str, float | None]:
    """Return for each category the share of items where at least `votes` annotators chose it."""
    every = (*ERRORS, NO_ERRORS)
    return {
        category: _share([sum(category in chosen for chosen in item) >= votes for item in items]) for category in every
    }


def likert_mean(items: Sequence[Sequence[float | None]]) -> float | None:
    """Return the mean over items of the mean over the annotators present (M22, M23)."""
    return summarize(summarize(item).mean for item in items).mean


def annotator_deviation(ratings: Sequence[Sequence[float | None]], annotator: int) -> float | None:
    """Return the mean over items of how far an annotator is from the item's median, that of all annotators.

    Args:
        ratings: for each item one rating an annotator, None for a gap.
        annotator: position of the annotator.

    Example:
        >>> annotator_deviation([[1, 2, 2, 3, 5], [4, 4, 5, 5, 5]], annotator=4)
        1.5
    """
    distances = []
    for item in ratings:
        own = item[annotator]
        if own is not None:
            distances.append(abs(own - statistics.median(rating for rating in item if rating is not None)))
    return math.fsum(distances) / len(distances) if distances else None


def mean_pairwise_jaccard(groups: Sequence[Sequence[Collection[str]]]) -> float | None:
    """Return the mean overlap of the choices of two annotators, over all pairs within dialogues, 0 to 1.

    Args:
        groups: for each dialogue one collection of places an annotator. Two empty collections agree.
    """
    overlaps = []
    for group in groups:
        sets = [set(chosen) for chosen in group]
        for index, first in enumerate(sets):
            overlaps += [len(first & other) / len(first | other) if first | other else 1.0 for other in sets[:index]]
    return math.fsum(overlaps) / len(overlaps) if overlaps else None


def strict_majority(groups: Sequence[Sequence[Collection[str]]]) -> int:
    """Return the number of dialogues where more than half of the annotators chose one and the same place."""
    won = 0
    for group in groups:
        votes = Counter(place for chosen in group for place in set(chosen))
        won += bool(votes) and 2 * max(votes.values()) > len(group)
    return won


def _errors(chosen: Collection[str]) -> set[str]:
    return set(chosen) - {NO_ERRORS}


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
