"""Correlations and paired tests over plain lists; None marks a gap, and pairs with a gap are dropped (definitions, 9).

The statistics themselves are a few sums each, written out so that a gap, a constant series or a tie means what the
definitions say; every tail probability is SciPy's, and a test holds each statistic against SciPy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trace_dataset.scoring.checks import check_lengths

Values = Sequence["float | None"]
DIGITS = 12  # differences are rounded to this many decimals before they are ranked: 0.3 - 0.1 ties with 0.2
STARS = ((1e-5, "***"), (0.01, "**"), (0.05, "*"))


def complete_pairs(a: Values, b: Values) -> list[tuple[float, float]]:
    """Return the pairs in which neither value is missing."""
    check_lengths(a=a, b=b)
    return [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]


def pearson(x: Values, y: Values) -> float | None:
    """Return the correlation, -1 to 1; None for a constant series or fewer than two pairs.

    Example:
        >>> round(pearson([1, 2, 3, 4], [8, 6, 5, 1]), 6)
        -0.964764
    """
    a, b = _complete(x, y)
    if len(a) < 2 or not np.ptp(a) or not np.ptp(b):
        return None
    a, b = a - a.mean(), b - b.mean()
    spread = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return max(-1.0, min(1.0, float(a @ b) / spread)) if spread else None


def spearman(x: Values, y: Values) -> float | None:
    """Return the rank correlation, -1 to 1; ties get average ranks."""
    a, b = _complete(x, y)
    return pearson(ranks(a), ranks(b)) if len(a) else None


def correlation_p(r: float, n: int) -> float | None:
    """Return the two-sided probability of a correlation over n pairs, from t with n - 2 degrees of freedom."""
    if n < 3:
        return None
    return 0.0 if abs(r) >= 1 else student_t_p(r * math.sqrt((n - 2) / (1 - r * r)), n - 2)


def kendall_tau_b(x: Values, y: Values) -> float | None:
    """Return Kendall's tau-b, -1 to 1; None for a constant series."""
    concordant = discordant = only_x = only_y = 0
    for (a, b), (c, d) in combinations(complete_pairs(x, y), 2):
        if a == c and b != d:
            only_x += 1
        elif b == d and a != c:
            only_y += 1
        elif (a - c) * (b - d) > 0:
            concordant += 1
        elif (a - c) * (b - d) < 0:
            discordant += 1
    decided = concordant + discordant
    scale = math.sqrt((decided + only_x) * (decided + only_y))
    return (concordant - discordant) / scale if scale else None


def student_t_p(t: float, df: float) -> float:
    """Return the two-sided probability of Student's t with `df` degrees of freedom."""
    from scipy.stats import t as student  # half a second, which no run or score should wait for

    return float(2 * student.sf(abs(t), df))


def chi_squared_p(value: float, df: float) -> float:
    """Return the probability of a chi-squared value of at least `value` with `df` degrees of freedom."""
    from scipy.stats import chi2

    return float(chi2.sf(value, df))


def wilcoxon_p(a: Values, b: Values) -> float | None:
    """Return the two-sided probability of Wilcoxon's signed-rank test of a against b; None where nothing differs."""
    from scipy.stats import wilcoxon

    first, second = _complete(a, b)
    differences = np.round(first - second, DIGITS)
    moved = differences[differences != 0]
    return float(wilcoxon(moved).pvalue) if len(moved) else None


def holm(probabilities: Sequence[float]) -> list[float]:
    """Return the probabilities after Holm's correction for as many tests, in the order given.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    adjusted, floor = [0.0] * len(order), 0.0
    for rank, at in enumerate(order):
        floor = max(floor, min(1.0, (len(order) - rank) * probabilities[at]))
        adjusted[at] = floor
    return adjusted


def ranks(values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    """Return the ranks from 1, ties at their average.

    Example:
        >>> ranks([10, 30, 20, 20])
        [1.0, 4.0, 2.5, 2.5]
    """
    from scipy.stats import rankdata

    return [float(rank) for rank in rankdata(values)] if len(values) else []


def paired_t(a: Values, b: Values) -> dict[str, float] | None:
    """Return the paired t-test of a against b: n, df, both means, t and Cohen's d of the differences.

    `student_t_p(t, df)` gives its probability. None with fewer than two pairs, or where all differences are equal.
    """
    first, second = _complete(a, b)
    n, differences = len(first), first - second
    if n < 2 or len(np.unique(np.round(differences, DIGITS))) < 2:
        return None
    mean, sd = float(differences.mean()), float(differences.std(ddof=1))
    return {
        "n": n,
        "df": n - 1,
        "mean_a": float(first.mean()),
        "mean_b": float(second.mean()),
        "t": mean / (sd / math.sqrt(n)),
        "cohens_d": mean / sd,
    }


def stars(p: float) -> str:
    """Return the paper's stars for a probability: 0.05, 0.01, 1e-5."""
    return next((mark for bound, mark in STARS if p < bound), "")


def wilcoxon_w(a: Values, b: Values) -> float | None:
    """Return Wilcoxon's signed-rank statistic, the smaller rank sum; zero differences are dropped, None if none is left."""
    differences = [round(x - y, DIGITS) for x, y in complete_pairs(a, b)]
    moved = [value for value in differences if value]
    if not moved:
        return None
    ranked = list(zip(moved, ranks([abs(value) for value in moved]), strict=True))
    up = math.fsum(rank for value, rank in ranked if value > 0)
    down = math.fsum(rank for value, rank in ranked if value < 0)
    return min(up, down)


def kruskal_h(groups: Sequence[Values]) -> float | None:
    """Return the Kruskal-Wallis statistic, corrected for ties; None for fewer than two groups or equal values."""
    values, sizes = _together(groups)
    n = len(values)
    if len(sizes) < 2 or len(set(values)) < 2:
        return None
    ranked = ranks(values)
    total, start = 0.0, 0
    for size in sizes:
        total += math.fsum(ranked[start : start + size]) ** 2 / size
        start += size
    return (12 / (n * (n + 1)) * total - 3 * (n + 1)) / (1 - _ties(values) / (n**3 - n))


def dunn_bonferroni(groups: Mapping[str, Values]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return for each pair of groups Dunn's z and its probability, times the number of pairs."""
    names = [name for name, values in groups.items() if any(value is not None for value in values)]
    values, sizes = _together([groups[name] for name in names])
    n = len(values)
    if n < 2 or len(set(values)) < 2:
        return {}
    ranked = ranks(values)
    means, start = {}, 0
    for name, size in zip(names, sizes, strict=True):
        means[name] = (math.fsum(ranked[start : start + size]) / size, size)
        start += size
    variance = n * (n + 1) / 12 - _ties(values) / (12 * (n - 1))
    pairs = list(combinations(names, 2))
    from scipy.stats import norm

    found = {}
    for one, other in pairs:
        (mean_one, size_one), (mean_other, size_other) = means[one], means[other]
        z = (mean_one - mean_other) / math.sqrt(variance * (1 / size_one + 1 / size_other))
        found[one, other] = (z, min(1.0, float(2 * norm.sf(abs(z))) * len(pairs)))
    return found


def mcnemar_exact(only_before: int, only_after: int) -> float:
    """Return McNemar's exact two-sided probability for matched yes/no outcomes that changed in either direction."""
    n, k = only_before + only_after, min(only_before, only_after)
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return min(1.0, float(2 * tail / 2**n))


def _together(groups: Sequence[Values]) -> tuple[list[float], list[int]]:
    present = [[value for value in group if value is not None] for group in groups]
    return [value for group in present for value in group], [len(group) for group in present if group]


def _ties(values: Sequence[float]) -> int:
    return sum(count**3 - count for count in Counter(values).values())


def _complete(x: Values, y: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both sides of the pairs in which neither value is missing."""
    check_lengths(x=x, y=y)
    a, b = (np.array([math.nan if value is None else value for value in side], dtype=float) for side in (x, y))
    kept = ~(np.isnan(a) | np.isnan(b))
    return a[kept], b[kept]
