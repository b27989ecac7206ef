"""Would another constant have told another story? Tables 16, 18, 19 and the composite's formula, from stored responses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.formats import Cell, Table, count, estimate, number, probability, words
from trace_dataset.analysis.statistics import complete_pairs, correlation_p, pearson, spearman
from trace_dataset.analysis.swept import Pair, correlations, numbers
from trace_dataset.evaluation.bootstrap import SEED
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.evaluation.variants import DISTANCES, SENTENCES, THRESHOLDS, WINDOWS
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.composite import FORMULAS, cgs, cgs_alternative

THRESHOLD_LABELS = {"gs_70": "70 %", "gs_80": "80 % (used)", "gs_90": "90 %", "gs_exact": "exact"}
WINDOW_LABELS = {name: f"{size} characters{' (used)' if size == 80 else ''}" for name, size in WINDOWS.items()}
DISTANCE_LABELS = {name: f"{km:g} km{' (used)' if km == 2 else ''}" for name, km in DISTANCES.items()}
COMPONENTS = ("gs", "cd", "pc")
CONSTANT = "a dash: one of the two does not vary, or has no value"
FEWEST = 3  # systems that a rank correlation over systems needs


def threshold_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 16: GS by the similarity from which a quote counts as found."""
    note = f"thresholds {', '.join(str(value) for value in THRESHOLDS.values())}; a response without quotes scores 1 in all"
    return _sweep(corpus, "table-16", "GS by fuzzy threshold", THRESHOLD_LABELS, note, "16")


def window_table(corpus: Corpus) -> Table:
    """Return PC by the distance allowed between an aspect term and its label."""
    return _sweep(corpus, "pc-window", "PC by window between term and label", WINDOW_LABELS, "recommending turns", None)


def spatial_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 18: spatial coherence by distance."""
    note = "share of pairs of a dialogue's places within the distance; dialogues with two located places"
    return _sweep(corpus, "table-18", "Spatial coherence by distance", DISTANCE_LABELS, note, "18")


def gaming_table(corpus: Corpus) -> Table:
    """Return the counterpart of Table 19: does quoting more raise the grounding score? Pearson's r of CD and GS over turns.

    CD counts tokens of matched quotes, so a quote that is not found lowers both and r is above 0 without any gaming on turns
    with quotes; CD of all quotes, found or not, has no such part (definitions, M7 and 9.7).
    """
    pairs = [pair for result in corpus.results for pair in _gaming_pairs(result)]
    found = iter(zip(pairs, correlations(pairs, corpus.resamples, SEED), strict=True))
    rows = []
    for name, means in zip(corpus.names, corpus.estimates, strict=True):
        (n, r, p), (_, r_all, _), (n_there, r_there, p_there), (_, r_all_there, _) = (
            _correlated(*next(found)) for _ in range(4)
        )
        shown = (estimate(means["cd"]), estimate(means["gs"]))
        rows.append([words(name), n, *shown, r, p, r_all, n_there, r_there, p_there, r_all_there])
    header = ["system", "turns n", "mean CD", "mean GS", "r", "p", "r, all quotes"]
    header += ["turns with quotes", "r there", "p there", "r there, all quotes"]
    notes = [
        corpus.described,
        corpus.intervals,
        "turns without quotes have CD 0 and GS 1 by definition, so the part on turns with quotes is the one to read",
        "CD counts matched quotes; all quotes: CD of every quote, found or not, which a quote that is not found does not lower",
        "p takes turns for independent, which those of one dialogue are not; the interval does not",
        CONSTANT,
    ]
    for group, places in corpus.groups.items():
        for at, where in ((4, "all turns"), (8, "turns with quotes")):
            absolute = [abs(value) for value in (rows[place][at].value for place in places) if isinstance(value, float)]
            if absolute:
                mean = math.fsum(absolute) / len(absolute)
                notes.append(f"mean |r| over {len(absolute)} {group}, {where}: {mean:.3f}")
    return _table(corpus, f"table-19-{corpus.pool}", "Anti-gaming: CD against GS over turns", header, rows, notes, "19")


def _gaming_pairs(result: Results) -> list[Pair]:
    """Return CD and GS over all turns and over those with quotes, by CD of matched quotes and of all quotes."""
    size, (cd, every, gs) = (
        len(result.dialogues["dialogue_id"]),
        (numbers(result.turns[name]) for name in ("cd", "cd_quoted", "gs")),
    )
    quoting = np.array(result.turns["n_quotes"], dtype=float) > 0
    whole = [Pair(result.owner, size, density, gs) for density in (cd, every)]
    return [*whole, *(pair.among(quoting) for pair in whole)]


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
    """Return Spearman's rho of GS, CD and PC over the turns of a group of systems together, and over quoting turns (9.8).

    The paper takes systems that ask no language model; those that do are a group of their own.
    """
    rows: list[list[Cell]] = []
    sources = []
    for group, places in corpus.groups.items():
        found = _independence([corpus.results[at] for at in places], corpus.resamples)
        rows += [[words(group), *row] for row in found]
        sources += [[corpus.sources[at][0] for at in places]] * len(found)
    names = [f"{group}: {', '.join(corpus.names[at] for at in places)}" for group, places in corpus.groups.items()]
    return Table(
        f"independence-{corpus.pool}",
        f"Independence of GS, CD and PC, pool {corpus.pool}",
        ["of", "components", "over", "rho", "turns n", "p"],
        rows,
        [
            corpus.described,
            f"{corpus.intervals}; the ranks are those of the whole",
            "Spearman over turns of a group's systems together; turns with both values",
            "p takes turns for independent, which those of one dialogue are not; the interval does not",
            CONSTANT,
            *names,
        ],
        corpus.warnings,
        sources,
    )


def _independence(results: Sequence[Results], resamples: int) -> list[list[Cell]]:
    known: dict[tuple[str, str], int] = {}  # a dialogue is one unit, however many systems answered it
    owner = np.array(
        [
            known.setdefault((str(result.settings["content_digest"]), identifier), len(known))
            for result in results
            for identifier in result.turns["dialogue_id"]
        ],
        dtype=np.int64,
    )
    pooled = {name: np.concatenate([numbers(result.turns[name]) for result in results]) for name in COMPONENTS}
    quoting = np.array([many > 0 for result in results for many in result.turns["n_quotes"]], dtype=bool)
    parts = {}
    for first, second in (("gs", "cd"), ("gs", "pc"), ("cd", "pc")):
        pair, title = Pair(owner, len(known), pooled[first], pooled[second]), f"{first.upper()} and {second.upper()}"
        parts[title, "all turns"] = pair.ranked
        parts[title, "turns with quotes"] = pair.among(quoting).ranked
    intervals = correlations(list(parts.values()), resamples, SEED)
    rows = []
    for ((components, over), pair), interval in zip(parts.items(), intervals, strict=True):
        n, rho, p = _correlated(pair, interval)
        rows.append([words(components), words(over), rho, n, p])
    return rows


def sentences_table(corpus: Corpus) -> Table:
    """Return the sentence audit: what the sentences of recommending turns are (definitions, 9.11)."""
    columns = list(SENTENCES.values())
    rows = [
        [words(name), *(_share(found[column]) for column in columns), count(found[columns[0]].n)]
        for name, found in zip(corpus.names, corpus.swept, strict=True)
    ]
    header = ["system", *(kind.replace("_", " ") for kind in SENTENCES), "sentences n"]
    notes = [
        corpus.described,
        corpus.intervals,
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


def _sweep(corpus: Corpus, name: str, title: str, labels: Mapping[str, str], note: str, paper: str | None) -> Table:
    used = next(column for column, label in labels.items() if "used" in label)
    rows = [
        [
            words(system),
            *(estimate(found[column]) for column in labels),
            count(found[used].n),
            count(found[used].n_null),
        ]
        for system, found in zip(corpus.names, corpus.swept, strict=True)
    ]
    notes = [corpus.described, corpus.intervals, note]
    for column, label in labels.items():
        rho, n = rank_correlation(*([corpus.swept[at][key].value for at in corpus.systems] for key in (used, column)))
        if rho is not None and column != used:
            notes.append(f"rank correlation of {label} with the value in use over {n} systems: {rho:.3f}")
    header = ["system", *labels.values(), "n", "undefined"]
    return _table(corpus, f"{name}-{corpus.pool}", title, header, rows, notes, paper)


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


def _correlated(pair: Pair, interval: tuple[float, float]) -> list[Cell]:
    """Return n, Pearson's r with its interval, and its probability."""
    whole = pair.complete
    n, r = len(whole.x), pearson(whole.x.tolist(), whole.y.tolist())
    if r is None:
        return [count(n), number(None), probability(None)]
    low, high = interval
    if low != low:
        return [count(n), Cell(f"{r:.3f}", r, n=n), probability(correlation_p(r, n))]
    return [count(n), Cell(f"{r:.3f} [{low:.3f}, {high:.3f}]", r, low, high, n), probability(correlation_p(r, n))]


def _share(found: Estimate) -> Cell:
    if found.value is None or found.low is None or found.high is None:
        return Cell("-", None, n=0)
    shown = f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"
    return Cell(shown, found.value, found.low, found.high, found.n)
