"""How far raters agree (definitions, 4.4). Ratings: one row a rater, one column a unit, None for a gap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trace_dataset.analysis.statistics import Values, complete_pairs, ranks
from trace_dataset.evaluation.bootstrap import RESAMPLES, SEED, percentile_interval, resampled_totals
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
    values, coincidences = _coincidences(ratings, level)
    found = float(_alphas(coincidences.sum(axis=0)[None, :], values, level)[0])
    return None if math.isnan(found) else found


def alpha_interval(
    ratings: Ratings,
    level: str = "nominal",
    n_boot: int = RESAMPLES,
    seed: int = SEED,
    owners: Sequence[int] | None = None,
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of Krippendorff's alpha over units drawn with replacement; None without alpha.

    Resample i draws the units in row i of `numpy.random.default_rng(seed).integers(0, U, size=(n_boot, U))`. What units
    contribute to the coincidences adds up, so all resamples are one matrix product.

    Args:
        owners: for each unit the item that it is a part of, from 0; items are then drawn whole, since the quotes or
            categories of one item are not independent. None draws the units themselves.
    """
    found = alpha_replicates(ratings, level, n_boot, seed, owners)
    low, high = percentile_interval(found)
    return None if math.isnan(low) else (low, high)


def alpha_replicates(
    ratings: Ratings,
    level: str = "nominal",
    n_boot: int = RESAMPLES,
    seed: int = SEED,
    owners: Sequence[int] | None = None,
) -> Array:
    """Return alpha of every resample of units, or of the items that own them; NaN where all ratings drawn are equal."""
    values, coincidences = _coincidences(ratings, level)
    if owners is not None and len(owners):
        whole: Array = np.zeros((max(owners) + 1, coincidences.shape[1]))
        np.add.at(whole, np.asarray(owners), coincidences)
        coincidences = whole
    if not len(coincidences):
        return np.full(n_boot, np.nan)
    return _alphas(resampled_totals(coincidences, n_boot, seed), values, level)


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


def _coincidences(ratings: Ratings, level: str) -> tuple[list[Any], Array]:
    """Return the values in order, and for each unit its pairs of values, each unit's weight that of its ratings."""
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
    others = np.maximum(counts.sum(axis=1) - 1, 0)
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(len(values)))
    np.divide(pairs, others[:, None, None], out=pairs, where=others[:, None, None] > 0)
    pairs[others == 0] = 0.0  # a unit with one rating has nothing to agree with
    return values, pairs.reshape(len(counts), len(values) ** 2)


def _alphas(totals: Array, values: Sequence[Any], level: str) -> Array:
    """Return alpha of coincidences added up over units, one row each; NaN where nothing varies."""
    observed = totals.reshape(len(totals), len(values), len(values))
    margins = observed.sum(axis=2)
    distance = _distance(values, margins, level)
    expected = np.einsum("rc,rck,rk->r", margins, np.broadcast_to(distance, observed.shape), margins)
    disagreement = (margins.sum(axis=1) - 1) * (observed * distance).sum(axis=(1, 2))
    found: Array = np.full(len(totals), np.nan)
    np.divide(disagreement, expected, out=found, where=expected > 0)
    return 1 - found


def _distance(values: Sequence[Any], margins: Array, level: str) -> Array:
    """Return the squared distances between values that a level of measurement allows, for each row of margins."""
    if level == "nominal":
        return (1.0 - np.eye(len(values)))[None]
    if level == "interval":
        scale = np.array(values, dtype=float)
        return np.asarray((scale[:, None] - scale[None, :]) ** 2)[None]
    middle = np.cumsum(margins, axis=1) - margins / 2  # the ratings below a value, with half of its own
    return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
