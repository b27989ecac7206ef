"""Fuzzy against entailment grounding (Tables 17 and 22), from stored probabilities; no model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.formats import Cell, Table, count, estimate, share, signed, words
from trace_dataset.analysis.sensitivity import rank_correlation
from trace_dataset.analysis.statistics import kendall_tau_b
from trace_dataset.analysis.swept import ENTAILED, IN_USE, KIND_MEANS
from trace_dataset.evaluation.entailed import PROBABILITIES
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.scoring.entailment import CATEGORIES as KINDS
from trace_dataset.scoring.entailment import THRESHOLD
from trace_dataset.scoring.nli import DEFAULT_MODEL

UNSURE = (0.1, 0.9)  # claims with a probability between these


def entailment_tables(corpus: Corpus) -> list[Table]:
    """Return the tables of the runs that have stored probabilities; nothing where none has."""
    if not any(result.entailment for result in corpus.results):
        return []
    return [versus_table(corpus), composite_table(corpus), thresholds_table(corpus), kinds_table(corpus)]


def versus_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 17: GS by fuzzy match and by entailment, over the same turns."""
    header = ["system", "turns n", "undefined", "fuzzy", _label(corpus), "difference"]
    rows = []
    for name, whole, found in zip(corpus.names, corpus.estimates, corpus.swept, strict=True):
        if IN_USE not in found:
            rows.append([words(name), count(0), words("-"), estimate(whole["gs"]), *[Cell("-", None)] * 2])
            continue
        fuzzy, entailed = found["fuzzy_there"], found[IN_USE]
        sizes = (count(entailed.n), count(entailed.n_null))
        rows.append([words(name), *sizes, estimate(fuzzy), estimate(entailed), signed(found["gap"])])
    notes = _notes(corpus)
    for group, places in corpus.groups.items():
        pairs = [
            (corpus.swept[at]["fuzzy_there"].value, corpus.swept[at][IN_USE].value) for at in places if _has(corpus, at)
        ]
        tau = kendall_tau_b([a for a, _ in pairs], [b for _, b in pairs])
        shown = "-" if tau is None else f"{tau:.3f}"
        notes.append(f"Kendall's tau-b of the two orders over {len(pairs)} {group}: {shown}")
    return _table(corpus, "table-17", "Fuzzy against entailment grounding (paper: Table 17)", header, rows, notes)


def composite_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 22: CGS with entailment in the place of GS, beside its components."""
    rows = []
    for name, whole, found in zip(corpus.names, corpus.estimates, corpus.swept, strict=True):
        entailed, composite = (
            (estimate(found[key]) if key in found else Cell("-", None)) for key in (IN_USE, "cgs_ent")
        )
        gs, cd, pc, usual = (estimate(whole[key]) for key in ("gs", "cd", "pc", "cgs"))
        sizes = [count(whole["gs"].n), count(found[IN_USE].n if IN_USE in found else 0)]
        rows.append([words(name), gs, entailed, cd, pc, usual, composite, *sizes])
    header = ["system", "GS", _label(corpus), "CD", "PC", "CGS", "CGSent", "turns n", "turns with claims"]
    notes = [
        *_notes(corpus),
        "products of corpus means; entailment over the turns it was scored on, the others over all",
    ]
    return _table(corpus, "table-22", "Entailment-gated composite (paper: Table 22)", header, rows, notes)


def thresholds_table(corpus: Corpus) -> Table:
    """Return entailment grounding by the probability from which a claim counts as supported."""
    rows = []
    for result, name, found in zip(corpus.results, corpus.names, corpus.swept, strict=True):
        if result.entailment is None:
            rows.append([words(name), *[Cell("-", None)] * (len(ENTAILED) + 1), count(0), count(0)])
            continue
        claims = [value for group in result.turns[PROBABILITIES] for value in group or ()]
        between = sum(UNSURE[0] <= value <= UNSURE[1] for value in claims)
        sizes = (count(found[IN_USE].n), count(len(claims)))
        rows.append(
            [words(name), *(estimate(found[column]) for column in ENTAILED), share(between, len(claims)), *sizes]
        )
    notes = [*_notes(corpus), "claims at 0.1 to 0.9: those whose best probability is neither near 0 nor near 1"]
    for column, threshold in ENTAILED.items():
        values = (
            [corpus.swept[at][key].value if _has(corpus, at) else None for at in corpus.systems]
            for key in (IN_USE, column)
        )
        rho, n = rank_correlation(*values)
        if rho is not None and column != IN_USE:
            notes.append(f"rank correlation of {threshold:g} with the value in use over {n} systems: {rho:.3f}")
    header = ["system", *(f"{value:g}{' (used)' if value == THRESHOLD else ''}" for value in ENTAILED.values())]
    header += ["claims at 0.1 to 0.9", "turns n", "claims n"]
    return _table(corpus, "nli-threshold", "Entailment grounding by threshold", header, rows, notes)


def kinds_table(corpus: Corpus) -> Table:
    """Return the mean probability of entailment by kind of sentence, over recommending turns (definitions, 9.11)."""
    rows = []
    for at, name in enumerate(corpus.names):
        found = corpus.swept[at]
        pairs = [(found[KIND_MEANS[kind]] if _has(corpus, at) else Estimate(None, 0, 0)) for kind in KINDS]
        rows.append([words(name), *(cell for item in pairs for cell in (estimate(item), count(item.n)))])
    header = ["system", *(f"{kind.replace('_', ' ')}{part}" for kind in KINDS for part in ("", " n"))]
    notes = [*_notes(corpus), "mean probability over the claims of recommending turns, each by its best review"]
    return _table(corpus, "sentence-entailment", "Mean entailment by kind of sentence", header, rows, notes)


def entailment_label(results: Sequence[Results]) -> str:
    """Return what a column of entailment is headed: another model than the paper's stands in the heading (M10)."""
    models = sorted({result.entailment for result in results if result.entailment})
    return (
        "entailment" if all(name.startswith(DEFAULT_MODEL) for name in models) else f"entailment ({', '.join(models)})"
    )


def _label(corpus: Corpus) -> str:
    return entailment_label(corpus.results)


def _has(corpus: Corpus, at: int) -> bool:
    return IN_USE in corpus.swept[at]


def _notes(corpus: Corpus) -> list[str]:
    models = sorted({result.entailment for result in corpus.results if result.entailment})
    without = [name for name, result in zip(corpus.names, corpus.results, strict=True) if not result.entailment]
    return [
        corpus.described,
        corpus.intervals,
        f"claims: sentences; a claim is supported from a probability of {THRESHOLD:g} on; model {', '.join(models)}",
        *([f"nothing is stored of {', '.join(without)}: trace-dataset entail RUN --yelp …"] if without else []),
    ]


def _table(corpus: Corpus, name: str, title: str, header: list[str], rows: list[list[Cell]], notes: list[str]) -> Table:
    models = {result.entailment for result in corpus.results if result.entailment}
    warnings = list(corpus.warnings)
    if len(models) > 1:
        warnings.append("these rows were scored by different entailment models and may not be compared")
    return Table(f"{name}-{corpus.pool}", f"{title}, pool {corpus.pool}", header, rows, notes, warnings, corpus.sources)
