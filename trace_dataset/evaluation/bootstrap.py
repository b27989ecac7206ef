"""Paired cluster bootstrap: whole dialogues are drawn, and their turns pooled (definitions, 9.1; paper, Table 21).

Every interval of the project comes from here. A draw is a row of counts, how often each dialogue was drawn, so a block of
resamples is one matrix product for all systems and metrics at once; nothing is gathered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_dataset.scoring.checks import check_lengths

RESAMPLES = 10_000
SEED = 42
LEVEL = 0.95
BLOCK = 2_000_000  # draws held in memory at a time: 16 MB, and rows enough for a matrix product
AT_ONCE = 8_192  # draws counted in one call, as many as stay in the cache
Dialogues = Sequence[Sequence["float | None"]]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Mean of system A minus mean of system B over the turns defined for both, with a percentile interval.

    `p` is the two-sided bootstrap probability of `two_sided_p`.
    """

    delta: float
    low: float
    high: float
    n_dialogues: int
    n_turns: int
    p: float = math.nan

    @property
    def significant(self) -> bool:
        """Whether 0 is outside the interval."""
        return self.low > 0 or self.high < 0


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
    sums, counts = _differences(a, b)
    if not counts.any():
        return None
    means = resampled_means(sums[:, None], counts[:, None], n_boot, seed)[:, 0]
    return comparison(math.fsum(sums) / float(counts.sum()), means, counts)


def comparison(delta: float, replicates: Array, counts: Array) -> Comparison:
    """Return what the replicates of a difference say, with the numbers of dialogues and turns that it rests on."""
    low, high = percentile_interval(replicates)
    n_dialogues = int((counts > 0).sum())
    return Comparison(delta, low, high, n_dialogues, int(counts.sum()), two_sided_p(replicates, n_dialogues))


def resampled_means(sums: Array, counts: Array, n_boot: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the mean of every resample, for several metrics at once; NaN where a resample has no turn.

    Args:
        sums, counts: for each dialogue (rows) and metric (columns) the sum of the turn values and their number.
    """
    totals = resampled_totals(np.hstack([sums, counts]), n_boot, seed)
    width = sums.shape[1]
    return ratio(totals[:, :width], totals[:, width:])


def resampled_totals(columns: Array, n_boot: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the total of every column in every resample: one row a resample; rows of `columns` are dialogues."""
    columns = np.ascontiguousarray(columns, dtype=np.float64)
    totals = np.empty((n_boot, columns.shape[1]))
    start = 0
    for drawn in resamples(len(columns), n_boot, seed):
        np.matmul(drawn, columns, out=totals[start : start + len(drawn)])
        start += len(drawn)
    return totals


class Columns:
    """Columns of sums by dialogue, each kept once however many means or comparisons need it."""

    def __init__(self) -> None:
        self.rows: list[Array] = []
        self._known: dict[bytes, int] = {}

    def add(self, values: Array) -> int:
        """Return the position of a column."""
        key = values.tobytes()
        if key not in self._known:
            self._known[key] = len(self.rows)
            self.rows.append(values)
        return self._known[key]

    def matrix(self) -> Array:
        """Return all columns side by side."""
        return np.column_stack(self.rows)


def resampled_ratios(wanted: Sequence[tuple[Array, Array]], n_boot: int = RESAMPLES, seed: int = SEED) -> list[Array]:
    """Return the ratio of totals of every resample for pairs of sums and counts by dialogue.

    Pairs over equally many dialogues share one pass over the draws, and a column that several share goes through it once.
    """
    found: dict[int, Array] = {}
    for size in {len(sums) for sums, _ in wanted}:
        columns, here = Columns(), [at for at, (sums, _) in enumerate(wanted) if len(sums) == size]
        places = [(columns.add(wanted[at][0]), columns.add(wanted[at][1])) for at in here]
        totals = resampled_totals(columns.matrix(), n_boot, seed) if size else np.empty((0, len(columns.rows)))
        found |= {at: ratio(totals[:, a], totals[:, b]) for at, (a, b) in zip(here, places, strict=True)}
    return [found[at] for at in range(len(wanted))]


def resamples(n: int, n_boot: int = RESAMPLES, seed: int = SEED) -> Iterator[Array]:
    """Yield how often each of n dialogues is drawn, some resamples at a time; the draws are those of one call."""
    stream = np.random.default_rng(seed)
    step = max(1, BLOCK // max(1, n))
    sizes = [min(step, n_boot - start) for start in range(0, n_boot, step)]
    with ThreadPoolExecutor(1) as ahead:  # one thread draws, in order, while the last block is counted and multiplied
        waiting = ahead.submit(stream.integers, 0, n, size=(sizes[0], n)) if sizes else None
        for at in range(len(sizes)):
            assert waiting is not None
            draws = waiting.result()
            if at + 1 < len(sizes):
                waiting = ahead.submit(stream.integers, 0, n, size=(sizes[at + 1], n))
            yield _counted(draws, n)


def _counted(draws: NDArray[np.int64], n: int) -> Array:
    """Return how often each of n stands in every row of draws; several short rows are counted in one call."""
    weights: Array = np.empty((len(draws), n))
    step = max(1, AT_ONCE // max(1, n))
    shift = n * np.arange(step)[:, None]  # each row of a call has numbers of its own
    for start in range(0, len(draws), step):
        rows = draws[start : start + step]
        numbers = rows[0] if step == 1 else (rows + shift[: len(rows)]).ravel()
        weights[start : start + step] = np.bincount(numbers, minlength=n * len(rows)).reshape(len(rows), n)
    return weights


def ratio(totals: Array, counts: Array) -> Array:
    """Return totals by counts; NaN where a count is 0."""
    means: Array = np.full(np.broadcast(totals, counts).shape, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def percentile_interval(means: Array, level: float = LEVEL) -> tuple[float, float]:
    """Return the two percentiles, linearly interpolated, that hold `level` of the defined resamples between them."""
    defined = means[~np.isnan(means)]
    if not len(defined):
        return math.nan, math.nan
    tail = 50 * (1 - level)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def two_sided_p(differences: Array, n_dialogues: int = 0) -> float:
    """Return twice the smaller share of resamples at or beyond 0, at most 1; NaN without any.

    Where no resample lies there, all that the share says is that p is below 2 / (resamples + 1), and no difference, however
    large, would survive a correction for some hundred comparisons. Then it is the tail of Student's t at the mean of the
    resamples over their standard deviation, with one degree of freedom less than there are dialogues, if that is smaller.
    """
    defined = differences[~np.isnan(differences)]
    if not len(defined):
        return math.nan
    smaller = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    p = min(1.0, 2 * (smaller + 1) / (len(defined) + 1))
    spread = float(defined.std())
    if smaller or n_dialogues < 2 or spread < 1e-12:
        return p
    from scipy.stats import t as student  # half a second, which no run or score should wait for

    return min(p, float(2 * student.sf(abs(float(defined.mean())) / spread, n_dialogues - 1)))


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
