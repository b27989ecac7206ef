"""A map of a dialogue's places: what could be recommended, and what the reference and the systems recommended."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from trace_dataset.analysis.drawing import MARKERS, footnote, new_figure, save
from trace_dataset.evaluation.columns import dialogue_gold
from trace_dataset.kb import KnowledgeBase
from trace_dataset.schema import Dialogue
from trace_dataset.scoring.practical import EARTH_RADIUS_KM, spatial_coherence, valid_coordinates

GOLDEN_ANGLE = 2.4  # radians
SYSTEM_COLOURS = ("#0072B2", "#009E73", "#CC79A7")
Points = Mapping[str, tuple[float, float]]


def dialogue_map(
    dialogue: Dialogue, kb: KnowledgeBase, systems: Mapping[str, Sequence[str]], folder: Path, name: str
) -> list[Path] | None:
    """Draw the candidates of a dialogue in kilometres, the reference's route through them, and up to three systems' places.

    Args:
        systems: for each system the places it recommended in the dialogue, in order.

    Returns:
        The files written; None where fewer than two places have coordinates.
    """
    wanted = dict.fromkeys([*dialogue.candidates, *(place for places in systems.values() for place in places)])
    located = {place: (kb.pois[place].latitude, kb.pois[place].longitude) for place in wanted}
    known = {place: (float(y), float(x)) for place, (y, x) in located.items() if valid_coordinates(y, x)}  # type: ignore[arg-type]
    if len(known) < 2:
        return None
    points = kilometres(known)
    route = [place for place in dialogue_gold(dialogue) if place in points]
    figure, panel = new_figure(8.4, 5.6)
    _reference(panel, points, route, {place for turn in dialogue.turns for place in turn.rejected_poi_ids})
    for at, (system, places) in enumerate(list(systems.items())[: len(SYSTEM_COLOURS)]):
        shown = [points[place] for place in dict.fromkeys(places) if place in points]
        looks = {"marker": MARKERS[at + 1], "s": 190 + 130 * at, "edgecolor": SYSTEM_COLOURS[at], "label": system}
        if shown:
            panel.scatter(*zip(*shown, strict=True), facecolor="none", linewidth=1.8, zorder=4, **looks)
    for at, (x, y) in enumerate(points.values()):
        turn = at * GOLDEN_ANGLE  # keeps the letters of a cluster apart
        where = (15 * math.cos(turn) - 3, 15 * math.sin(turn) - 3)
        letter = {"fontsize": 9, "weight": "bold", "zorder": 6, "path_effects": _white_edge()}
        panel.annotate(_letter(at), (x, y), where, textcoords="offset points", **letter)
    panel.text(
        1.03, 0.0, _names(points, route, kb), transform=panel.transAxes, fontsize=8, va="bottom", linespacing=1.5
    )
    _frame(panel, f"{dialogue.city}, {dialogue.poi_type}: dialogue {dialogue.dialogue_id}")
    coherence = spatial_coherence([[place, *known[place]] for place in route])
    shown_value = "-" if coherence is None else f"{coherence:.2f}"
    footnote(figure, f"Spatial coherence of the reference at 2 km: {shown_value}. Numbers: order in the reference.")
    return save(figure, folder, name)


def kilometres(located: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return places by kilometres east and north of their centre.

    Example:
        >>> {place: round(x) for place, (x, _) in kilometres({"a": (0.0, 0.0), "b": (0.0, 1.0)}).items()}
        {'a': -56, 'b': 56}
    """
    latitude = math.fsum(y for y, _ in located.values()) / len(located)
    longitude = math.fsum(x for _, x in located.values()) / len(located)
    degree = math.pi * EARTH_RADIUS_KM / 180
    east = degree * math.cos(math.radians(latitude))
    return {place: (east * (x - longitude), degree * (y - latitude)) for place, (y, x) in located.items()}


def _reference(panel: Any, points: Points, route: Sequence[str], rejected: Collection[str]) -> None:
    every = list(zip(*points.values(), strict=True))
    panel.scatter(*every, s=46, facecolor="white", edgecolor="black", label="candidate", zorder=2)
    if route:
        line = list(zip(*(points[place] for place in route), strict=True))
        panel.plot(*line, "-o", color="black", linewidth=1.2, markersize=7, label="reference, in order", zorder=3)
    crossed = [points[place] for place in sorted(rejected) if place in points]
    if crossed:
        where = list(zip(*crossed, strict=True))
        panel.scatter(*where, marker="x", s=120, color="#D55E00", linewidth=2, label="turned down", zorder=5)


def _frame(panel: Any, title: str) -> None:
    panel.set_aspect("equal", adjustable="datalim")
    panel.margins(0.18)
    panel.set_xlabel("east of the centre, km")
    panel.set_ylabel("north of the centre, km")
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, labelspacing=1.7, handletextpad=1.5)
    panel.set_title(title, fontsize=10)


def _names(points: Points, route: Sequence[str], kb: KnowledgeBase) -> str:
    lines = []
    for at, place in enumerate(points):
        order = f" ({route.index(place) + 1}.)" if place in route else ""
        lines.append(f"{_letter(at)}  {kb.pois[place].name}{order}")
    return "\n".join(lines)


def _white_edge() -> list[Any]:
    """Return what keeps a letter readable on lines and marks."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground="white")]


def _letter(at: int) -> str:
    return chr(ord("a") + at % 26) * (1 + at // 26)
