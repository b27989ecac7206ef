"""Figures of a report, from the same estimates as its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trace_dataset.analysis.catalogue import HEADLINE, METRICS
from trace_dataset.analysis.corpus import Corpus, corpora
from trace_dataset.analysis.drawing import CONTROL, HATCH, bar, footnote, new_figure, save, style
from trace_dataset.evaluation.results import RESAMPLES, Estimate, Results

LABELS = {"recall_at_1": "Recall@1", "cgs": "CGS (product of means)", "rejection_recovery": "rejection recovery"}
MOST_RADARS = 16


def competency_bars(results: Sequence[Results], path: Path) -> Path:
    """Draw the three competencies of runs over one pool; return the path of the PNG (an SVG stands beside it)."""
    [corpus] = corpora(results, RESAMPLES).values()
    return bars(corpus, path.parent, path.stem)[0]


def bars(corpus: Corpus, folder: Path, name: str) -> list[Path]:
    """Draw one panel a competency, one bar a system with its 95 % interval, controls hatched."""
    height = 0.36 * len(corpus.results) + 1.2
    figure, panels = new_figure(11, height, ncols=3, sharey=True)
    for panel, (title, metric) in zip(panels, HEADLINE, strict=True):
        for row, (result, found) in enumerate(zip(corpus.results, corpus.estimates, strict=True)):
            bar(panel, row, found[metric], result.control)
        panel.set_title(title, fontsize=11)
        _unit_axis(panel.set_xlabel, panel, METRICS[metric].name)
        panel.set_xlim(0, 1.18)
        panel.set_xticks([0, 0.25, 0.5, 0.75, 1])
    panels[0].set_yticks(range(len(corpus.results)), corpus.names)
    panels[0].invert_yaxis()
    footnote(figure, f"{corpus.described}. Black line: 95 % bootstrap interval over dialogues. Hatched: controls.")
    figure.tight_layout()
    return save(figure, folder, name)


def radars(corpus: Corpus, folder: Path, name: str) -> list[Path]:
    """Draw one radar a system: accuracy, grounding and recovery, with the median of the systems as a dashed line."""
    shown = list(range(len(corpus.results)))[:MOST_RADARS]
    columns = min(4, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure, panels = new_figure(
        3.5 * columns, 2.9 * rows, nrows=rows, ncols=columns, squeeze=False, subplot_kw={"projection": "polar"}
    )
    angles = [math.pi / 2 + 2 * math.pi * at / 3 for at in range(3)]
    values = [[corpus.estimates[at][metric].value for _, metric in HEADLINE] for at in range(len(corpus.results))]
    middle = [_median([values[at][axis] for at in corpus.systems]) for axis in range(3)]
    for panel, at in zip(panels.flat, [*shown, *[None] * (rows * columns - len(shown))], strict=True):
        if at is None:
            panel.set_visible(False)
            continue
        _radar(panel, angles, values[at], middle, corpus.names[at], corpus.results[at].control)
    left = len(corpus.results) - len(shown)
    note = f"{corpus.described}. Axes 0 to 1: R@1, CGS, rejection recovery. Dashed: median of the systems."
    footnote(figure, note + (f" {left} further runs are in the tables." if left else ""))
    figure.tight_layout(h_pad=1.6)
    return save(figure, folder, name)


def gap(corpus: Corpus, folder: Path, name: str) -> list[Path]:
    """Draw accuracy against grounding, one mark a system, its area the rejection recovery; controls are hollow."""
    both = [(found["recall_at_1"].value, found["cgs"].value) for found in corpus.estimates]
    known = [(at, x, y) for at, (x, y) in enumerate(both) if x is not None and y is not None]
    inside = [point for point in known if corpus.results[point[0]].name != "oracle"] or known
    figure, panel = new_figure(8.6, 5.0)
    for at, x, y in sorted(inside, key=lambda point: -_area(corpus, point[0])):  # small marks on large ones
        found = corpus.estimates[at]
        _cross(panel, found["recall_at_1"], found["cgs"])
        looks = _mark(corpus, at)
        panel.scatter([x], [y], s=_area(corpus, at), zorder=3, alpha=0.85, **looks)
    handles = [
        panel.scatter([], [], s=60, label=_recovery_label(corpus, at), **_mark(corpus, at)) for at, _, _ in inside
    ]
    if handles:
        panel.legend(
            handles=handles,
            loc="center left",
            bbox_to_anchor=(1.02, 0.5),
            frameon=False,
            title="system: rejection recovery",
        )
    for limits, metric in ((panel.set_xlim, "recall_at_1"), (panel.set_ylim, "cgs")):
        drawn = [corpus.estimates[at][metric] for at, _, _ in inside]
        _zoom(limits, [end for found in drawn for end in (found.value, found.low, found.high) if end is not None])
    panel.set_xlabel("accuracy: Recall@1 (a part of 0 to 1)")
    panel.set_ylabel("grounding: CGS, product of means (a part of 0 to 1)")
    panel.grid(color="#dddddd", linewidth=0.6)
    outside = [f"{corpus.names[at]} is at {x:.2f}, {y:.2f}" for at, x, y in known if (at, x, y) not in inside]
    note = f"{corpus.described}.\nArea: rejection recovery. Lines: 95 % intervals. Hollow: controls."
    footnote(figure, note + (f" Not drawn: {'; '.join(outside)}." if outside else ""))
    return save(figure, folder, name)


def _mark(corpus: Corpus, at: int) -> dict[str, Any]:
    looks = style(at)
    colour = "none" if corpus.results[at].control else looks["color"]
    return {"marker": looks["marker"], "facecolor": colour, "edgecolor": "black", "linewidth": 1.0}


def _area(corpus: Corpus, at: int) -> float:
    return 25 + 260 * (corpus.estimates[at]["rejection_recovery"].value or 0.0)


def _recovery_label(corpus: Corpus, at: int) -> str:
    value = corpus.estimates[at]["rejection_recovery"].value
    return f"{corpus.names[at]}: {'no rejections' if value is None else f'{value:.2f}'}"


def _zoom(limits: Any, values: Sequence[float]) -> None:
    """Show the values with some room, at least a twelfth of the range from 0 to 1, and nothing much outside it."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.12 * (high - low), (0.08 - (high - low)) / 2, 0.015)
    limits(max(-0.03, low - room), min(1.02, high + room))


def _unit_axis(label: Any, panel: Any, metric: str) -> None:
    label(f"{LABELS[metric]}, 0 to 1", fontsize=9)
    panel.grid(axis="x", color="#dddddd", linewidth=0.6)


def _radar(
    panel: Any,
    angles: Sequence[float],
    values: Sequence[float | None],
    middle: Sequence[float],
    name: str,
    control: bool,
) -> None:
    around = [*angles, angles[0]]
    numbers = [value or 0.0 for value in values]
    panel.plot(around, [*middle, middle[0]], color="black", linewidth=1.0, linestyle="--")
    panel.plot(
        around, [*numbers, numbers[0]], color="black" if control else "#2166ac", linewidth=1.6, marker="o", markersize=4
    )
    colour, hatch = (CONTROL, HATCH) if control else ("#2166ac", None)
    panel.fill(around, [*numbers, numbers[0]], facecolor=colour, alpha=0.25, hatch=hatch)
    panel.set_ylim(0, 1)
    panel.set_yticks([0.25, 0.5, 0.75, 1], ["", "0.5", "", "1"], fontsize=7, color="#555555")
    shown = ["no value" if value is None else f"{value:.2f}" for value in values]
    titles = [f"{title}\n{text}" for (title, _), text in zip(HEADLINE, shown, strict=True)]
    panel.set_xticks(angles, titles, fontsize=7.5)
    for label, side in zip(panel.get_xticklabels(), ("center", "right", "left"), strict=True):
        label.set_horizontalalignment(side)
    panel.set_title(name, fontsize=10, pad=12)


def _cross(panel: Any, x: Estimate, y: Estimate) -> None:
    if x.low is not None and y.low is not None:
        panel.plot([x.low, x.high], [y.value, y.value], color="black", linewidth=1)
        panel.plot([x.value, x.value], [y.low, y.high], color="black", linewidth=1)


def _median(values: Sequence[float | None]) -> float:
    defined = [value for value in values if value is not None]
    return float(np.median(defined)) if defined else 0.0
