"""Text with what was found in it: every piece escaped, every mark with a line style, a sign and words for screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

MOST_MARKS = 3000  # a page with more is no longer readable

KINDS = {
    "verified": ("✓", "quote that stands in a cited review word for word"),
    "fuzzy": ("≈", "quote that stands there nearly"),
    "unsupported": ("✗", "quote that no cited review supports"),
    "backed": ("", "aspect word with a label near it"),
    "bare": ("?", "aspect word without a label near it"),
    "label": ("", "label of a review that was given"),
    "nolabel": ("✗", "label without a review"),
    "yes": ("✓", "right"),
    "no": ("✗", "refused or wrong"),
}


@dataclass(frozen=True)
class Mark:
    """Something found between two code points of a text; `kind` is one of `KINDS`, `tip` says more."""

    start: int
    end: int
    kind: str
    tip: str = ""


def marked(text: str, marks: Iterable[Mark]) -> str:
    """Return a text as HTML with its marks, which may overlap.

    Example:
        >>> marked("a<b", [Mark(0, 1, "yes")])
        '<span class="m yes" title="right">a</span><sup class="sign" aria-hidden="true">✓</sup>&lt;b'
    """
    kept = sorted(
        (mark for mark in marks if mark.start < mark.end <= len(text)), key=lambda mark: (mark.start, -mark.end)
    )
    kept = kept[:MOST_MARKS]
    points = sorted({0, len(text), *(mark.start for mark in kept), *(mark.end for mark in kept)})
    pieces: list[str] = []
    active: list[Mark] = []
    following = 0
    for start, end in pairwise(points):
        while following < len(kept) and kept[following].start == start:
            active.append(kept[following])
            following += 1
        pieces.append(_piece(text[start:end], active))
        pieces += [_sign(mark) for mark in active if mark.end == end]
        active = [mark for mark in active if mark.end > end]
    return "".join(pieces)


def said(text: str, marks: Iterable[Mark] = ()) -> str:
    """Return a user's or a system's text in its frame, set in the direction of its script."""
    return f'<div class="said" dir="auto">{marked(text, marks)}</div>'


def legend(kinds: Sequence[str]) -> str:
    """Return what the marks that occur mean."""
    items = "".join(
        f'<li><span class="m {kind}">abc</span>{_sign(Mark(0, 1, kind))} {escape(KINDS[kind][1])}</li>'
        for kind in dict.fromkeys(kinds)
    )
    return f'<ul class="legend">{items}</ul>' if items else ""


def short(text: str, most: int = 90) -> str:
    """Return the beginning of a text, escaped, in the direction of its script."""
    cut = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return f'<span class="auto" dir="auto">{escape(cut)}</span>'


def _piece(text: str, active: Sequence[Mark]) -> str:
    if not active:
        return escape(text)
    classes = " ".join(["m", *dict.fromkeys(mark.kind for mark in active)])
    tips = "; ".join(dict.fromkeys(mark.tip or KINDS[mark.kind][1] for mark in active))
    return f'<span class="{classes}" title="{escape(tips)}">{escape(text)}</span>'


def _sign(mark: Mark) -> str:
    sign = KINDS[mark.kind][0]
    return f'<sup class="sign" aria-hidden="true">{sign}</sup>' if sign else ""
