"""Tables 14 and 15: which metric agrees with people, and which of the systems that people rated is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from hydrate.errors import UsageError
from trace_dataset.analysis.annotations import LIKERT, Annotations, Item, likert_rows, quote_rows
from trace_dataset.analysis.corpus import differences, row_names, run_key
from trace_dataset.analysis.formats import Cell, Table, count, number, probability, words
from trace_dataset.analysis.statistics import (
    complete_pairs,
    correlation_p,
    paired_t,
    spearman,
    stars,
    student_t_p,
)
from trace_dataset.analysis.swept import Pair, correlations, numbers
from trace_dataset.evaluation.bootstrap import RESAMPLES, SEED
from trace_dataset.evaluation.results import Results
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.human import citation_precision, error_free_rate, likert_mean

AUTOMATIC = ("cgs", "gs", "cd")
Column = list["float | None"]


def correlation_table(annotations: Annotations, results: Sequence[Results]) -> Table:
    """Return the counterpart of Table 14: Spearman's rho of metrics with human ratings over items.

    Raises:
        UsageError: two of the runs answer to one name.
    """
    metrics, humans = _metric_values(annotations.items, results), _human_values(annotations.items)
    position = {name: at for at, name in enumerate(dict.fromkeys(item.dialogue_id for item in annotations.items))}
    owner = np.array([position[item.dialogue_id] for item in annotations.items], dtype=np.int64)
    rows = []
    for name, values in humans.items():
        cells: list[Cell] = [words(name)]
        for metric in AUTOMATIC:
            cells += _correlation(metrics[metric], values, owner, len(position))
        rows.append(cells)
    header = ["human rating", *(f"{metric.upper()}{part}" for metric in AUTOMATIC for part in (" rho", " p", " n"))]
    found = sum(value is not None for value in metrics["gs"])
    notes = [
        "stars at 0.05, 0.01, 1e-5; p from t with n - 2; items without quotes drop out of citation precision",
        f"[low, high]: 95 % bootstrap interval over dialogues, {RESAMPLES:,} resamples, seed {SEED}; ranks stay as they are",
        f"{found} of {len(annotations.items)} items were found in the runs given",
        *_not_found(annotations.items, results, metrics["gs"]),
    ]
    keys = [[run_key(result) for result in results]] * len(rows)
    return Table(
        "table-14", "Metrics against people (paper: Table 14)", header, rows, notes, differences(results), keys
    )


def t_tests_table(annotations: Annotations, results: Sequence[Results]) -> Table:
    """Return the counterpart of Table 15: paired t-tests between systems over the dialogues that both were rated on.

    Raises:
        UsageError: two of the runs answer to one name.
    """
    systems = annotations.by_system
    rows = []
    for a, b in combinations(systems, 2):
        shared = sorted({item.dialogue_id for item in systems[a]} & {item.dialogue_id for item in systems[b]})
        first, second = (_by_dialogue(systems[name], shared, results) for name in (a, b))
        rows += [[words(metric), words(a), words(b), *_test(first[metric], second[metric])] for metric in first]
    header = ["metric", "A", "B", "mean A", "mean B", "t", "p", "stars", "dialogues n"]
    notes = [
        "two-sided, not corrected; pairs without a value on either side are left out; stars at 0.05, 0.01, 1e-5",
        "a dash for t: fewer than two dialogues with both values, or equal differences in all",
    ]
    title = "Paired t-tests between rated systems (paper: Table 15)"
    keys = [[run_key(result) for result in results]] * len(rows) if results else []
    return Table("table-15", title, header, rows, notes, differences(results), keys)


def _test(first: Column, second: Column) -> list[Cell]:
    found, pairs = paired_t(first, second), complete_pairs(first, second)
    means = [number(summarize(pair[side] for pair in pairs).mean, 2) for side in (0, 1)]
    if found is None:
        return [*means, number(None), probability(None), words("-"), count(len(pairs))]
    p = student_t_p(found["t"], found["df"])
    return [*means, number(found["t"], 2), probability(p), words(stars(p)), count(len(pairs))]


def _correlation(metric: Column, human: Column, owner: np.ndarray, size: int) -> list[Cell]:
    n, rho = len(complete_pairs(metric, human)), spearman(metric, human)
    if rho is None:
        return [Cell("-", None, n=n), probability(None), count(n)]
    [(low, high)] = correlations([Pair(owner, size, numbers(metric), numbers(human)).ranked], RESAMPLES, SEED)
    p = correlation_p(rho, n)
    ends = (None, None) if low != low else (low, high)
    interval = "" if low != low else f" [{low:.3f}, {high:.3f}]"
    shown = f"{rho:.3f}{stars(p) if p is not None else ''}{interval}"
    return [Cell(shown, rho, ends[0], ends[1], n), probability(p), count(n)]


def _human_values(items: Sequence[Item]) -> dict[str, Column]:
    return {
        "citation precision": [citation_precision(quote_rows([item])) for item in items],
        **{name: [likert_mean(likert_rows([item], name)) for item in items] for name in LIKERT},
        "error-free rate": [error_free_rate(list(item.errors.values())) for item in items],
    }


def _runs_by_name(results: Sequence[Results]) -> Mapping[str, Results]:
    """Return the runs by what an item may call them: the baseline, or the name that a report gives the run."""
    found: dict[str, Results] = {}
    for result, shown in zip(results, row_names(results), strict=True):
        for name in {result.name, shown}:
            other = found.setdefault(name, result)
            if other is not result:
                raise UsageError(
                    f"two runs of {name} were given, {run_key(other)} and {run_key(result)}",
                    do="give --runs one run for each system that was rated",
                )
    return found


def _metric_values(items: Sequence[Item], results: Sequence[Results]) -> dict[str, Column]:
    known: dict[tuple[str, str, int | None], dict[str, float | None]] = {}
    for name, result in _runs_by_name(results).items():
        ids, indexes = result.turns["dialogue_id"], result.turns["turn_index"]
        for at, (dialogue, index) in enumerate(zip(ids, indexes, strict=True)):
            known[name, dialogue, index] = {metric: result.turns[metric][at] for metric in AUTOMATIC}
    keys = [(item.system, item.dialogue_id, item.turn_index) for item in items]
    return {metric: [known.get(key, {}).get(metric) for key in keys] for metric in AUTOMATIC}


def _not_found(items: Sequence[Item], results: Sequence[Results], found: Column) -> list[str]:
    """Return notes on the items that no run has a value for, and why."""
    lost = [item for item, value in zip(items, found, strict=True) if value is None]
    without = sorted({item.system for item in lost} - set(_runs_by_name(results)))
    untold = sum(item.turn_index is None for item in lost)
    notes = [f"no run given of {', '.join(without)}"] if without else []
    if untold:
        notes.append(f"{untold} items do not say which turn they are: fill in turn_index in ratings.csv")
    other = [item.item for item in lost if item.system not in without and item.turn_index is not None]
    if other:
        shown = f"{', '.join(other[:4])}{' and more' if len(other) > 4 else ''}"
        notes.append(f"{len(other)} items name a dialogue and turn that their run did not answer: {shown}")
    return notes


def _by_dialogue(items: Sequence[Item], dialogues: Collection[str], results: Sequence[Results]) -> dict[str, Column]:
    """Return for each metric one value a dialogue, the mean over the system's items in it."""
    values = _human_values(items)
    if results:
        values |= {name.upper(): column for name, column in _metric_values(items, results).items()}
    at = {dialogue: [i for i, item in enumerate(items) if item.dialogue_id == dialogue] for dialogue in dialogues}
    return {
        name: [summarize(column[i] for i in at[dialogue]).mean for dialogue in dialogues]
        for name, column in values.items()
    }
