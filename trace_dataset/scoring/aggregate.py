"""From values of units to a value of a corpus; None never enters a mean (definitions, section 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .checks import check_choice

Values = Sequence["float | None"]


@dataclass(frozen=True)
class Summary:
    """A mean over `n` defined values; `n_null` others had none. The mean is None where n is 0."""

    mean: float | None
    n: int
    n_null: int


def summarize(values: Iterable[float | None]) -> Summary:
    """Return the mean of the defined values, with how many there were and how many not.

    Example:
        >>> summarize([1.0, None, 0.5])
        Summary(mean=0.75, n=2, n_null=1)
    """
    every = list(values)
    defined = [value for value in every if value is not None]
    mean = math.fsum(defined) / len(defined) if defined else None
    return Summary(mean, len(defined), len(every) - len(defined))


def aggregate(dialogues: Sequence[Values], level: str = "turn") -> float | None:
    """Return a mean over the turns of all dialogues, or (`level="dialogue"`) over the means of dialogues.

    Example:
        >>> aggregate([[1.0, 0.5, None], [0.0], [None], [0.5]])
        0.5
    """
    check_choice(level, "level", ("turn", "dialogue"))
    if level == "turn":
        return summarize(value for turns in dialogues for value in turns).mean
    return summarize(summarize(turns).mean for turns in dialogues).mean


def turn_sd(dialogues: Sequence[Values]) -> float | None:
    """Return the sample standard deviation (n - 1) over the defined turns of all dialogues; None with fewer than two."""
    defined = [value for turns in dialogues for value in turns if value is not None]
    if len(defined) < 2:
        return None
    mean = math.fsum(defined) / len(defined)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in defined) / (len(defined) - 1))
