"""Means over turns, with intervals from the spread between dialogues: turns of one dialogue are not independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

USUAL = 1.96  # standard errors: 95 %


@dataclass(frozen=True)
class Mean:
    """For each dialogue the sum of its turns' values and their number.

    Example:
        >>> Mean.of([[1, 0], [1], []]).value
        0.6666666666666666
    """

    sums: tuple[float, ...]
    counts: tuple[float, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> Mean:
        """Return the mean of values given by dialogue."""
        return cls(tuple(math.fsum(row) for row in rows), tuple(float(len(row)) for row in rows))

    @property
    def n(self) -> int:
        """How many values there are."""
        return int(sum(self.counts))

    @property
    def value(self) -> float | None:
        """The mean over all values; None without any."""
        return math.fsum(self.sums) / self.n if self.n else None

    @property
    def shown(self) -> str:
        """The mean to three decimals."""
        return "-" if self.value is None else f"{self.value:.3f}"

    def interval(self, errors: float = USUAL) -> tuple[float, float]:
        """Return mean minus and plus so many standard errors of a ratio of sums over dialogues; NaN without values."""
        mean = self.value
        if mean is None:
            return math.nan, math.nan
        size = len(self.sums)
        square = math.fsum((total - mean * count) ** 2 for total, count in zip(self.sums, self.counts, strict=True))
        error = math.sqrt(square * size / max(size - 1, 1)) / self.n
        return mean - errors * error, mean + errors * error

    def __str__(self) -> str:
        low, high = self.interval()
        return self.shown if self.value is None else f"{self.shown} [{low:.3f}, {high:.3f}]"


def difference(lower: Mean, higher: Mean, errors: float = USUAL) -> tuple[float, float, float]:
    """Return the second mean minus the first, with its interval; both are over the same dialogues and turns."""
    apart = Mean(tuple(b - a for a, b in zip(lower.sums, higher.sums, strict=True)), lower.counts)
    low, high = apart.interval(errors)
    return (math.nan if apart.value is None else apart.value), low, high
