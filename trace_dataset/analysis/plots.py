"""Figures of results; readable in black and white."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trace_dataset.analysis.tables import HEADLINE
from trace_dataset.evaluation.results import Results

LABELS = {"recall_at_1": "Recall@1", "cgs": "CGS (product of means)", "rejection_recovery": "rejection recovery"}


def competency_bars(results: Sequence[Results], path: Path) -> Path:
    """Draw one panel a competency, one bar a system with its 95 % interval, controls hatched; return the path written."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    estimates = [result.estimates() for result in results]
    figure, panels = pyplot.subplots(1, 3, figsize=(11, 0.42 * len(results) + 1.8), sharey=True)
    for panel, (title, metric) in zip(panels, HEADLINE, strict=True):
        for row, (result, found) in enumerate(zip(results, estimates, strict=True)):
            estimate = found[metric]
            if estimate.value is None:
                panel.text(0.02, row, "no value", va="center")
                continue
            control = bool(result.settings.get("control"))
            panel.barh(
                row,
                estimate.value,
                color="#d9d9d9" if control else "#2166ac",
                edgecolor="black",
                height=0.66,
                hatch="///" if control else None,
            )
            if estimate.low is not None and estimate.high is not None:
                panel.plot([estimate.low, estimate.high], [row, row], color="black", linewidth=1.6)
            panel.text(
                min(max(estimate.value, estimate.high or 0) + 0.02, 1.02),
                row,
                f"{estimate.value:.2f}",
                va="center",
                fontsize=9,
            )
        panel.set_title(title, fontsize=12)
        panel.set_xlabel(f"{LABELS[metric]}, 0 to 1", fontsize=9)
        panel.set_xlim(0, 1.15)
        panel.set_xticks([0, 0.25, 0.5, 0.75, 1])
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(results)), [result.name for result in results])
    panels[0].invert_yaxis()
    settings = results[0].settings
    figure.text(
        0.01,
        0.01,
        f"{settings['dialogues']:,} dialogues, pool {settings['pool']}; black line: 95 % bootstrap interval over "
        "dialogues; hatched: controls",
        fontsize=8,
    )
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return path
