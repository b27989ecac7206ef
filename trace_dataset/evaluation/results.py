"""Scores of one run, and what they add up to: every mean with its n, its nulls and a bootstrap interval."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from trace_dataset.evaluation.bootstrap import SEED, percentile_interval, resampled_ratios
from trace_dataset.scoring.composite import FLOOR, TAU, cgs
from trace_dataset.streams import digest

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
DIALOGUE_MEANS = ("tsr", "t2r", "t2r_hits", "spatial_coherence")
WITHIN_FIRST = ("price_alignment",)  # turn values that are averaged within a dialogue first, then over dialogues (M12)
RATES = {"rejection_recovery": "recovered", "rejection_recovery_literal": "recovered_literal"}
GROUPS = ("difficulty", "city", "poi_type", "persona", "split")  # what a table can be broken down by
RESAMPLES = 1_000  # of a quick look; a report takes bootstrap.RESAMPLES
PRODUCT = "cgs"  # the paper's product of corpus means; the mean of turn values is `cgs_mean_of_turns`
Array = NDArray[np.float64]


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
class ClusterSums:
    """Per dialogue (rows) and metric (columns): the sum of the defined values, how many there are, and how many are not."""

    names: tuple[str, ...]
    sums: Array
    counts: Array
    nulls: Array

    def of(self, name: str) -> tuple[Array, Array]:
        """Return sums and counts of one metric, one entry a dialogue."""
        at = self.names.index(name)
        return self.sums[:, at], self.counts[:, at]

    def take(self, rows: NDArray[np.bool_]) -> ClusterSums:
        """Return the table of some dialogues."""
        return ClusterSums(self.names, self.sums[rows], self.counts[rows], self.nulls[rows])


@dataclass(frozen=True)
class Results:
    """Scores of one run: `turns` and `dialogues` are columns of equal length."""

    settings: Mapping[str, Any]
    turns: Mapping[str, list[Any]]
    dialogues: Mapping[str, list[Any]]
    versions: Mapping[str, Any] = field(default_factory=dict)
    entailment: str | None = None  # the model whose probabilities stand among the turn columns

    def __repr__(self) -> str:
        found = self.estimates()
        shown = ", ".join(f"{key} {found[key]}" for key in ("recall_at_1", "cgs", "rejection_recovery"))
        return f"Results({self.name}, {len(self.dialogues['dialogue_id']):,} dialogues: {shown})"

    @property
    def name(self) -> str:
        """The baseline's name."""
        return str(self.settings["baseline"])

    @property
    def control(self) -> bool:
        """Whether this is a control row, which no one would run as a system."""
        return bool(self.settings.get("control"))

    @property
    def fingerprint(self) -> str:
        """Digest of everything that the responses depend on; that of the run's folder."""
        return settings_digest(self.settings)

    @property
    def n_failed(self) -> int:
        """System turns without an answer; they are scored as misses."""
        return sum(self.turns["failed"])

    def vacuous(self, metric: str) -> tuple[int, int]:
        """Return how many turns of a mean score 1 with nothing measured, and how many turns the mean is over.

        Args:
            metric: "gs" (nothing is quoted) or "pc" (none of the terms). A turn without an answer scores 0 and is left out.
        """
        turns = self.turns
        flags = [many == 0 for many in turns["n_quotes"]] if metric == "gs" else turns["vacuous_pc"]
        rows = zip(flags, turns[metric], turns["failed"], strict=True)
        found = [bool(flag) and not failed for flag, value, failed in rows if value is not None]
        return sum(found), len(found)

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """For each turn the position of its dialogue."""
        position = {identifier: index for index, identifier in enumerate(self.dialogues["dialogue_id"])}
        return np.array([position[identifier] for identifier in self.turns["dialogue_id"]], dtype=np.int64)

    @cached_property
    def cluster_sums(self) -> ClusterSums:
        """The run's values added up by dialogue: all that a mean or a bootstrap needs."""
        size = len(self.dialogues["dialogue_id"])
        rows = {name: per_dialogue(self.turns[name], self.owner, size) for name in TURN_METRICS}
        rows |= {name: within_dialogues(*rows[name][:2]) for name in WITHIN_FIRST}
        each = np.arange(size)
        rows |= {name: per_dialogue(self.dialogues[name], each, size) for name in DIALOGUE_MEANS}
        episodes = np.array(self.dialogues["rejections"], dtype=float)
        for name, column in RATES.items():
            recovered = np.array([value or 0 for value in self.dialogues[column]], dtype=float)
            rows[name] = recovered, episodes, np.zeros(size)
        rows["cgs_mean_of_turns"] = rows.pop("cgs")
        return ClusterSums(tuple(rows), *(np.column_stack([found[at] for found in rows.values()]) for at in range(3)))

    def among(self, wanted: Collection[str]) -> Results:
        """Return the results over some of the dialogues, in the same order; itself where that is all of them."""
        kept = [identifier in wanted for identifier in self.dialogues["dialogue_id"]]
        if all(kept):
            return self
        turns = [identifier in wanted for identifier in self.turns["dialogue_id"]]
        return replace(
            self,
            turns={name: list(compress(values, turns)) for name, values in self.turns.items()},
            dialogues={name: list(compress(values, kept)) for name, values in self.dialogues.items()},
        )

    def estimates(self, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Estimate]:
        """Return every metric's estimate.

        Dialogues are drawn with replacement, and each replicate pools the turns of those drawn (definitions, 9.1).
        `cgs` is the paper's product of corpus means, `cgs_mean_of_turns` the mean of turn values.
        """
        return estimate_all([self], resamples, seed)[0]


def estimate_all(results: Sequence[Results], resamples: int = RESAMPLES, seed: int = SEED) -> list[dict[str, Estimate]]:
    """Return the estimates of several runs; runs of equally many dialogues share one pass over the draws."""
    return estimate_tables([result.cluster_sums for result in results], resamples, seed)


def estimate_tables(
    tables: Sequence[ClusterSums], resamples: int = RESAMPLES, seed: int = SEED
) -> list[dict[str, Estimate]]:
    """Return the estimates of several tables of sums; tables of equally many dialogues share one pass over the draws."""
    wanted = [table.of(name) for table in tables for name in table.names]
    drawn = iter(resampled_ratios(wanted, resamples, seed))
    return [_estimates(table, np.column_stack([next(drawn) for _ in table.names])) for table in tables]


def product_of_means(means: Mapping[str, Array]) -> Array:
    """Return CGS as a product of means, replicate by replicate."""
    return means["gs"] * np.minimum(1, means["cd"] / TAU) * (FLOOR + (1 - FLOOR) * means["pc"])


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return the digest of a run's settings: everything that its responses depend on."""
    return digest(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS).decode()).hex()[:32]


def per_dialogue(values: Sequence[float | None], owner: NDArray[np.int64], size: int) -> tuple[Array, Array, Array]:
    """Return for each dialogue the sum of its defined values, their number, and the number of undefined ones."""
    numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    defined = ~np.isnan(numbers)
    parts = (np.where(defined, numbers, 0.0), defined.astype(float), (~defined).astype(float))
    sums, counts, nulls = (np.bincount(owner, weights=part, minlength=size).astype(float) for part in parts)
    return sums, counts, nulls


def within_dialogues(sums: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Return the mean of each dialogue in the place of its sum, and 1 in the place of a count: a dialogue is a unit then."""
    defined = counts > 0
    return (
        np.divide(sums, counts, out=np.zeros(len(sums)), where=defined),
        defined.astype(float),
        (~defined).astype(float),
    )


def _estimates(table: ClusterSums, means: Array) -> dict[str, Estimate]:
    replicates = {name: means[:, at] for at, name in enumerate(table.names)}
    found = {
        name: estimate_of(*table.of(name), int(table.nulls[:, at].sum()), replicates[name])
        for at, name in enumerate(table.names)
    }
    parts = [found[name].value for name in ("gs", "cd", "pc")]
    product = None if None in parts else cgs(*parts)  # type: ignore[arg-type]
    interval = _interval(product_of_means(replicates)) if product is not None else (None, None)
    found[PRODUCT] = Estimate(product, found["gs"].n, found["pc"].n_null, *interval)
    return found


def estimate_of(sums: Array, counts: Array, n_null: int, replicates: Array) -> Estimate:
    """Return the mean of sums and counts by dialogue, with the interval that its resamples give."""
    n = int(counts.sum())
    if n == 0:
        return Estimate(None, 0, n_null)
    return Estimate(float(sums.sum() / n), n, n_null, *_interval(replicates))


def _interval(replicates: Array) -> tuple[float | None, float | None]:
    low, high = percentile_interval(replicates)
    return (None, None) if np.isnan(low) else (low, high)
