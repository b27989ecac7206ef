"""Human evaluation, Tables 10 to 15: who agrees with whom, and which metric agrees with people."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from trace_dataset.analysis.agreement import (
    alpha_interval,
    kendall_w,
    kendall_w_chi2,
    krippendorff_alpha,
    leave_out_alpha,
)
from trace_dataset.analysis.annotations import LIKERT, Annotations, Item, likert_rows, quote_rows
from trace_dataset.analysis.formats import Cell, Table, count, estimate, missing_table, number, probability, words
from trace_dataset.analysis.metrics_and_people import correlation_table, t_tests_table
from trace_dataset.analysis.statistics import chi_squared_p
from trace_dataset.evaluation.bootstrap import resampled_ratios
from trace_dataset.evaluation.results import Estimate, Results, estimate_of, per_dialogue
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.human import (
    ERRORS,
    NO_ERRORS,
    QUOTE_LABELS,
    annotator_deviation,
    avg_categories,
    error_free_rate,
    error_prevalence,
    flag_rate,
    majority_label,
    mean_pairwise_jaccard,
    strict_majority,
)

CATEGORIES = (*ERRORS, NO_ERRORS)
UNITS = {"citation": "quote", "errors": "cell"}  # what a rating is of, where it is not of an item
FEWEST_FOR_PAIRS = 3  # with so many annotators, nobody to compare is left where two are left out
INTERVAL = "[low, high]: 95 % bootstrap interval over dialogues, 10,000 resamples, seed 42"
Alpha = Callable[[Sequence[Sequence[Any]], str], "float | None"]


def human_tables(annotations: Annotations, results: Sequence[Results] = ()) -> list[Table]:
    """Return every table that the annotations allow, and one that names what they do not; runs add metrics against people.

    Raises:
        UsageError: two of the runs answer to one name.
    """
    tables = [systems_table(annotations), errors_table(annotations), annotators_table(annotations)]
    tables.append(leave_out_table(annotations, 1))
    if len(annotations.annotators) > FEWEST_FOR_PAIRS:
        tables.append(leave_out_table(annotations, 2))
    tables += [t_tests_table(annotations, results), concordance_table(annotations)]
    if results:
        tables.append(correlation_table(annotations, results))
    if annotations.choices:
        tables.append(choices_table(annotations))
    return [*tables, *missing_table(_missing(annotations, results))]


def systems_table(annotations: Annotations) -> Table:
    """Return the counterpart of Table 10: Likert means and majority labels of quotes by system."""
    rows = []
    for system, items in annotations.by_system.items():
        majorities = Counter(majority_label(list(quote.values())) for item in items for quote in item.quotes.values())
        labels = [count(majorities[label]) if majorities else Cell("-", None) for label in QUOTE_LABELS]
        known = [[majority_label(quote) for quote in quotes] for quotes in quote_rows(items)]
        supported = [[None if label is None else float(label == "supported") for label in item] for item in known]
        means = [[[summarize(row).mean] for row in likert_rows(items, name)] for name in LIKERT]
        free = [[error_free_rate(list(item.errors.values()))] for item in items]
        rows.append(
            [
                words(system),
                *(estimate(_over_items(values, items)) for values in means),
                *labels,
                *(estimate(_over_items(values, items)) for values in (supported, free)),
                count(len(items)),
                count(sum(len(quotes) for quotes in known)),
            ]
        )
    header = ["system", *LIKERT, *QUOTE_LABELS, "citation precision", "error-free rate", "items n", "quotes n"]
    notes = ["quote labels by majority, a tied top counts as partial; precision pooled over quotes", INTERVAL]
    return Table("table-10", "Human evaluation by system (paper: Table 10)", header, rows, notes)


def errors_table(annotations: Annotations) -> Table:
    """Return for each system the share of items in which most annotators saw an error of a category."""
    votes = len(annotations.annotators) // 2 + 1
    rows = []
    for system, items in annotations.by_system.items():
        chosen = [list(item.errors.values()) for item in items]
        each = [error_prevalence([answers] if answers else [], votes) for answers in chosen]
        cells = (estimate(_over_items([[found[name]] for found in each], items)) for name in CATEGORIES)
        rows.append([words(system), *cells, count(len(items))])
    header = ["system", *(name.replace("_", " ") for name in CATEGORIES), "items n"]
    notes = [f"share of items where at least {votes} of {len(annotations.annotators)} annotators chose it", INTERVAL]
    return Table("errors", "Errors by category", header, rows, notes)


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
            name: alpha_interval(ratings, level, owners=annotations.owners(UNITS.get(name, "item")))
            for name, (ratings, level) in _dimensions(annotations).items()
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
            f"95 % bootstrap intervals over whole items with nobody left out, 10,000 resamples, seed 42: {intervals}",
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


def choices_table(annotations: Annotations) -> Table:
    """Return the second task: do annotators choose the same places?"""
    groups = [list(chosen.values()) for chosen in annotations.choices.values()]
    pairs = np.array([len(group) * (len(group) - 1) // 2 for group in groups], dtype=float)
    sums = np.array([(mean_pairwise_jaccard([group]) or 0.0) for group in groups]) * pairs
    row = [
        estimate(estimate_of(sums, pairs, 0, resampled_ratios([(sums, pairs)])[0])),
        count(int(pairs.sum())),
        count(strict_majority(groups)),
        count(len(groups)),
        count(sum(len(group) for group in groups)),
    ]
    header = ["", "mean pairwise Jaccard", "pairs n", "dialogues with a strict majority", "dialogues n", "answers n"]
    notes = [INTERVAL]
    return Table("choices", "Places chosen by annotators (paper: App. K.3)", header, [[words("all"), *row]], notes)


def _over_items(values: Sequence[Sequence[float | None]], items: Sequence[Item]) -> Estimate:
    """Return the mean of values given by item, with an interval over the dialogues that the items stand in."""
    position = {name: at for at, name in enumerate(dict.fromkeys(item.dialogue_id for item in items))}
    owner = np.array(
        [position[item.dialogue_id] for item, row in zip(items, values, strict=True) for _ in row], dtype=int
    )
    sums, counts, nulls = per_dialogue([value for row in values for value in row], owner, len(position))
    return estimate_of(sums, counts, int(nulls.sum()), resampled_ratios([(sums, counts)])[0])


def _missing(annotations: Annotations, results: Sequence[Results]) -> list[tuple[str, str]]:
    """Return what the annotations and runs do not allow, and what it takes."""
    quotes = any(item.quotes for item in annotations.items)
    whole = [
        (quotes, "quote labels, citation precision, their alpha", "quotes.csv"),
        (
            any(item.errors for item in annotations.items),
            "error profile, flag rates, their alpha",
            "errors in ratings.csv",
        ),
        (bool(annotations.choices), "places chosen by annotators, Jaccard", "choices.csv"),
        (bool(results), "metrics against people (Table 14), CGS, GS and CD in Table 15", "scored runs: --runs"),
        (len(annotations.annotators) > FEWEST_FOR_PAIRS, "alpha without two annotators (Table 13)", "four annotators"),
    ]
    return [(what, needs) for there, what, needs in whole if not there]


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
