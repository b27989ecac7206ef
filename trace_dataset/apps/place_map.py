"""A small map of a pool as inline SVG: no tiles, no request, readable in black and white."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from html import escape

from trace_dataset.schema import POI
from trace_dataset.scoring.practical import valid_coordinates

WIDTH, HEIGHT, MARGIN = 560, 380, 34
NUMBERED, RADIUS = 10, 11
KM_PER_DEGREE = 111.195


def draw_map(ranking: Sequence[POI], named: Collection[str], rejected: Collection[str]) -> str:
    """Return the map of ranked places: named ones filled, the first ten numbered, refused ones crossed, the others dots.

    North is up; distances are true to scale in both directions. Places without coordinates are counted below.
    """
    located = [(rank, poi) for rank, poi in enumerate(ranking, 1) if valid_coordinates(poi.latitude, poi.longitude)]
    if not located:
        return '<p class="quiet">None of these places has coordinates, so there is no map.</p>'
    project, scale = _projection([poi for _, poi in located])
    spots: list[tuple[float, float]] = []
    dots: list[str] = []
    names: list[str] = []
    for rank, poi in located:
        x, y = project(poi)
        kept, refused = poi.business_id in named, poi.business_id in rejected
        if rank > NUMBERED and not kept and not refused:
            dots.append(_point(x, y, rank, poi))
            continue
        spots.append(_free(x, y, spots))
        dots.append(_leader(x, y, *spots[-1]) + _disc(*spots[-1], rank, poi, kept, refused))
        if kept:
            names.append(_name(*spots[-1], poi.name))
    dots = [*reversed(dots), *names]  # the best are drawn last, on top, and above them the names
    answered = ", ".join(poi.name for _, poi in located if poi.business_id in named) or "none"
    label = f"Map of {len(located)} places; named in the answer: {answered}"
    missing = len(ranking) - len(located)
    note = f" {missing} places have no coordinates." if missing else ""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6" fill="none" stroke="currentColor" '
        f'stroke-opacity=".35"/>{"".join(dots)}{_scale_bar(scale)}</svg>'
        '<p class="quiet">Filled: named in the answer; crossed out: refused; '
        f"points: below rank {NUMBERED}. North is up.{note}</p>"
    )


def _projection(pois: Sequence[POI]) -> tuple[Callable[[POI], tuple[float, float]], float]:
    """Return a function from a place to a point, and the pixels of a kilometre."""
    latitudes = [float(poi.latitude or 0) for poi in pois]
    longitudes = [float(poi.longitude or 0) for poi in pois]
    middle = (min(latitudes) + max(latitudes)) / 2
    shrink = max(0.01, math.cos(math.radians(middle)))
    tall = (max(latitudes) - min(latitudes)) * KM_PER_DEGREE
    wide = (max(longitudes) - min(longitudes)) * KM_PER_DEGREE * shrink
    scale = min((WIDTH - 2 * MARGIN) / max(wide, 0.2), (HEIGHT - 2 * MARGIN) / max(tall, 0.2))
    center = (min(longitudes) + max(longitudes)) / 2

    def project(poi: POI) -> tuple[float, float]:
        x = WIDTH / 2 + (float(poi.longitude or 0) - center) * KM_PER_DEGREE * shrink * scale
        y = HEIGHT / 2 - (float(poi.latitude or 0) - middle) * KM_PER_DEGREE * scale
        return round(x, 1), round(y, 1)

    return project, scale


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the nearest spot to a point where a disc covers no other; the point itself where there is none."""
    for ring in range(4):
        for step in range(12 if ring else 1):
            angle = math.pi * (step / 6 - 0.5)
            spot = round(x + 24 * ring * math.cos(angle), 1), round(y + 24 * ring * math.sin(angle), 1)
            inside = RADIUS < spot[0] < WIDTH - RADIUS and RADIUS < spot[1] < HEIGHT - RADIUS
            if inside and all(math.dist(spot, other) >= 2 * RADIUS + 1 for other in taken):
                return spot
    return x, y


def _leader(x: float, y: float, to_x: float, to_y: float) -> str:
    """Return a thin line from where a place lies to the disc that had to step aside."""
    if (x, y) == (to_x, to_y):
        return ""
    return (
        f'<circle cx="{x}" cy="{y}" r="2" fill="currentColor"/>'
        f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="currentColor" stroke-width="1"/>'
    )


def _point(x: float, y: float, rank: int, poi: POI) -> str:
    title = f"<title>{rank}. {escape(poi.name)}</title>"
    return f'<g>{title}<circle cx="{x}" cy="{y}" r="2.5" fill="currentColor" fill-opacity=".55"/></g>'


def _disc(x: float, y: float, rank: int, poi: POI, named: bool, rejected: bool) -> str:
    paper, pen = "var(--background-fill-primary)", "currentColor"
    fill, ink = (pen, paper) if named else (paper, pen)
    cross = f'<path d="M{x - 9} {y - 9}l18 18m0-18l-18 18" stroke="{ink}" stroke-width="2"/>' if rejected else ""
    return (
        f"<g><title>{rank}. {escape(poi.name)}{' (refused)' if rejected else ''}</title>"
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{pen}" stroke-width="1.5"/>'
        f'<text x="{x}" y="{y + 4}" text-anchor="middle" font-size="12" font-weight="700" style="fill:{ink}">{rank}</text>'
        f"{cross}</g>"
    )


def _name(x: float, y: float, name: str) -> str:
    short = name if len(name) <= 28 else name[:27] + "…"
    right = x < WIDTH / 2
    return (
        f'<text x="{x + 15 if right else x - 15}" y="{y + 4}" font-size="13" font-weight="600" '
        f'text-anchor="{"start" if right else "end"}" paint-order="stroke" stroke="var(--background-fill-primary)" '
        f'stroke-width="4">{escape(short)}</text>'
    )


def _scale_bar(scale: float) -> str:
    """Return a bar of a round length of at most a third of the width."""
    steps = [size * 10**power for power in range(-2, 5) for size in (1, 2, 5)]
    km = max((step for step in steps if step * scale <= WIDTH / 3), default=steps[0])
    x, y, length = 14, HEIGHT - 14, round(km * scale, 1)
    label = f"{km:g} km" if km >= 1 else f"{round(km * 1000)} m"
    return (
        f'<path d="M{x} {y - 5}v5h{length}v-5" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        f'<text x="{x + 6}" y="{y - 6}" font-size="12">{label}</text>'
    )
