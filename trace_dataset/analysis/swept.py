"""Means that only a sensitivity table speaks of, each with its interval, from one pass over the draws (definitions, 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_dataset.analysis.statistics import ranks
from trace_dataset.evaluation.bootstrap import Columns, percentile_interval, resampled_ratios, resampled_totals
from trace_dataset.evaluation.entailed import CATEGORIES, PROBABILITIES, entailment_column
from trace_dataset.evaluation.results import Estimate, Results, estimate_of, per_dialogue, product_of_means
from trace_dataset.evaluation.variants import DISTANCES, SENTENCES, THRESHOLDS, WINDOWS
from trace_dataset.schema import RECOMMENDING
from trace_dataset.scoring.composite import cgs
from trace_dataset.scoring.entailment import CATEGORIES as KINDS

ENTAILED = {f"entailment_{threshold:g}": threshold for threshold in (0.3, 0.4, 0.5, 0.6, 0.7)}
IN_USE = "entailment_0.5"
KIND_MEANS = {kind: f"mean_entailment_{kind}" for kind in KINDS}
Array = NDArray[np.float64]
Column = tuple[Array, Array, int]  # sums and counts by dialogue, and how many units had no value
Values = Sequence["float | None"]


def swept(results: Sequence[Results], resamples: int, seed: int) -> list[dict[str, Estimate]]:
    """Return for each run the mean of every column that a threshold, window, distance, gold or model changes.

    Keys are the columns of the scores, and `lift`, `recall_there`, `multi_there`, `lift_there` (turns with alternatives),
    `sentences_…` (shares), and where claims are stored `entailment_…`, `fuzzy_there`, `gap`, `mean_entailment_…`, `cgs_ent`.
    """
    columns = [_columns(result) for result in results]
    wanted = [(sums, counts) for table in columns for sums, counts, _ in table.values()]
    replicates = iter(resampled_ratios(wanted, resamples, seed))
    found = []
    for result, table in zip(results, columns, strict=True):
        drawn = {name: next(replicates) for name in table}
        row = {name: estimate_of(sums, counts, n_null, drawn[name]) for name, (sums, counts, n_null) in table.items()}
        if result.entailment:
            row["cgs_ent"] = _composite(row, drawn)
        found.append(row)
    return found


@dataclass(frozen=True)
class Pair:
    """Two columns whose correlation is asked: the dialogue of every unit, how many dialogues there are, and both values."""

    owner: NDArray[np.int64]
    size: int
    x: Array
    y: Array

    def among(self, kept: NDArray[np.bool_]) -> Pair:
        """Return the pair over some of the units."""
        return Pair(self.owner[kept], self.size, self.x[kept], self.y[kept])

    @property
    def complete(self) -> Pair:
        """The pair over the units that have both values."""
        return self.among(~(np.isnan(self.x) | np.isnan(self.y)))

    @property
    def ranked(self) -> Pair:
        """The pair by ranks, ties at their average, over the units that have both values."""
        whole = self.complete
        return Pair(whole.owner, whole.size, np.array(ranks(whole.x)), np.array(ranks(whole.y)))


def numbers(values: Values) -> Array:
    """Return values as an array; NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def correlations(wanted: Sequence[Pair], resamples: int, seed: int) -> list[tuple[float, float]]:
    """Return the interval of Pearson's r of each pair, dialogues drawn with replacement; NaN where it has none.

    Pairs over equally many dialogues share one pass over the draws.
    """
    found = {}
    for size in {pair.size for pair in wanted}:
        columns, here = Columns(), [at for at, pair in enumerate(wanted) if pair.size == size]
        places = [[columns.add(part) for part in _moments(wanted[at].complete)] for at in here]
        totals = resampled_totals(columns.matrix(), resamples, seed) if size else np.empty((0, len(columns.rows)))
        for at, six in zip(here, places, strict=True):
            found[at] = percentile_interval(_pearson(*(totals[:, place] for place in six)))
    return [found[at] for at in range(len(wanted))]


def _moments(pair: Pair) -> list[Array]:
    """Return by dialogue what Pearson's r adds up, of values around their means, against cancellation."""
    x, y = (side - (side.mean() if len(side) else 0.0) for side in (pair.x, pair.y))
    parts = (np.ones(len(x)), x, y, x * y, x * x, y * y)
    return [np.bincount(pair.owner, weights=part, minlength=pair.size).astype(float) for part in parts]


def _pearson(n: Array, x: Array, y: Array, xy: Array, xx: Array, yy: Array) -> Array:
    spread = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    found: Array = np.full(len(n), np.nan)
    np.divide(n * xy - x * y, np.sqrt(spread), out=found, where=spread > 1e-18)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _columns(result: Results) -> dict[str, Column]:
    size, turns = len(result.dialogues["dialogue_id"]), result.turns
    single, multi, some = turns["recall_at_1"], turns["recall_at_1_multi"], turns["has_alternatives"]
    lift = [None if a is None or b is None else b - a for a, b in zip(single, multi, strict=True)]
    by_turn: dict[str, Values] = {
        **{name: turns[name] for name in (*THRESHOLDS, *WINDOWS, "cd_quoted", "ranking_recall_at_16")},
        "lift": lift,
        **{
            f"{name}_there": [value if kept else None for value, kept in zip(side, some, strict=True)]
            for name, side in (("recall", single), ("multi", multi), ("lift", lift))
        },
        **_entailed(result),
    }
    each = np.arange(size)
    found = {name: _column(values, result.owner, size) for name, values in by_turn.items()}
    found |= {name: _column(result.dialogues[name], each, size) for name in DISTANCES}
    kinds = {name: _column(turns[name], result.owner, size)[0] for name in SENTENCES.values()}
    every = np.sum(list(kinds.values()), axis=0)
    return found | {name: (sums, every, 0) for name, sums in kinds.items()} | _by_kind(result, size)


def _entailed(result: Results) -> Mapping[str, Values]:
    if not result.entailment:
        return {}
    found: dict[str, Values] = {name: entailment_column(result, value) for name, value in ENTAILED.items()}
    pairs = list(zip(result.turns["gs"], found[IN_USE], strict=True))
    return {
        **found,
        **{name: result.turns[name] for name in ("cd", "pc")},
        "fuzzy_there": [None if value is None else gs for gs, value in pairs],
        "gap": [None if value is None else value - gs for gs, value in pairs],
    }


def _by_kind(result: Results, size: int) -> dict[str, Column]:
    """Return the probabilities of entailment by kind of sentence, over recommending turns (definitions, 9.11)."""
    if not result.entailment:
        return {}
    sums, counts = ({kind: np.zeros(size) for kind in KINDS} for _ in range(2))
    rows = zip(result.owner, result.turns["action"], result.turns[CATEGORIES], result.turns[PROBABILITIES], strict=True)
    for owner, action, kinds, values in rows:
        for kind, value in zip(kinds or (), values or (), strict=True) if action in RECOMMENDING else ():
            sums[kind][owner] += value
            counts[kind][owner] += 1
    return {name: (sums[kind], counts[kind], 0) for kind, name in KIND_MEANS.items()}


def _composite(row: Mapping[str, Estimate], drawn: Mapping[str, Array]) -> Estimate:
    """Return CGSent, the product of means with entailment in the place of GS."""
    parts = [row[name].value for name in (IN_USE, "cd", "pc")]
    if None in parts:
        return Estimate(None, row[IN_USE].n, row[IN_USE].n_null)
    low, high = percentile_interval(product_of_means({"gs": drawn[IN_USE], "cd": drawn["cd"], "pc": drawn["pc"]}))
    return Estimate(cgs(*parts), row[IN_USE].n, row[IN_USE].n_null, low, high)  # type: ignore[arg-type]


def _column(values: Values, owner: NDArray[np.int64], size: int) -> Column:
    sums, counts, nulls = per_dialogue(values, owner, size)
    return sums, counts, int(nulls.sum())
