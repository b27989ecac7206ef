"""Fuzzy against entailment grounding (Tables 17 and 22), from stored probabilities; no model is asked."""

from __future__ import annotations

import math
from dataclasses import replace

from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.formats import Cell, Table, count, number, words
from trace_dataset.analysis.sensitivity import rank_correlation
from trace_dataset.analysis.statistics import complete_pairs, kendall_tau_b
from trace_dataset.evaluation.entailed import CATEGORIES, PROBABILITIES, entailment_column
from trace_dataset.evaluation.results import Results
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.composite import cgs
from trace_dataset.scoring.entailment import CATEGORIES as KINDS
from trace_dataset.scoring.entailment import THRESHOLD

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
UNSURE = (0.1, 0.9)  # claims with a probability between these


def entailment_tables(corpus: Corpus) -> list[Table]:
    """Return the tables of the runs that have stored probabilities; nothing where none has."""
    if not any(result.entailment for result in corpus.results):
        return []
    return [versus_table(corpus), composite_table(corpus), thresholds_table(corpus), kinds_table(corpus)]


def versus_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 17: GS by fuzzy match and by entailment, over the same turns."""
    rows, pairs = [], []
    for at, result in enumerate(corpus.results):
        fuzzy, entailed = _both(result)
        gap = None if fuzzy is None or entailed is None else entailed - fuzzy
        n = summarize(entailment_column(result)).n if result.entailment else 0
        rows.append([words(corpus.names[at]), count(n), number(fuzzy), number(entailed), number(gap, sign=True)])
        if at in corpus.systems:
            pairs.append((fuzzy, entailed))
    tau = kendall_tau_b([a for a, _ in pairs], [b for _, b in pairs])
    known = complete_pairs([a for a, _ in pairs], [b for _, b in pairs])
    shown = "-" if tau is None else f"{tau:.3f}"
    notes = [*_notes(corpus), f"Kendall's tau-b of the two orders over {len(known)} systems: {shown}"]
    header = ["system", "turns n", "fuzzy", "entailment", "difference"]
    return _table(corpus, "table-17", "Fuzzy against entailment grounding (paper: Table 17)", header, rows, notes)


def composite_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 22: CGS with entailment in the place of GS, beside its components."""
    rows = []
    for result, name, found in zip(corpus.results, corpus.names, corpus.estimates, strict=True):
        _, entailed = _both(result)
        values = [
            found["gs"].value,
            entailed,
            found["cd"].value,
            found["pc"].value,
            found["cgs"].value,
            cgs_ent(result),
        ]
        rows.append([words(name), *map(number, values)])
    header = ["system", "GS", "entailment", "CD", "PC", "CGS", "CGSent"]
    notes = [
        *_notes(corpus),
        "products of corpus means; entailment over the turns it was scored on, the others over all",
    ]
    return _table(corpus, "table-22", "Entailment-gated composite (paper: Table 22)", header, rows, notes)


def thresholds_table(corpus: Corpus) -> Table:
    """Return entailment grounding by the probability from which a claim counts as supported."""
    rows = []
    for result, name in zip(corpus.results, corpus.names, strict=True):
        if result.entailment is None:
            rows.append([words(name), *[Cell("-", None)] * (len(THRESHOLDS) + 1), count(0)])
            continue
        claims = [value for group in result.turns[PROBABILITIES] for value in group or ()]
        between = [UNSURE[0] <= value <= UNSURE[1] for value in claims]
        means = [summarize(entailment_column(result, threshold)).mean for threshold in THRESHOLDS]
        unsure = sum(between) / len(between) if between else None
        rows.append([words(name), *map(number, means), number(unsure), count(len(claims))])
    columns = [[row[at + 1].value for row in rows] for at in range(len(THRESHOLDS))]
    numbers = [[value if isinstance(value, float) else None for value in column] for column in columns]
    used = numbers[THRESHOLDS.index(THRESHOLD)]
    notes = _notes(corpus)
    for threshold, column in zip(THRESHOLDS, numbers, strict=True):
        rho, n = rank_correlation([used[at] for at in corpus.systems], [column[at] for at in corpus.systems])
        if rho is not None and threshold != THRESHOLD:
            notes.append(f"rank correlation of {threshold:g} with the value in use over {n} systems: {rho:.3f}")
    header = ["system", *(f"{value:g}{' (used)' if value == THRESHOLD else ''}" for value in THRESHOLDS)]
    return _table(
        corpus, "nli-threshold", "Entailment grounding by threshold", [*header, "0.1 to 0.9", "claims n"], rows, notes
    )


def kinds_table(corpus: Corpus) -> Table:
    """Return the mean probability of entailment by kind of sentence (definitions, 9.11)."""
    rows = []
    for result, name in zip(corpus.results, corpus.names, strict=True):
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        if result.entailment:
            for kinds, values in zip(result.turns[CATEGORIES], result.turns[PROBABILITIES], strict=True):
                for kind, value in zip(kinds or (), values or (), strict=True):
                    found[kind].append(value)
        means = {kind: math.fsum(values) / len(values) if values else None for kind, values in found.items()}
        cells = [replace(number(means[kind]), n=len(values)) for kind, values in found.items()]
        rows.append([words(name), *cells])
    header = ["system", *(kind.replace("_", " ") for kind in KINDS)]
    return _table(corpus, "sentence-entailment", "Mean entailment by kind of sentence", header, rows, _notes(corpus))


def cgs_ent(result: Results) -> float | None:
    """Return CGSent: entailment grounding in the place of GS, as a product of corpus means; None without claims."""
    parts = [_both(result)[1], *(summarize(result.turns[name]).mean for name in ("cd", "pc"))]
    return None if None in parts else cgs(*parts)  # type: ignore[arg-type]


def entailed_mean(result: Results) -> float | None:
    """Return a run's entailment grounding; None where nothing is stored."""
    return _both(result)[1]


def _both(result: Results) -> tuple[float | None, float | None]:
    """Return fuzzy and entailment grounding over the turns that have the latter; fuzzy over all turns without any."""
    if result.entailment is None:
        return summarize(result.turns["gs"]).mean, None
    column = entailment_column(result)
    fuzzy = [gs for gs, value in zip(result.turns["gs"], column, strict=True) if value is not None]
    return summarize(fuzzy).mean, summarize(column).mean


def _notes(corpus: Corpus) -> list[str]:
    models = sorted({result.entailment for result in corpus.results if result.entailment})
    return [
        corpus.described,
        f"claims: sentences; a claim is supported from a probability of {THRESHOLD:g} on; model {', '.join(models)}",
    ]


def _table(corpus: Corpus, name: str, title: str, header: list[str], rows: list[list[Cell]], notes: list[str]) -> Table:
    models = {result.entailment for result in corpus.results if result.entailment}
    warnings = list(corpus.warnings)
    if len(models) > 1:
        warnings.append("these rows were scored by different entailment models and may not be compared")
    return Table(f"{name}-{corpus.pool}", f"{title}, pool {corpus.pool}", header, rows, notes, warnings, corpus.sources)
