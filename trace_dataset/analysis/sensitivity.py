"""Would another constant have told another story? Tables 16, 18, 19 and the composite's formula, from stored responses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.formats import Cell, Table, count, number, probability, share, words
from trace_dataset.analysis.statistics import complete_pairs, correlation_p, pearson, spearman
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.variants import DISTANCES, SENTENCES, THRESHOLDS, WINDOWS
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.composite import FORMULAS, cgs, cgs_alternative

THRESHOLD_LABELS = {"gs_70": "70 %", "gs_80": "80 % (used)", "gs_90": "90 %", "gs_exact": "exact"}
WINDOW_LABELS = {name: f"{size} characters{' (used)' if size == 80 else ''}" for name, size in WINDOWS.items()}
DISTANCE_LABELS = {name: f"{km:g} km{' (used)' if km == 2 else ''}" for name, km in DISTANCES.items()}
COMPONENTS = ("gs", "cd", "pc")
FEWEST = 3  # systems that a rank correlation over systems needs


def threshold_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 16: GS by the similarity from which a quote counts as found."""
    note = f"thresholds {', '.join(str(value) for value in THRESHOLDS.values())}; a response without quotes scores 1 in all"
    return _sweep(corpus, "table-16", "GS by fuzzy threshold", THRESHOLD_LABELS, _turns, note, "16")


def window_table(corpus: Corpus) -> Table:
    """Return PC by the distance allowed between an aspect term and its label."""
    return _sweep(
        corpus, "pc-window", "PC by window between term and label", WINDOW_LABELS, _turns, "recommending turns", None
    )


def spatial_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 18: spatial coherence by distance."""
    note = "share of pairs of a dialogue's places within the distance; dialogues with two located places"
    return _sweep(corpus, "table-18", "Spatial coherence by distance", DISTANCE_LABELS, _dialogues, note, "18")


def gaming_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 19: does quoting more raise the grounding score? Pearson's r of CD and GS over turns."""
    header = ["system", "turns n", "mean CD", "mean GS", "r", "p", "turns with quotes", "r there", "p there"]
    rows = []
    for result, name in zip(corpus.results, corpus.names, strict=True):
        cd, gs = result.turns["cd"], result.turns["gs"]
        quoting = [many > 0 for many in result.turns["n_quotes"]]
        inside = [[value for value, kept in zip(side, quoting, strict=True) if kept] for side in (cd, gs)]
        rows.append(
            [
                words(name),
                *_correlated(cd, gs)[:1],
                number(summarize(cd).mean),
                number(summarize(gs).mean),
                *_correlated(cd, gs)[1:],
                *_correlated(*inside),
            ]
        )
    found = [row[4].value for at, row in enumerate(rows) if at in corpus.systems]
    absolute = [abs(value) for value in found if isinstance(value, float)]
    notes = [
        corpus.described,
        "turns without quotes have CD 0 and GS 1 by definition, so the right half is the one to read",
    ]
    if absolute:
        notes.append(f"mean |r| over {len(absolute)} systems: {math.fsum(absolute) / len(absolute):.3f}")
    return _table(corpus, f"table-19-{corpus.pool}", "Anti-gaming: CD against GS over turns", header, rows, notes, "19")


def formula_table(corpus: Corpus) -> Table:
    """Return CGS by formula, on corpus means and as the mean of turns, with rank correlations over systems."""
    chosen = [(corpus.results[at], corpus.names[at]) for at in corpus.systems]
    by_method = {
        "product of means": {name: [of_means(item, name) for item, _ in chosen] for name in ("cgs", *FORMULAS)},
        "mean of turns": {name: [_of_turns(item, name) for item, _ in chosen] for name in ("cgs", *FORMULAS)},
    }
    header = ["formula", "computed as", *(name for _, name in chosen), "rho with CGS", "systems n"]
    rows = []
    for method, columns in by_method.items():
        for formula, values in columns.items():
            rho, n = rank_correlation(columns["cgs"], values)
            rows.append([words(formula), words(method), *map(number, values), number(rho), count(n)])
    keys = [corpus.sources[at][0] for at in corpus.systems]
    return Table(
        f"cgs-formulas-{corpus.pool}",
        f"CGS by formula, pool {corpus.pool}",
        header,
        rows,
        [
            corpus.described,
            "rho: Spearman with the first row of the same method, over systems without controls; "
            f"a dash with fewer than {FEWEST} systems",
            "gate g = min(1, CD/0.05), floor f = 0.5 + 0.5 PC; definitions, 4.2",
        ],
        corpus.warnings,
        [keys] * len(rows),
    )


def independence_table(corpus: Corpus) -> Table:
    """Return Spearman's rho of GS, CD and PC over the turns of all systems together, and over quoting turns."""
    pooled: dict[str, list[float | None]] = {name: [] for name in COMPONENTS}
    quoting: list[bool] = []
    for at in corpus.systems:
        for name in COMPONENTS:
            pooled[name] += corpus.results[at].turns[name]
        quoting += [many > 0 for many in corpus.results[at].turns["n_quotes"]]
    rows = []
    for first, second in (("gs", "cd"), ("gs", "pc"), ("cd", "pc")):
        for title, kept in (("all turns", [True] * len(quoting)), ("turns with quotes", quoting)):
            x, y = ([v for v, keep in zip(pooled[name], kept, strict=True) if keep] for name in (first, second))
            pairs = complete_pairs(x, y)
            rho = spearman(x, y)
            p = correlation_p(rho, len(pairs)) if rho is not None else None
            rows.append(
                [
                    words(f"{first.upper()} and {second.upper()}"),
                    words(title),
                    number(rho),
                    count(len(pairs)),
                    probability(p),
                ]
            )
    keys = [corpus.sources[at][0] for at in corpus.systems]
    return Table(
        f"independence-{corpus.pool}",
        f"Independence of GS, CD and PC, pool {corpus.pool}",
        ["components", "over", "rho", "turns n", "p"],
        rows,
        [corpus.described, "Spearman over turns of all systems together, without controls; turns with both values"],
        corpus.warnings,
        [keys] * len(rows),
    )


def sentences_table(corpus: Corpus) -> Table:
    """Return the sentence audit: what the sentences of recommending turns are (definitions, 9.11)."""
    rows = []
    for result, name in zip(corpus.results, corpus.names, strict=True):
        totals = {
            kind: sum(value or 0 for value in result.turns[column] if value is not None)
            for kind, column in SENTENCES.items()
        }
        whole = sum(totals.values())
        rows.append([words(name), *(share(part, whole) for part in totals.values()), count(whole)])
    header = ["system", *(kind.replace("_", " ") for kind in SENTENCES), "sentences n"]
    notes = [
        corpus.described,
        "the first that applies: holds a quote; speaks of stars, prices or reviews; a set phrase; any other claim",
    ]
    return _table(
        corpus, f"sentences-{corpus.pool}", "What the sentences of recommending turns are", header, rows, notes, None
    )


def of_means(result: Results, formula: str) -> float | None:
    """Return a formula of CGS on a run's corpus means; `cgs` is the formula in use."""
    means = [summarize(result.turns[name]).mean for name in COMPONENTS]
    return None if None in means else apply_formula(formula, *means)  # type: ignore[arg-type]


def apply_formula(formula: str, gs: float, cd: float, pc: float) -> float:
    """Return one value of CGS by the name of its formula."""
    return cgs(gs, cd, pc) if formula == "cgs" else cgs_alternative(gs, cd, pc, formula)


def rank_correlation(reference: Sequence[float | None], values: Sequence[float | None]) -> tuple[float | None, int]:
    """Return Spearman's rho over systems, and their number; None with fewer than three.

    Example:
        >>> rank_correlation([0.1, 0.2, 0.3], [0.5, 0.6, 0.9])
        (1.0, 3)
    """
    n = len(complete_pairs(reference, values))
    return (spearman(reference, values) if n >= FEWEST else None), n


def _of_turns(result: Results, formula: str) -> float | None:
    times = Counter(zip(*(result.turns[name] for name in COMPONENTS), strict=True))  # many turns are equal in all three
    values = [(apply_formula(formula, gs, cd, pc), many) for (gs, cd, pc), many in times.items() if pc is not None]
    n = sum(many for _, many in values)
    return math.fsum(value * many for value, many in values) / n if n else None


def _turns(result: Results) -> Mapping[str, Sequence[float | None]]:
    return result.turns


def _dialogues(result: Results) -> Mapping[str, Sequence[float | None]]:
    return result.dialogues


def _sweep(
    corpus: Corpus,
    name: str,
    title: str,
    labels: Mapping[str, str],
    columns: Callable[[Results], Mapping[str, Sequence[float | None]]],
    note: str,
    paper: str | None,
) -> Table:
    rows = []
    for result, system in zip(corpus.results, corpus.names, strict=True):
        found = [summarize(columns(result)[column]) for column in labels]
        cells = [
            Cell("-" if item.mean is None else f"{item.mean:.3f}", item.mean, n=item.n, n_null=item.n_null)
            for item in found
        ]
        rows.append([words(system), *cells, count(found[0].n)])
    values = [[row[at + 1].value for row in rows] for at in range(len(labels))]
    used = next(at for at, label in enumerate(labels.values()) if "used" in label)
    notes = [corpus.described, note]
    for label, column in zip(labels.values(), values, strict=True):
        rho, n = rank_correlation(
            *([side[at] for at in corpus.systems] for side in (values[used], column))  # type: ignore[arg-type]
        )
        if rho is not None and column is not values[used]:
            notes.append(f"rank correlation of {label} with the value in use over {n} systems: {rho:.3f}")
    return _table(corpus, f"{name}-{corpus.pool}", title, ["system", *labels.values(), "n"], rows, notes, paper)


def _table(
    corpus: Corpus,
    name: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    notes: Sequence[str],
    paper: str | None,
) -> Table:
    whole = f"{title}, pool {corpus.pool}" + (f" (paper: Table {paper})" if paper else "")
    return Table(name, whole, header, rows, notes, corpus.warnings, corpus.sources)


def _correlated(x: Sequence[float | None], y: Sequence[float | None]) -> list[Cell]:
    n = len(complete_pairs(x, y))
    r = pearson(x, y)
    return [count(n), number(r), probability(correlation_p(r, n) if r is not None else None)]
