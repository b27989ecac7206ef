"""Systems against each other on the same dialogues: Table 21 (paired cluster bootstrap), paired tests, Table 20 (spread)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hydrate.errors import UsageError
from trace_dataset.analysis.catalogue import COMPARED, METRICS
from trace_dataset.analysis.corpus import Corpus, differences, run_key
from trace_dataset.analysis.formats import Cell, Table, count, estimate, number, probability, words
from trace_dataset.analysis.statistics import holm, paired_t, stars, student_t_p, wilcoxon_p
from trace_dataset.evaluation.bootstrap import (
    RESAMPLES,
    SEED,
    Columns,
    Comparison,
    comparison,
    ratio,
    resampled_totals,
)
from trace_dataset.evaluation.results import DIALOGUE_MEANS, RATES, WITHIN_FIRST, Results, within_dialogues
from trace_dataset.scoring.aggregate import turn_sd

Array = NDArray[np.float64]
SPREAD = ("bleu4", "gs", "cd", "pc", "cgs_mean_of_turns", "recall_at_1")


@dataclass(frozen=True)
class Contrast:
    """One system minus another on one metric."""

    a: Results
    b: Results
    metric: str
    found: Comparison
    p_holm: float


def contrasts(
    results: Sequence[Results],
    metrics: Sequence[str] = COMPARED,
    pairs: Sequence[tuple[int, int]] | None = None,
    n_boot: int = RESAMPLES,
    seed: int = SEED,
) -> list[Contrast]:
    """Return every pair's difference on every metric, from one set of draws, with Holm's correction over all of them.

    Per dialogue only turns defined for both systems count (definitions, 9.1). Metrics without a common turn are left out.

    Args:
        results: runs over the same dialogues in the same order.
        pairs: positions of the systems to compare; None compares all.

    Raises:
        UsageError: the runs are over different dialogues.
    """
    check_same_dialogues(results)
    chosen = list(combinations(range(len(results)), 2)) if pairs is None else list(pairs)
    wanted = [(a, b, metric) for a, b in chosen for metric in metrics]
    plans = {key: _columns_of(results[key[0]], results[key[1]], key[2]) for key in wanted}
    kept = {key: plan for key, plan in plans.items() if plan[2].any()}
    if not kept:
        return []
    replicates = differences_of(list(kept.values()), n_boot, seed)
    found = {}
    for at, (key, (first, second, counts)) in enumerate(kept.items()):
        delta = (math.fsum(first) - math.fsum(second)) / math.fsum(counts)
        found[key] = comparison(delta, replicates[:, at], counts)
    adjusted = holm([item.p for item in found.values()])
    return [
        Contrast(results[a], results[b], metric, item, p)
        for ((a, b, metric), item), p in zip(found.items(), adjusted, strict=True)
    ]


def differences_of(wanted: Sequence[tuple[Array, Array, Array]], n_boot: int = RESAMPLES, seed: int = SEED) -> Array:
    """Return the difference of means of every resample (rows) and contrast (columns), all from one set of draws.

    A column that several contrasts share, such as a system's sums, goes through the draws once.

    Args:
        wanted: for each contrast the sums of both systems, and the counts they share, by dialogue.
    """
    columns = Columns()
    places = [tuple(columns.add(values) for values in contrast) for contrast in wanted]
    totals = resampled_totals(columns.matrix(), n_boot, seed)
    found = np.empty((n_boot, len(places)))
    for at, (first, second, counts) in enumerate(places):
        found[:, at] = ratio(totals[:, first] - totals[:, second], totals[:, counts])
    return found


def check_same_dialogues(results: Sequence[Results]) -> None:
    """Refuse a paired comparison of runs over other dialogues."""
    for other in results[1:]:
        same = other.dialogues["dialogue_id"] == results[0].dialogues["dialogue_id"]
        if not same or other.settings["content_digest"] != results[0].settings["content_digest"]:
            raise UsageError(
                f"{results[0].name} and {other.name} were run over different dialogues, so they cannot be paired",
                do="run both over the same benchmark, split and limit",
            )


def bootstrap_table(corpus: Corpus, metrics: Sequence[str] = COMPARED) -> list[Table]:
    """Return the counterpart of Table 21, one table for each group of runs over the same dialogues."""
    tables: list[Table] = []
    for group in corpus.comparable:
        results = [corpus.results[at] for at in group]
        names = dict(zip(map(run_key, results), (corpus.names[at] for at in group), strict=True))
        found = contrasts(results, metrics, n_boot=corpus.resamples)
        if not found:
            continue
        notes = [
            corpus.described,
            f"{corpus.resamples:,} resamples of dialogues, seed 42; turns defined for both systems; percentile interval",
            f"Holm's correction over all {len(found):,} comparisons; a p below {2 / (corpus.resamples + 1):.1e}, the smallest "
            "that so many resamples can show, is the tail of Student's t over the resamples' mean and deviation",
            "CGS enters as the mean of turn values, the only form that has a value a turn",
            *_left_out(len(found), len(group), metrics, "no value that both systems have"),
        ]
        tables.append(
            Table(
                f"table-21-{corpus.pool}{f'-{len(tables) + 1}' if tables else ''}",
                f"Paired cluster bootstrap, pool {corpus.pool} (paper: Table 21)",
                ["A", "B", "metric", "A - B", "0 outside", "p", "p Holm", "dialogues", "turns n"],
                [_contrast_row(item, names) for item in found],
                notes,
                differences(results),
                [[run_key(item.a), run_key(item.b)] for item in found],
            )
        )
    return tables


def paired_tests_table(corpus: Corpus, metrics: Sequence[str] = COMPARED) -> list[Table]:
    """Return paired t and Wilcoxon tests over dialogue means, one table for each group of runs over the same dialogues."""
    tables: list[Table] = []
    for group in corpus.comparable:
        rows: list[list[Cell]] = []
        sources: list[list[str]] = []
        means = {(at, metric): dialogue_means(corpus.results[at], metric) for at in group for metric in metrics}
        for a, b in combinations(group, 2):
            for metric in metrics:
                row = _test_row(means[a, metric], means[b, metric])
                if row:
                    rows.append([words(corpus.names[a]), words(corpus.names[b]), words(METRICS[metric].label), *row])
                    sources.append([run_key(corpus.results[a]), run_key(corpus.results[b])])
        if rows:
            notes = [
                corpus.described,
                "two-sided, not corrected; stars at 0.05, 0.01, 1e-5; a dialogue without a value on either side is left out",
                *_left_out(
                    len(rows), len(group), metrics, "fewer than two dialogues in common, or equal differences in all"
                ),
            ]
            tables.append(
                Table(
                    f"paired-tests-{corpus.pool}{f'-{len(tables) + 1}' if tables else ''}",
                    f"Paired tests over dialogue means, pool {corpus.pool}",
                    ["A", "B", "metric", "n", "mean A", "mean B", "t", "df", "p", "stars", "Cohen's d", "Wilcoxon p"],
                    rows,
                    notes,
                    differences([corpus.results[at] for at in group]),
                    sources,
                )
            )
    return tables


def spread_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 20: means and standard deviations (n - 1) over turns."""
    header = ["system", *(f"{METRICS[name].label}{part}" for name in SPREAD for part in ("", " sd"))]
    rows = []
    for result, name, found in zip(corpus.results, corpus.names, corpus.estimates, strict=True):
        cells = []
        for metric in SPREAD:
            mean = found[metric]
            cells += [estimate(mean), replace(number(turn_sd([_values(result, metric)])), n=mean.n)]
        rows.append([words(name), *cells, count(found["gs"].n), count(found["pc"].n)])
    return Table(
        f"table-20-{corpus.pool}",
        f"Means and standard deviations over turns, pool {corpus.pool} (paper: Table 20)",
        [*header, "turns n", "recommending turns n"],
        rows,
        [
            corpus.described,
            corpus.intervals,
            "sd: sample standard deviation over the defined turns; turns of one dialogue are not independent",
            "PC, CGS and R@1 are over recommending turns, the others over all",
        ],
        corpus.warnings,
        corpus.sources,
    )


def dialogue_means(result: Results, metric: str) -> list[float | None]:
    """Return one value a dialogue: the mean over its defined turns, or the dialogue's own value; None where undefined."""
    sums, counts = result.cluster_sums.of(metric)
    return [None if not many else float(total / many) for total, many in zip(sums, counts, strict=True)]


def _left_out(found: int, systems: int, metrics: Sequence[str], why: str) -> list[str]:
    """Return a note where some comparisons have no row."""
    wanted = math.comb(systems, 2) * len(metrics)
    return [f"{wanted - found:,} of {wanted:,} comparisons have no row: {why}"] if wanted > found else []


def _columns_of(first: Results, second: Results, metric: str) -> tuple[Array, Array, Array]:
    """Return what a contrast needs by dialogue: the sums of both systems and the counts, over turns defined for both."""
    if metric in RATES:
        (recovered, episodes), (other, _) = first.cluster_sums.of(metric), second.cluster_sums.of(metric)
        return recovered, other, episodes
    x, y = _numbers(first, metric), _numbers(second, metric)
    both = ~(np.isnan(x) | np.isnan(y))
    owner = (np.arange(len(x)) if metric in DIALOGUE_MEANS else first.owner)[both]
    size = len(first.dialogues["dialogue_id"])
    first_sums, second_sums = (np.bincount(owner, weights=side[both], minlength=size).astype(float) for side in (x, y))
    counts = np.bincount(owner, minlength=size).astype(float)
    if metric in WITHIN_FIRST:
        (first_sums, units, _), (second_sums, _, _) = (
            within_dialogues(sums, counts) for sums in (first_sums, second_sums)
        )
        return first_sums, second_sums, units
    return first_sums, second_sums, counts


def _contrast_row(item: Contrast, names: Mapping[str, str]) -> list[Cell]:
    found = item.found
    shown = f"{found.delta:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return [
        words(names[run_key(item.a)]),
        words(names[run_key(item.b)]),
        words(METRICS[item.metric].label),
        Cell(shown, found.delta, found.low, found.high),
        words("yes" if found.significant else "no"),
        probability(found.p),
        probability(item.p_holm),
        count(found.n_dialogues),
        count(found.n_turns),
    ]


def _numbers(result: Results, metric: str) -> Array:
    return np.array([np.nan if value is None else value for value in _values(result, metric)], dtype=float)


def _values(result: Results, metric: str) -> list[float | None]:
    if metric in DIALOGUE_MEANS:
        return result.dialogues[metric]
    return result.turns["cgs" if metric == "cgs_mean_of_turns" else metric]


def _test_row(a: Sequence[float | None], b: Sequence[float | None]) -> list[Cell] | None:
    found = paired_t(a, b)
    if found is None:
        return None
    p = student_t_p(found["t"], found["df"])
    return [
        count(int(found["n"])),
        number(found["mean_a"]),
        number(found["mean_b"]),
        number(found["t"], 2),
        count(int(found["df"])),
        probability(p),
        words(stars(p)),
        number(found["cohens_d"], 2),
        probability(wilcoxon_p(a, b)),
    ]
