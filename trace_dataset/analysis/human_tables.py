"""Human evaluation, Tables 10 to 15: who agrees with whom, and which metric agrees with people."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

from trace_dataset.analysis.agreement import (
    alpha_interval,
    kendall_w,
    kendall_w_chi2,
    krippendorff_alpha,
    leave_out_alpha,
)
from trace_dataset.analysis.annotations import LIKERT, Annotations, Item
from trace_dataset.analysis.formats import Cell, Table, count, number, probability, words
from trace_dataset.analysis.statistics import (
    chi_squared_p,
    complete_pairs,
    correlation_p,
    paired_t,
    spearman,
    stars,
    student_t_p,
)
from trace_dataset.evaluation.results import Results
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.human import (
    QUOTE_LABELS,
    annotator_deviation,
    avg_categories,
    citation_precision,
    error_free_rate,
    error_prevalence,
    flag_rate,
    likert_mean,
    majority_label,
    mean_pairwise_jaccard,
    strict_majority,
)

AUTOMATIC = ("cgs", "gs", "cd")
Alpha = Callable[[Sequence[Sequence[Any]], str], "float | None"]


def human_tables(annotations: Annotations, results: Sequence[Results] = ()) -> list[Table]:
    """Return every table that the annotations allow; the runs add the correlations of metrics with people."""
    tables = [
        systems_table(annotations),
        errors_table(annotations),
        annotators_table(annotations),
        leave_out_table(annotations, 1),
        t_tests_table(annotations, results),
        concordance_table(annotations),
    ]
    if len(annotations.annotators) > 3:
        tables.insert(4, leave_out_table(annotations, 2))
    if results:
        tables.append(correlation_table(annotations, results))
    if annotations.choices:
        tables.append(choices_table(annotations))
    return tables


def systems_table(annotations: Annotations) -> Table:
    """Return the counterpart of Table 10: Likert means and majority labels of quotes by system."""
    rows = []
    for system, items in _by_system(annotations).items():
        majorities = Counter(majority_label(list(quote.values())) for item in items for quote in item.quotes.values())
        rows.append(
            [
                words(system),
                *(number(likert_mean(_likert(items, name)), 2) for name in LIKERT),
                *(count(majorities[label]) for label in QUOTE_LABELS),
                number(citation_precision(_quotes(items))),
                number(summarize(error_free_rate(list(item.errors.values())) for item in items).mean),
                count(len(items)),
            ]
        )
    header = ["system", *LIKERT, *QUOTE_LABELS, "citation precision", "error-free rate", "items n"]
    notes = ["quote labels by majority, a tied top counts as partial; precision pooled over quotes"]
    return Table("table-10", "Human evaluation by system (paper: Table 10)", header, rows, notes)


def errors_table(annotations: Annotations) -> Table:
    """Return for each system the share of items in which most annotators saw an error of a category."""
    votes = len(annotations.annotators) // 2 + 1
    found = {
        system: error_prevalence([list(item.errors.values()) for item in items], votes)
        for system, items in _by_system(annotations).items()
    }
    categories = list(next(iter(found.values())))
    rows = [[words(system), *(number(shares[name]) for name in categories)] for system, shares in found.items()]
    header = ["system", *(name.replace("_", " ") for name in categories)]
    return Table(
        "errors", "Errors by category", header, rows, [f"share of items where at least {votes} annotators chose it"]
    )


def annotators_table(annotations: Annotations) -> Table:
    """Return the counterpart of Table 11: how each annotator rates."""
    rows = []
    for at, name in enumerate(annotations.annotators):
        chosen = [item.errors[name] for item in annotations.items if name in item.errors]
        by_item = {
            dimension: [
                [item.likert[dimension].get(other) for other in annotations.annotators] for item in annotations.items
            ]
            for dimension in LIKERT
        }
        own = {dimension: summarize(row[at] for row in table) for dimension, table in by_item.items()}
        rows.append(
            [
                words(name),
                *(number(own[dimension].mean, 2) for dimension in LIKERT),
                *(number(annotator_deviation(by_item[dimension], at), 2) for dimension in LIKERT),
                number(flag_rate(chosen)),
                number(avg_categories(chosen), 2),
                count(own[LIKERT[0]].n),
            ]
        )
    header = ["annotator", *(f"{name} mean" for name in LIKERT), *(f"{name} deviation" for name in LIKERT)]
    notes = ["deviation: mean distance from the item's median over all annotators"]
    title = "Annotators (paper: Table 11)"
    return Table("table-11", title, [*header, "flag rate", "categories an item", "items n"], rows, notes)


def leave_out_table(annotations: Annotations, size: int) -> Table:
    """Return the counterpart of Table 12 (`size` 1) or 13 (2): Krippendorff's alpha without some annotators."""
    names = annotations.annotators
    whole = _alphas(annotations, krippendorff_alpha)
    rows = [_alpha_row("nobody", whole, whole)]
    for dropped in combinations(range(len(names)), size):
        found = _alphas(annotations, functools.partial(_without, dropped))
        rows.append(_alpha_row(" + ".join(names[at] for at in dropped), found, whole))
    if size > 1:
        rows[1:] = sorted(rows[1:], key=lambda row: -(row[-2].value if isinstance(row[-2].value, float) else -9.0))
    intervals = ", ".join(
        f"{name} {'-' if found is None else f'[{found[0]:.3f}, {found[1]:.3f}]'}"
        for name, found in {
            name: alpha_interval(ratings, level) for name, (ratings, level) in _dimensions(annotations).items()
        }.items()
    )
    paper = 12 if size == 1 else 13
    return Table(
        f"table-{paper}",
        f"Krippendorff's alpha without {'one annotator' if size == 1 else 'two annotators'} (paper: Table {paper})",
        ["left out", *_dimensions(annotations), "mean", "difference"],
        rows,
        [
            "Likert ratings ordinal, quote labels nominal, errors nominal over item x category; headline values keep everyone",
            f"95 % bootstrap intervals over units with nobody left out, 10,000 resamples, seed 42: {intervals}",
        ],
    )


def concordance_table(annotations: Annotations) -> Table:
    """Return Kendall's W of the Likert ratings over items that everyone rated, with its chi-squared test."""
    rows = []
    for dimension in LIKERT:
        whole = [row for row in zip(*annotations.ratings(dimension), strict=True) if None not in row]
        m, n = len(annotations.annotators), len(whole)
        w = kendall_w([list(row) for row in zip(*whole, strict=True)]) if n > 1 and m > 1 else None
        chi2 = None if w is None else kendall_w_chi2(w, m, n)
        p = None if chi2 is None else chi_squared_p(chi2, n - 1)
        rows.append(
            [words(dimension), number(w), number(chi2, 1), count(max(n - 1, 0)), probability(p), count(n), count(m)]
        )
    header = ["rating", "W", "chi-squared", "df", "p", "items n", "annotators"]
    return Table("kendall-w", "Kendall's W", header, rows, ["ranked within annotators, corrected for ties"])


def correlation_table(annotations: Annotations, results: Sequence[Results]) -> Table:
    """Return the counterpart of Table 14: Spearman's rho of metrics with human ratings over items."""
    metrics = _metric_values(annotations, results)
    humans = _human_values(annotations.items)
    rows = []
    for name, values in humans.items():
        cells: list[Cell] = [words(name)]
        for metric in AUTOMATIC:
            rho = spearman(metrics[metric], values)
            n = len(complete_pairs(metrics[metric], values))
            p = correlation_p(rho, n) if rho is not None else None
            shown = "-" if rho is None else f"{rho:.3f}{stars(p) if p is not None else ''}"
            cells += [Cell(shown, rho, n=n), probability(p), count(n)]
        rows.append(cells)
    header = ["human rating", *(f"{metric.upper()}{part}" for metric in AUTOMATIC for part in (" rho", " p", " n"))]
    found = sum(value is not None for value in metrics["gs"])
    notes = [
        "stars at 0.05, 0.01, 1e-5; p from t with n - 2; items without quotes drop out of citation precision",
        f"{found} of {len(annotations.items)} items were found in the runs given",
    ]
    return Table("table-14", "Metrics against people (paper: Table 14)", header, rows, notes)


def t_tests_table(annotations: Annotations, results: Sequence[Results]) -> Table:
    """Return the counterpart of Table 15: paired t-tests between systems over the dialogues that both were rated on."""
    systems = _by_system(annotations)
    rows = []
    for a, b in combinations(systems, 2):
        shared = sorted({item.dialogue_id for item in systems[a]} & {item.dialogue_id for item in systems[b]})
        first, second = (_paired_values(annotations, systems[name], shared, results) for name in (a, b))
        for metric in first:
            found = paired_t(first[metric], second[metric])
            if found is None:
                continue
            p = student_t_p(found["t"], found["df"])
            means = (number(found["mean_a"], 2), number(found["mean_b"], 2), number(found["t"], 2))
            rows.append(
                [words(metric), words(a), words(b), *means, probability(p), words(stars(p)), count(int(found["n"]))]
            )
    header = ["metric", "A", "B", "mean A", "mean B", "t", "p", "stars", "dialogues n"]
    notes = ["two-sided, not corrected; pairs without a value on either side are left out; stars at 0.05, 0.01, 1e-5"]
    return Table("table-15", "Paired t-tests between rated systems (paper: Table 15)", header, rows, notes)


def choices_table(annotations: Annotations) -> Table:
    """Return the second task: do annotators choose the same places?"""
    groups = [list(chosen.values()) for chosen in annotations.choices.values()]
    pairs = sum(len(group) * (len(group) - 1) // 2 for group in groups)
    row = [
        number(mean_pairwise_jaccard(groups)),
        count(pairs),
        count(strict_majority(groups)),
        count(len(groups)),
        count(sum(len(group) for group in groups)),
    ]
    header = ["", "mean pairwise Jaccard", "pairs n", "dialogues with a strict majority", "dialogues n", "answers n"]
    return Table("choices", "Places chosen by annotators (paper: App. K.3)", header, [[words("all"), *row]])


def _by_system(annotations: Annotations) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in annotations.items:
        found.setdefault(item.system, []).append(item)
    return found


def _likert(items: Sequence[Item], dimension: str) -> list[list[float | None]]:
    return [list(item.likert[dimension].values()) for item in items]


def _quotes(items: Sequence[Item]) -> list[list[list[str | None]]]:
    return [[list(quote.values()) for quote in item.quotes.values()] for item in items]


def _dimensions(annotations: Annotations) -> Mapping[str, tuple[Sequence[Sequence[Any]], str]]:
    return {
        "informativeness": (annotations.ratings("informativeness"), "ordinal"),
        "naturalness": (annotations.ratings("naturalness"), "ordinal"),
        "citation": (annotations.labels(), "nominal"),
        "errors": (annotations.error_cells(), "nominal"),
    }


def _alphas(annotations: Annotations, alpha: Alpha) -> list[float | None]:
    return [alpha(ratings, level) for ratings, level in _dimensions(annotations).values()]


def _without(dropped: Collection[int], ratings: Sequence[Sequence[Any]], level: str) -> float | None:
    return leave_out_alpha(ratings, dropped, level)


def _alpha_row(name: str, found: Sequence[float | None], whole: Sequence[float | None]) -> list[Cell]:
    mean, reference = (summarize(side) for side in (found, whole))
    moved = None if mean.mean is None or reference.mean is None or mean.n != reference.n else mean.mean - reference.mean
    return [words(name), *map(number, found), number(mean.mean), number(moved, sign=True)]


def _human_values(items: Sequence[Item]) -> dict[str, list[float | None]]:
    return {
        "citation precision": [citation_precision(_quotes([item])) for item in items],
        **{name: [likert_mean(_likert([item], name)) for item in items] for name in LIKERT},
        "error-free rate": [error_free_rate(list(item.errors.values())) for item in items],
    }


def _metric_values(annotations: Annotations, results: Sequence[Results]) -> dict[str, list[float | None]]:
    known: dict[tuple[str, str, int | None], dict[str, float | None]] = {}
    for result in results:
        ids, indexes = result.turns["dialogue_id"], result.turns["turn_index"]
        for at, (dialogue, index) in enumerate(zip(ids, indexes, strict=True)):
            known[result.name, dialogue, index] = {name: result.turns[name][at] for name in AUTOMATIC}
    keys = [(item.system, item.dialogue_id, item.turn_index) for item in annotations.items]
    return {name: [known.get(key, {}).get(name) for key in keys] for name in AUTOMATIC}


def _paired_values(
    annotations: Annotations, items: Sequence[Item], dialogues: Collection[str], results: Sequence[Results]
) -> dict[str, list[float | None]]:
    """Return for each metric one value a dialogue, the mean over the system's items in it."""
    values = _human_values(items)
    if results:
        only = Annotations(annotations.annotators, tuple(items), {})
        values |= {name.upper(): column for name, column in _metric_values(only, results).items()}
    at = {dialogue: [i for i, item in enumerate(items) if item.dialogue_id == dialogue] for dialogue in dialogues}
    found = {
        name: [summarize(column[i] for i in at[dialogue]).mean for dialogue in dialogues]
        for name, column in values.items()
    }
    return {
        name: column
        for name, column in found.items()
        if any(not math.isnan(value) for value in column if value is not None)
    }
