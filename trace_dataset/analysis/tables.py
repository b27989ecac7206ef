"""Tables 5 and 6 and their breakdowns: accuracy, text, grounding, recovery and practical value of every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trace_dataset.analysis.catalogue import COMPETENCIES, HEADLINE, METRICS, TABLE_5, TABLE_6, ranks_of
from trace_dataset.analysis.corpus import CONTROL_MARK, Corpus, corpora, told_apart
from trace_dataset.analysis.entailment_tables import entailment_label
from trace_dataset.analysis.formats import Cell, Table, count, estimate, share, words
from trace_dataset.analysis.swept import IN_USE
from trace_dataset.evaluation.results import GROUPS, RESAMPLES, Estimate, Results, estimate_tables

ENTAILMENT = "entailment grounding and CGSent (trace-dataset entail)"
NOT_COMPUTED = "the five judge ratings (a judge model) and the four human metrics (trace-dataset agreement)"
GROUP_NAMES = {
    "difficulty": "difficulty tier",
    "city": "city",
    "poi_type": "place type",
    "persona": "persona",
    "split": "split",
}
RESTS = ("turns n", "rejections n", "failed", "GS vacuous", "PC vacuous")
Sizes = Mapping[str, Callable[[Mapping[str, Estimate]], int]]
SIZES_5: Sizes = {"T2R misses": lambda found: found["t2r_hits"].n_null - found["tsr"].n_null}
SIZES_6: Sizes = {
    "Spatial n": lambda found: found["spatial_coherence"].n,
    "Price n": lambda found: found["price_alignment"].n,
    "Preference n": lambda found: found["preference_coverage"].n,
}
_TIER_ORDER = ("easy", "medium", "hard", "expert", "train", "validation", "test")


def competency_table(results: Sequence[Results], full: bool = False) -> Table:
    """Return one row a run: estimates with 95 % intervals, n of each competency, failed turns.

    Args:
        full: every column of Tables 5 and 6 instead of the three competencies.
    """
    [corpus] = corpora(results, RESAMPLES).values()
    return competencies(corpus, full)


def competencies(corpus: Corpus, full: bool = False) -> Table:
    """Return `competency_table` of runs whose estimates may be there already."""
    groups = {**TABLE_5, **TABLE_6} if full else COMPETENCIES
    return _table(corpus, "competencies", "The three competencies", groups)


def main_table(corpus: Corpus) -> Table:
    """Return the counterpart of the paper's Table 5 for one pool."""
    return _table(
        corpus, f"table-5-{corpus.pool}", f"Main results, pool {corpus.pool} (paper: Table 5)", TABLE_5, SIZES_5
    )


def stress_table(corpus: Corpus, opened: Corpus | None) -> Table:
    """Return the counterpart of the paper's Table 6: stress axes; open-set R@1 comes from runs over the open pool.

    Entailment grounding stands there for runs whose claims were scored (`trace-dataset entail`).
    """
    title = f"Stress axes, pool {corpus.pool} (paper: Table 6)"
    table = _table(corpus, f"table-6-{corpus.pool}", title, TABLE_6, SIZES_6)
    rows, sources = [], []
    before = 1 + len(TABLE_6["Grounding"])
    for at, row in enumerate(table.rows):
        other = counterpart(corpus.results[at], opened)
        found = opened.estimates[other]["recall_at_1"] if opened is not None and other is not None else None
        entailed = corpus.swept[at].get(IN_USE)
        shown = [Cell("-", None) if item is None else estimate(item) for item in (found, entailed)]
        rows.append([row[0], shown[0], *row[1:before], shown[1], *row[before:]])
        sources.append(
            [*corpus.sources[at], *(opened.sources[other] if opened is not None and other is not None else [])]
        )
    groups = {"Open set": 1, **table.groups, "Grounding": table.groups["Grounding"] + 1}
    missing = "open R@1: the run of the same baseline over the open pool; a dash where there is none"
    return replace(
        table,
        header=[
            table.header[0],
            "open R@1",
            *table.header[1:before],
            entailment_label(corpus.results),
            *table.header[before:],
        ],
        rows=rows,
        sources=sources,
        groups=groups,
        notes=[*table.notes, missing],
    )


def counterpart(result: Results, other: Corpus | None) -> int | None:
    """Return the position in another corpus of the run of the same baseline on the same benchmark; None without one."""
    if other is None:
        return None
    wanted = _identity(result)
    matches = [at for at, item in enumerate(other.results) if _identity(item) == wanted]
    return matches[0] if matches else None


def _identity(result: Results) -> list[object]:
    """Return what two runs of one system share, whatever their pools: baseline, benchmark, code, seed and model."""
    keys = ("baseline", "content_digest", "split", "code", "seed")
    return [*(result.settings.get(key) for key in keys), *told_apart(result)]


def breakdowns(corpus: Corpus) -> list[Table]:
    """Return one table a group (tier, city, type, persona, split): the three headline metrics of every run in each part."""
    found = []
    for column in GROUPS:
        values = {str(value) for result in corpus.results for value in result.dialogues.get(column, ())}
        if values:
            order = sorted(values, key=lambda value: (_TIER_ORDER.index(value) if value in _TIER_ORDER else 99, value))
            found.append(_breakdown(corpus, column, order))
    return found


def above_chance(estimates: Mapping[str, Estimate], chance: Mapping[str, Estimate], metric: str) -> bool:
    """Return whether a result's interval lies wholly above the control's value."""
    low, floor = estimates[metric].low, chance[metric].value
    return low is not None and floor is not None and low > floor


def _breakdown(corpus: Corpus, column: str, values: Sequence[str]) -> Table:
    flags = [np.array(result.dialogues[column], dtype=object) for result in corpus.results]
    parts = [(value, at) for value in values for at in range(len(corpus.results))]
    tables = [corpus.results[at].cluster_sums.take(flags[at] == value) for value, at in parts]
    found = dict(zip(parts, estimate_tables(tables, RESAMPLES), strict=True))
    header = [GROUP_NAMES[column], "metric", "dialogues", *corpus.names]
    rows = []
    for _, metric in HEADLINE:
        for value in values:
            size = max(int((flag == value).sum()) for flag in flags)
            cells = [estimate(found[value, at][metric]) for at in range(len(corpus.results))]
            rows.append([words(value), words(METRICS[metric].label), count(size), *cells])
    keys = [key for [key] in corpus.sources]
    return Table(
        f"by-{column.replace('_', '-')}-{corpus.pool}",
        f"By {GROUP_NAMES[column]}, pool {corpus.pool}",
        header,
        rows,
        [
            corpus.described,
            f"[low, high]: 95 % bootstrap interval over the part's dialogues, {RESAMPLES:,} resamples, seed 42",
        ],
        corpus.warnings,
        [keys] * len(rows),
    )


def _table(
    corpus: Corpus, name: str, title: str, groups: Mapping[str, Sequence[str]], more: Sizes | None = None
) -> Table:
    metrics = [metric for names in groups.values() for metric in names]
    header = ["system", *(METRICS[metric].label for metric in metrics), *RESTS, *(more or {})]
    marks = {metric: _marks(corpus, metric) for metric in metrics}
    rows = []
    for at, (result, estimates) in enumerate(zip(corpus.results, corpus.estimates, strict=True)):
        cells = [estimate(estimates[metric], marks[metric][at]) for metric in metrics]
        rests = [count(estimates["recall_at_1"].n), count(estimates["rejection_recovery"].n), count(result.n_failed)]
        parts = (result.vacuous("gs"), result.vacuous("pc"))
        sizes = [count(size(estimates)) for size in (more or {}).values()]
        rows.append([words(corpus.names[at]), *cells, *rests, *(share(*part) for part in parts), *sizes])
    widths = {**{title: len(names) for title, names in groups.items()}, "Rests on": len(RESTS) + len(more or {})}
    return Table(name, title, header, rows, _notes(corpus), corpus.warnings, corpus.sources, widths)


def _marks(corpus: Corpus, metric: str) -> list[int | None]:
    """Return the marks of best and second best; a control has none, and runs that may not be compared have none."""
    if corpus.warnings:
        return [None] * len(corpus.results)
    column = [
        None if item.control else found[metric] for item, found in zip(corpus.results, corpus.estimates, strict=True)
    ]
    return ranks_of(METRICS[metric], column)


def _without_entailment(corpus: Corpus) -> list[str]:
    """Return a note that names the runs whose claims were not scored."""
    lacking = [name for name, item in zip(corpus.names, corpus.results, strict=True) if not item.entailment]
    shown = "these runs" if len(lacking) == len(corpus.results) else ", ".join(lacking)
    return [f"not in {shown}: {ENTAILMENT}"] if lacking else []


def _notes(corpus: Corpus) -> list[str]:
    notes = [
        corpus.described,
        f"[low, high]: 95 % bootstrap interval over dialogues, {corpus.resamples:,} resamples, seed 42; "
        f"{CONTROL_MARK.strip()} control, not a system, and not ranked",
        "(1) or bold: best; (2), italics or underlined: second best, as printed; ties share a mark",
        "CGS: product of corpus means. RejRec: rejected places do not count. T2R: a miss is charged the dialogue's length; "
        "lower is better. Price: mean of dialogues' means",
        "GS is 1 where nothing is quoted, PC is 1 where a recommendation names none of the terms: see the two vacuous shares",
        *_without_entailment(corpus),
        f"not in these runs: {NOT_COMPUTED}",
    ]
    chance = next(
        (found for item, found in zip(corpus.results, corpus.estimates, strict=True) if item.name == "random_unseen"),
        None,
    )
    if chance is not None:
        weak = [
            corpus.names[at]
            for at in corpus.systems
            if not above_chance(corpus.estimates[at], chance, "rejection_recovery")
        ]
        if weak:
            notes.append(
                "rejection recovery no better than chance among places not yet named (random_unseen): "
                + ", ".join(weak)
            )
    return notes
