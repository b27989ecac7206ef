"""How every figure looks: readable in black and white, colour-blind safe, written as PNG and SVG, the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydrate.errors import StorageError
from trace_dataset.evaluation.results import Estimate

# Okabe and Ito's palette without yellow, dark enough on white; a marker and a line style each, so that none needs its colour
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
LINES = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1)),
    (0, (3, 1, 1, 1)),
)  # one fewer than colours: no pair of both comes twice soon
CONTROL = "#bdbdbd"
HATCH = "////"
_STYLE: Any = {
    "text.parse_math": False,  # a name may hold dollar signs
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "svg.hashsalt": "trace",
    "svg.fonttype": "none",  # text stays text: it can be searched, and read aloud
    "figure.dpi": 100,
    "savefig.dpi": 150,
}


def style(at: int) -> dict[str, Any]:
    """Return colour, marker and line style of the system at a position."""
    return {
        "color": COLOURS[at % len(COLOURS)],
        "marker": MARKERS[at % len(MARKERS)],
        "linestyle": LINES[at % len(LINES)],
    }


def new_figure(width: float, height: float, **layout: Any) -> tuple[Any, Any]:
    """Return a figure in inches and its axes; no global state of matplotlib is used."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.subplots(**layout)
    return figure, axes


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG; return both paths."""
    import matplotlib

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(_STYLE):
            for path in paths:
                plain = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
                figure.savefig(path, metadata=plain, bbox_inches="tight", pad_inches=0.08)
    except OSError as error:
        raise StorageError(f"{folder} cannot be written: {error.strerror}", do="choose another --out") from error
    return paths


def footnote(figure: Any, text: str) -> None:
    """Write what a figure rests on below it."""
    figure.text(0.01, -0.01, text, fontsize=7.5, va="top", ha="left", wrap=False)


def bar(panel: Any, row: int, found: Estimate, control: bool, vacuous: float | None = None) -> None:
    """Draw an estimate from 0 to 1 as a bar with its interval; a share of it that measures nothing stays white."""
    if found.value is None:
        panel.text(0.02, row, "no value", va="center", fontsize=8.5)
        return
    hatch, colour = (HATCH, "white") if control else (None, "#2166ac")
    panel.barh(row, found.value, color=CONTROL if control else colour, edgecolor="black", height=0.66, hatch=hatch)
    if vacuous:
        width = min(vacuous, found.value)
        panel.barh(row, width, left=found.value - width, color="white", edgecolor="black", height=0.66)
    if found.low is not None and found.high is not None:
        panel.plot([found.low, found.high], [row, row], color="black", linewidth=1.8)
    panel.text(
        min(max(found.value, found.high or 0) + 0.02, 1.02), row, f"{found.value:.2f}", va="center", fontsize=8.5
    )
