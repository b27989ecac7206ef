"""How far raters agree (definitions, 4.4). Ratings: one row a rater, one column a unit, None for a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trace_dataset.analysis.statistics import Values, complete_pairs, ranks
from trace_dataset.scoring.checks import check_choice, check_lengths

LEVELS = ("nominal", "ordinal", "interval")
Ratings = Sequence[Sequence[Any]]
Array = NDArray[np.float64]


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> float | None:
    """Return Krippendorff's alpha, at most 1; None where no two ratings can be compared or all are equal.

    Args:
        level: "nominal", "ordinal" or "interval". Units with fewer than two ratings are left out.

    Example:
        >>> round(krippendorff_alpha([[1, None, 2, 1], [1, 2, 2, 2]]), 6)
        0.444444
    """
    check_choice(level, "level", LEVELS)
    check_lengths(**{f"rater {index}": row for index, row in enumerate(ratings)})
    present = {value for row in ratings for value in row if value is not None}
    values = sorted(present, key=str if level == "nominal" else None)
    position = {value: index for index, value in enumerate(values)}
    counts = np.zeros((len(ratings[0]) if ratings else 0, len(values)))
    for row in ratings:
        for unit, value in enumerate(row):
            if value is not None:
                counts[unit, position[value]] += 1
    per_unit = counts.sum(axis=1)
    counts, per_unit = counts[per_unit >= 2], per_unit[per_unit >= 2]
    weighted = counts / (per_unit[:, None] - 1)
    coincidences = counts.T @ weighted - np.diag(weighted.sum(axis=0))
    totals = coincidences.sum(axis=1)
    distance = _distance(values, totals, level)
    expected = float((np.outer(totals, totals) * distance).sum())
    if not expected:
        return None
    return float(1 - (totals.sum() - 1) * (coincidences * distance).sum() / expected)


def leave_out_alpha(ratings: Ratings, drop: Collection[int], level: str = "nominal") -> float | None:
    """Return Krippendorff's alpha without the raters at the positions in `drop`."""
    return krippendorff_alpha([row for index, row in enumerate(ratings) if index not in drop], level)


def kendall_w(scores: Sequence[Sequence[float]], tie_correction: bool = True, rank: bool = True) -> float | None:
    """Return Kendall's coefficient of concordance, 0 to 1 with both options on; None where nothing varies.

    Args:
        scores: one row a rater, one column an item, without gaps.
        tie_correction: divide by what ties leave possible.
        rank: rank each rater's scores first. The source's printed formula does neither.
    """
    check_lengths(**{f"rater {index}": row for index, row in enumerate(scores)})
    m, n = len(scores), len(scores[0]) if scores else 0
    table = np.array([ranks(row) if rank else list(row) for row in scores], dtype=float)
    ties = sum(count**3 - count for row in scores for count in Counter(row).values()) if tie_correction else 0
    possible = m * m * (n**3 - n) - m * ties
    if possible <= 0:
        return None
    sums = table.sum(axis=0)
    return float(12 * ((sums - sums.mean()) ** 2).sum() / possible)


def kendall_w_chi2(w: float, m: int, n: int) -> float:
    """Return the chi-squared value of Kendall's W of m raters over n items, with n - 1 degrees of freedom."""
    return m * (n - 1) * w


def exact_agreement(a: Values, b: Values) -> float | None:
    """Return the share of jointly rated items with equal ratings."""
    return _share([x == y for x, y in complete_pairs(a, b)])


def within_one(a: Values, b: Values) -> float | None:
    """Return the share of jointly rated items whose ratings differ by at most one."""
    return _share([abs(x - y) <= 1 for x, y in complete_pairs(a, b)])


def quadratic_kappa(a: Values, b: Values) -> float | None:
    """Return Cohen's kappa with quadratic weights, at most 1; None where chance leaves nothing to disagree about."""
    pairs = complete_pairs(a, b)
    if not pairs:
        return None
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    expected = float(((first[:, None] - second[None, :]) ** 2).mean())
    return float(1 - ((first - second) ** 2).mean() / expected) if expected else None


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """Return Fleiss' kappa over complete rows, at most 1; one row an item, one column a rater. None where nothing varies."""
    rows = [Counter(row) for row in ratings if row and None not in row]
    if not rows:
        return None
    n = rows[0].total()
    check_lengths(**{f"row {index}": list(row.elements()) for index, row in enumerate(rows)})
    if n < 2:
        return None
    observed = sum(sum(count * (count - 1) for count in row.values()) for row in rows) / (len(rows) * n * (n - 1))
    shares = sum(rows, Counter())
    expected = sum((count / (len(rows) * n)) ** 2 for count in shares.values())
    return (observed - expected) / (1 - expected) if expected < 1 else None


def _distance(values: Sequence[Any], totals: Array, level: str) -> Array:
    """Return the squared distances between values that a level of measurement allows."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        scale = np.array(values, dtype=float)
        return np.asarray((scale[:, None] - scale[None, :]) ** 2)
    middle = np.cumsum(totals) - totals / 2  # the ratings below a value, with half of its own
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
