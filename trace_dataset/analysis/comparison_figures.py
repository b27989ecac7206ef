"""Figures that compare: pools, pairs of systems, and how far the components of CGS can be relied on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from trace_dataset.analysis.catalogue import METRICS
from trace_dataset.analysis.comparisons import Contrast, contrasts
from trace_dataset.analysis.corpus import Corpus
from trace_dataset.analysis.drawing import bar, footnote, new_figure, save, style
from trace_dataset.analysis.pool_tables import POOL_NOTE, POOL_SIZES, pool_lines
from trace_dataset.analysis.statistics import spearman
from trace_dataset.evaluation.bootstrap import SEED, ratio
from trace_dataset.evaluation.results import Results

COMPONENTS = ("gs", "cd", "pc", "cgs_mean_of_turns")
HALVES = 200  # random halves for the reliability of a component


def pool_curves(found: Mapping[str, Corpus], folder: Path, name: str) -> list[Path]:
    """Draw Recall@1 by pool size, one line a system, with intervals."""
    pools = list(found)
    figure, panel = new_figure(7.6, 4.6)
    lines = {
        label: places
        for label, places in pool_lines(found).items()
        if len(places) > 1 and all(corpus.results[at].name != "oracle" for corpus, at in places.values())
    }
    for order, (label, places) in enumerate(lines.items()):
        points = [(pools.index(pool), corpus.estimates[at]["recall_at_1"]) for pool, (corpus, at) in places.items()]
        points = [(x, item) for x, item in points if item.value is not None]
        xs = [x + 0.02 * (order - len(lines) / 2) for x, _ in points]
        errors = [
            [(i.value or 0) - (i.low or 0) for _, i in points],
            [(i.high or 0) - (i.value or 0) for _, i in points],
        ]
        ys = [item.value for _, item in points]
        panel.errorbar(
            xs, ys, np.maximum(errors, 0), label=label, capsize=2, linewidth=1.3, markersize=5, **style(order)
        )
    panel.set_xticks(range(len(pools)), [POOL_SIZES.get(pool, pool).split(" (")[0] for pool in pools])
    panel.set_xlabel("places in the pool")
    panel.set_ylabel("Recall@1 (0 to 1)")
    panel.set_ylim(bottom=0)
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    size = next(iter(found.values())).described.split(", pool")[0]
    oracle = (
        " Not drawn: the oracle." if any(item.name == "oracle" for item in next(iter(found.values())).results) else ""
    )
    note = f"{size}. Bars: 95 % intervals over dialogues.{oracle}"
    footnote(figure, f"{note}\n{POOL_NOTE[0].upper()}{POOL_NOTE[1:]}.")
    return save(figure, folder, name)


def forest(corpus: Corpus, folder: Path, name: str, reference: int | None = None) -> list[Path] | None:
    """Draw every system's difference to one system on the three competencies; None where there is nothing to compare.

    Args:
        reference: position of that system; TF-IDF, or else the first, if None.
    """
    group = max(corpus.comparable, key=len)
    if len(group) < 2:
        return None
    group = [at for at in group if corpus.results[at].name != "oracle"] if len(group) > 2 else group
    results = [corpus.results[at] for at in group]
    base = next((i for i, item in enumerate(results) if item.name == "tfidf"), 0) if reference is None else reference
    metrics = ("recall_at_1", "cgs_mean_of_turns", "rejection_recovery")
    pairs = [(i, base) for i in range(len(results)) if i != base]
    found = {(item.a.fingerprint, item.metric): item for item in contrasts(results, metrics, pairs, corpus.resamples)}
    figure, panels = new_figure(11, 0.34 * len(pairs) + 1.5, ncols=3, sharey=True)
    for panel, metric in zip(panels, metrics, strict=True):
        for row, (i, _) in enumerate(pairs):
            _difference(panel, row, found.get((results[i].fingerprint, metric)))
        panel.axvline(0, color="black", linewidth=0.9)
        panel.set_xlabel(f"difference in {METRICS[metric].label}, on 0 to 1")
        panel.locator_params(axis="x", nbins=5)
        panel.grid(axis="x", color="#dddddd", linewidth=0.6)
    panels[0].set_yticks(range(len(pairs)), [corpus.names[group[i]] for i, _ in pairs])
    panels[0].invert_yaxis()
    figure.suptitle(f"minus {corpus.names[group[base]]}: paired cluster bootstrap", fontsize=11)
    footnote(
        figure,
        f"{corpus.described}. {corpus.resamples:,} resamples of dialogues, 95 % intervals. "
        "Filled: 0 is outside the interval. Not corrected; Table 21 has Holm's correction.",
    )
    figure.tight_layout()
    return save(figure, folder, name)


def reliability(corpus: Corpus, folder: Path, name: str) -> list[Path]:
    """Draw each component of CGS: its value and interval, how much of it is vacuous, and how far its order can be relied on.

    Reliability is the mean rank correlation of the systems between 200 random halves of the dialogues.
    """
    figure, panels = new_figure(12, 0.36 * len(corpus.results) + 1.4, ncols=4, sharey=True)
    for panel, metric in zip(panels, COMPONENTS, strict=True):
        for row, (result, found) in enumerate(zip(corpus.results, corpus.estimates, strict=True)):
            bar(panel, row, found[metric], result.control, _vacuous(result, metric))
        agreement = half_agreement(corpus, metric)
        shown = "-" if agreement is None else f"{agreement:.2f}"
        panel.set_title(f"{METRICS[metric].label}\norder agrees between halves: {shown}", fontsize=9.5)
        panel.set_xlabel("0 to 1")
        panel.set_xlim(0, 1.2)
        panel.set_xticks([0, 0.5, 1])
    panels[0].set_yticks(range(len(corpus.results)), corpus.names)
    panels[0].invert_yaxis()
    footnote(
        figure,
        f"{corpus.described}. Black line: 95 % interval. White part: turns that score 1 with nothing measured (no quote; none "
        f"of the terms).\nOrder: mean Spearman correlation of the systems over {HALVES} random halves, controls left out.",
    )
    figure.tight_layout()
    return save(figure, folder, name)


def half_agreement(corpus: Corpus, metric: str) -> float | None:
    """Return the mean rank correlation of systems between random halves of the dialogues; None with fewer than three."""
    groups = [[at for at in group if at in corpus.systems] for group in corpus.comparable]
    group = max(groups, key=len)
    tables = [corpus.results[at].cluster_sums for at in group]
    if len(group) < 3 or len(tables[0].sums) < 2:
        return None
    draw = np.random.default_rng(SEED)
    size = len(tables[0].sums)
    halves = np.zeros((HALVES, size))
    for half in halves:
        half[draw.permutation(size)[: size // 2]] = 1.0
    sums, counts = (np.column_stack([table.of(metric)[part] for table in tables]) for part in (0, 1))
    means = [ratio(part @ sums, part @ counts) for part in (halves, 1 - halves)]
    found = [spearman(list(one), list(other)) for one, other in zip(*means, strict=True)]
    defined = [rho for rho in found if rho is not None]
    return math.fsum(defined) / len(defined) if defined else None


def _difference(panel: Any, row: int, item: Contrast | None) -> None:
    if item is None:
        panel.text(
            0.5, row, "nothing in common", transform=panel.get_yaxis_transform(), va="center", ha="center", fontsize=8
        )
        return
    found = item.found
    panel.plot([found.low, found.high], [row, row], color="black", linewidth=1.6)
    inside = "#2166ac" if found.significant else "white"
    panel.plot([found.delta], [row], "o", markersize=6, markeredgecolor="black", markerfacecolor=inside)


def _vacuous(result: Results, metric: str) -> float | None:
    """Return the share of a mean that comes from turns on which nothing was measured."""
    if metric not in ("gs", "pc"):
        return None
    many, whole = result.vacuous(metric)
    return many / whole if whole else None
