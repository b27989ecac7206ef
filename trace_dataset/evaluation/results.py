"""Scores of one run, and what they add up to: every mean with its n, its nulls and a bootstrap interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trace_dataset.scoring.composite import cgs

TURN_METRICS = (
    "recall_at_1",
    "recall_at_3",
    "mrr",
    "recall_at_1_multi",
    "ranking_recall_at_3",
    "bleu4",
    "rouge_l",
    "gs",
    "cd",
    "pc",
    "cgs",
    "price_alignment",
    "preference_coverage",
)
DIALOGUE_METRICS = ("tsr", "t2r", "t2r_hits", "rejections", "recovered", "recovered_literal", "spatial_coherence")
RATES = {"rejection_recovery": "recovered", "rejection_recovery_literal": "recovered_literal"}
RESAMPLES = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` units, of which others were undefined (`n_null`), with a 95 % percentile interval by dialogue."""

    value: float | None
    n: int
    n_null: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        interval = "" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{interval}"


@dataclass(frozen=True)
class Results:
    """Scores of one run: `turns` and `dialogues` are columns of equal length."""

    settings: Mapping[str, Any]
    turns: Mapping[str, list[Any]]
    dialogues: Mapping[str, list[Any]]

    def __repr__(self) -> str:
        found = self.estimates()
        shown = ", ".join(f"{key} {found[key]}" for key in ("recall_at_1", "cgs", "rejection_recovery"))
        return f"Results({self.name}, {len(self.dialogues['dialogue_id']):,} dialogues: {shown})"

    @property
    def name(self) -> str:
        """The baseline's name."""
        return str(self.settings["baseline"])

    @property
    def n_failed(self) -> int:
        """System turns without an answer; they are scored as misses."""
        return sum(self.turns["failed"])

    def estimates(self, resamples: int = RESAMPLES, seed: int = 42) -> dict[str, Estimate]:
        """Return every metric's estimate.

        Dialogues are drawn with replacement, and each replicate pools the turns of those drawn (definitions, 9.1).
        `cgs` is the paper's product of corpus means, `cgs_mean_of_turns` the mean of turn values.
        """
        ids = self.dialogues["dialogue_id"]
        position = {identifier: index for index, identifier in enumerate(ids)}
        owner = np.array([position[identifier] for identifier in self.turns["dialogue_id"]], dtype=np.int64)
        every = np.arange(len(ids))
        sums: dict[str, np.ndarray] = {}
        counts: dict[str, np.ndarray] = {}
        nulls: dict[str, int] = {}
        for name in TURN_METRICS:
            sums[name], counts[name], nulls[name] = _per_dialogue(self.turns[name], owner, len(ids))
        for name in ("tsr", "t2r", "t2r_hits", "spatial_coherence"):
            sums[name], counts[name], nulls[name] = _per_dialogue(self.dialogues[name], every, len(ids))
        for name, column in RATES.items():
            sums[name] = np.array([value or 0 for value in self.dialogues[column]], dtype=float)
            counts[name], nulls[name] = np.array(self.dialogues["rejections"], dtype=float), 0
        names = list(sums)
        sums["cgs_mean_of_turns"], counts["cgs_mean_of_turns"] = sums["cgs"], counts["cgs"]
        weights = _resamples(len(ids), resamples, seed)
        means = {name: _ratio(weights @ sums[name], weights @ counts[name]) for name in names}
        means["cgs_mean_of_turns"] = means["cgs"]
        means["cgs"] = means["gs"] * np.minimum(1, means["cd"] / 0.05) * (0.5 + 0.5 * means["pc"])
        found = {name: _estimate(sums[name], counts[name], means[name], nulls[name]) for name in names if name != "cgs"}
        found["cgs_mean_of_turns"] = _estimate(sums["cgs"], counts["cgs"], means["cgs_mean_of_turns"], nulls["cgs"])
        parts = [found[name].value for name in ("gs", "cd", "pc")]
        product = None if None in parts else cgs(*parts)  # type: ignore[arg-type]
        low, high = _interval(means["cgs"]) if product is not None else (None, None)
        found["cgs"] = Estimate(product, found["gs"].n, found["pc"].n_null, low, high)
        return found


def _per_dialogue(values: list[float | None], owner: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, int]:
    defined = np.array([value is not None for value in values])
    numbers = np.array([0.0 if value is None else float(value) for value in values])
    return (
        np.bincount(owner, weights=numbers, minlength=size),
        np.bincount(owner, weights=defined.astype(float), minlength=size),
        int((~defined).sum()),
    )


def _resamples(size: int, resamples: int, seed: int) -> np.ndarray:
    """Return how often each dialogue is drawn in each replicate."""
    draws = np.random.default_rng(seed).integers(0, size, size=(resamples, size))
    return np.stack([np.bincount(row, minlength=size) for row in draws]).astype(float)


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    ratio = np.full(len(total), np.nan)
    np.divide(total, count, out=ratio, where=count > 0)
    return ratio


def _estimate(sums: np.ndarray, counts: np.ndarray, replicates: np.ndarray, n_null: int) -> Estimate:
    n = int(counts.sum())
    if n == 0:
        return Estimate(None, 0, n_null)
    return Estimate(float(sums.sum() / n), n, n_null, *_interval(replicates))


def _interval(replicates: np.ndarray) -> tuple[float | None, float | None]:
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return None, None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)
