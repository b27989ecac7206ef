"""The gap figure: for every system its three competencies on one line, so that the distance between them is what one sees."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .board import Entry, Score

COMPETENCIES = (
    ("Accuracy", "recall_at_1", "R@1"),
    ("Grounding", "cgs", "CGS"),
    ("Recovery", "rejection_recovery", "RejRec"),
)
WIDTH, LEFT, RIGHT, ROW, TOP = 520, 14, 14, 46, 34


def draw_gaps(entries: Sequence[Entry]) -> str:
    """Return the figure: a circle for accuracy, a square for grounding, a triangle for recovery, each with its interval.

    The thick line spans from the weakest to the strongest competency. Controls are drawn hollow.
    """
    if not entries:
        return '<p class="quiet">There is nothing to draw.</p>'
    height = TOP + ROW * len(entries) + 26
    rows = "".join(_row(entry, TOP + ROW * at) for at, entry in enumerate(entries))
    label = "; ".join(f"{entry.system}: {_in_words(entry)}" for entry in entries)
    key = (
        f"<g font-size='13'>{_shape(0, LEFT + 7, 14, True)}<text x='{LEFT + 18}' y='18'>accuracy (R@1)</text>"
        f"{_shape(1, 172, 14, True)}<text x='184' y='18'>grounding (CGS)</text>"
        f"{_shape(2, 332, 14, True)}<text x='344' y='18'>recovery after a refusal</text></g>"
    )
    head = f'<svg viewBox="0 0 {WIDTH} {height}" class="figure" role="img" aria-label="{escape(label)}">'
    return (
        f"{head}{key}{_axis(height)}{rows}</svg>"
        '<p class="quiet">Thick line: from the weakest to the strongest of the three. Thin line: 95 % bootstrap interval over '
        "dialogues. Hollow: controls, which are no systems.</p>"
    )


def _row(entry: Entry, top: float) -> str:
    y = top + 31
    found = [(at, entry.scores.get(name, Score())) for at, (_, name, _) in enumerate(COMPETENCIES)]
    known = [(at, score) for at, score in found if score.value is not None]
    name = escape(entry.system) + (" (control)" if entry.control else "")
    parts = [f'<text x="{LEFT}" y="{top + 14}" font-size="13" font-weight="600">{name}</text>']
    if not known:
        return "".join([*parts, f'<text x="{LEFT}" y="{y + 4}" font-size="12">no value</text>'])
    values = [score.value for _, score in known if score.value is not None]
    weakest = COMPETENCIES[min(known, key=lambda pair: pair[1].value or 0.0)[0]][0].lower()
    note = f"weakest: {weakest} · gap {max(values) - min(values):.2f}"
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="{top + 14}" font-size="12" text-anchor="end">{note}</text>'
        f'<line x1="{_x(min(values))}" x2="{_x(max(values))}" y1="{y}" y2="{y}" stroke="currentColor" stroke-opacity=".3" '
        'stroke-width="7"/>'
    )
    for _, score in known:
        if score.low is not None and score.high is not None:
            parts.append(
                f'<line x1="{_x(score.low)}" x2="{_x(score.high)}" y1="{y}" y2="{y}" stroke="currentColor" stroke-width="1.5"/>'
            )
    for at, score in known:
        title = f"{COMPETENCIES[at][0]}, {COMPETENCIES[at][2]}: {score.value:.3f}"
        parts.append(f"<g><title>{title}</title>{_shape(at, _x(score.value or 0.0), y, not entry.control)}</g>")
    return "".join(parts)


def _shape(kind: int, x: float, y: float, filled: bool) -> str:
    fill = "currentColor" if filled else "var(--background-fill-primary)"
    style = f'fill="{fill}" stroke="currentColor" stroke-width="1.6"'
    if kind == 0:
        return f'<circle cx="{x}" cy="{y}" r="6" {style}/>'
    if kind == 1:
        return f'<rect x="{x - 5.5}" y="{y - 5.5}" width="11" height="11" {style}/>'
    return f'<path d="M{x} {y - 7}l7 12.5h-14z" {style}/>'


def _axis(height: float) -> str:
    lines = []
    for step in (0, 0.25, 0.5, 0.75, 1):
        x = _x(step)
        lines.append(
            f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{height - 22}" stroke="currentColor" stroke-opacity=".18"/>'
            f'<text x="{x}" y="{height - 6}" font-size="12" text-anchor="middle">{step:g}</text>'
        )
    return "".join(lines)


def _x(value: float) -> float:
    return round(LEFT + 8 + min(1.0, max(0.0, value)) * (WIDTH - LEFT - RIGHT - 16), 1)


def _in_words(entry: Entry) -> str:
    parts = []
    for title, name, _ in COMPETENCIES:
        value = entry.scores.get(name, Score()).value
        parts.append(f"{title.lower()} {'no value' if value is None else f'{value:.2f}'}")
    return ", ".join(parts)
