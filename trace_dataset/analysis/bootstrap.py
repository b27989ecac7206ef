"""Paired cluster bootstrap: whole dialogues are drawn, and their turns pooled (definitions, 9.1; paper, Table 21)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_dataset.scoring.checks import check_lengths

RESAMPLES = 10_000
SEED = 42
LEVEL = 0.95
CHUNK = 4_000_000  # draws held in memory at a time
Dialogues = Sequence[Sequence["float | None"]]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Mean of system A minus mean of system B over the turns defined for both, with a percentile interval."""

    delta: float
    low: float
    high: float
    n_dialogues: int
    n_turns: int

    @property
    def significant(self) -> bool:
        """Whether 0 is outside the interval."""
        return not self.low <= 0 <= self.high


def bootstrap_delta(a: Dialogues, b: Dialogues) -> float | None:
    """Return the mean of A minus the mean of B over turns defined for both, pooled over dialogues; None without any.

    Example:
        >>> bootstrap_delta([[1, None], [0]], [[0, 1], [0]])
        0.5
    """
    sums, counts = _differences(a, b)
    total = float(counts.sum())
    return math.fsum(sums) / total if total else None


def bootstrap_ci(
    a: Dialogues, b: Dialogues, n_boot: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> list[float] | None:
    """Return the percentile interval of `bootstrap_delta`.

    Args:
        a, b: for each dialogue the turn values of a system; both hold the same turns.
        n_boot: resamples; row i of `numpy.random.default_rng(seed).integers(0, D, size=(n_boot, D))` is resample i.
        level: share of the resamples inside.
    """
    sums, counts = _differences(a, b)
    if not counts.any():
        return None
    means = resampled_means(sums[:, None], counts[:, None], n_boot, seed)[:, 0]
    return list(percentile_interval(means, level))


def compare(a: Dialogues, b: Dialogues, n_boot: int = RESAMPLES, seed: int = SEED) -> Comparison | None:
    """Return the difference of two systems with its interval and what it rests on; None without a common turn."""
    delta, interval = bootstrap_delta(a, b), bootstrap_ci(a, b, n_boot, seed)
    if delta is None or interval is None:
        return None
    _, counts = _differences(a, b)
    return Comparison(delta, interval[0], interval[1], int((counts > 0).sum()), int(counts.sum()))


def resampled_means(sums: Array, counts: Array, n_boot: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the mean of every resample, for several metrics at once; NaN where a resample has no turn.

    Args:
        sums, counts: for each dialogue (rows) and metric (columns) the sum of the turn values and their number.
    """
    both = np.hstack([sums, counts])
    totals = np.vstack([drawn @ both for drawn in resamples(len(sums), n_boot, seed)])
    width = sums.shape[1]
    means: Array = np.full((len(totals), width), np.nan)
    np.divide(totals[:, :width], totals[:, width:], out=means, where=totals[:, width:] > 0)
    return means


def resamples(n: int, n_boot: int = RESAMPLES, seed: int = SEED) -> Iterator[Array]:
    """Yield how often each of n dialogues is drawn, some resamples at a time; the draws are those of one call."""
    stream = np.random.default_rng(seed)
    step = max(1, CHUNK // max(1, n))
    for start in range(0, n_boot, step):
        size = min(step, n_boot - start)
        draws = stream.integers(0, n, size=(size, n))
        draws += np.arange(size)[:, None] * n
        yield np.bincount(draws.ravel(), minlength=size * n).reshape(size, n).astype(float)


def percentile_interval(means: Array, level: float = LEVEL) -> tuple[float, float]:
    """Return the two percentiles, linearly interpolated, that hold `level` of the defined resamples between them."""
    defined = means[~np.isnan(means)]
    if not len(defined):
        return math.nan, math.nan
    tail = 50 * (1 - level)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def _differences(a: Dialogues, b: Dialogues) -> tuple[Array, Array]:
    """Return for each dialogue the sum of A minus B over the turns defined for both, and their number."""
    check_lengths(a=a, b=b)
    sums, counts = [], []
    for index, (first, second) in enumerate(zip(a, b, strict=True)):
        check_lengths(**{f"a[{index}]": first, f"b[{index}]": second})
        pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
        sums.append(math.fsum(x - y for x, y in pairs))
        counts.append(len(pairs))
    return np.array(sums, dtype=float), np.array(counts, dtype=float)
