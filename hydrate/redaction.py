"""Taking licensed text out of one text: spans become placeholders, everything else is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hydrate.errors import HydrationError
from hydrate.placeholders import escape
from hydrate.quoting import MARKS, quoted_spans
from hydrate.runs import RunIndex
from hydrate.similar import Window, best_window
from hydrate.spans import Span, span_sha256

ON_ALTERED = ("replace", "error")
THRESHOLD = 0.80
_MIN_PIECE_TOKENS = 3
_MOST_REORDERED = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text a placeholder goes. `number` is that of a known quote; a found one carries its `span`."""

    start: int
    end: int
    number: int | None = None
    span: Span | None = None


def dehydrate_text(
    text: str,
    texts: Mapping[str, str],
    *,
    labels: Collection[str] = (),
    cited: Sequence[str] = (),
    known: Mapping[int, str] | None = None,
    on_altered: str = "replace",
    threshold: float = THRESHOLD,
    runs: RunIndex | None = None,
) -> tuple[str, dict[int, Span]]:
    """Return the template of a text, and the spans found beyond those already known, by their number.

    Args:
        text: the text with its quotes in clear; holds no lone surrogates.
        texts: id to licensed text.
        labels: labels such as `R3` that cite and so stand plain.
        cited: ids to look in first, before all of `texts`.
        known: number to span text of the quotes that are known to stand here.
        on_altered: what to do about a double-quoted span that is not verbatim but `threshold` similar to a stretch of
            some text: `replace` puts the verbatim stretch in its place, `error` raises.
        runs: finds what stands in `texts` without quotation marks.

    Raises:
        HydrationError: a known quote does not stand in the text, or an altered one under `error`.

    Example:
        >>> dehydrate_text('They say "so quiet".', {"r1": "It was so quiet."})[0]
        'They say "[Q:0]".'
    """
    known = known or {}
    places = _place(text, known)
    if places is None:
        raise HydrationError(
            "a quote's span does not stand in the text",
            do="give hydrated records whose text was not edited, or empty their quotes",
        )
    places += _found(text, places, texts, cited, on_altered, threshold)
    places.sort(key=lambda place: place.start)
    if runs is not None:
        edges = [0, *(edge for place in places for edge in (place.start, place.end)), len(text)]
        places += [
            Place(start, end, None, span)
            for first, last in zip(edges[::2], edges[1::2], strict=True)
            for start, end, span in runs.find(text, first, last)
        ]
        places.sort(key=lambda place: place.start)
    following = max(known, default=-1) + 1
    pieces, spans, position = [], {}, 0
    for place in places:
        number = place.number
        if number is None and place.span is not None:
            number = following
            following += 1
            spans[number] = place.span
        pieces += [escape(text[position : place.start], labels), f"[Q:{number}]"]
        position = place.end
    return "".join([*pieces, escape(text[position:], labels)]), spans


def _place(text: str, known: Mapping[int, str]) -> list[Place] | None:
    """Find a stretch of its own for every known span: as many as can be between quotation marks, then in their order."""
    for unquoted in range(len(known) + 1):
        places = _arrange(text, known, frozenset(known), 0, unquoted, {})
        if places is not None:
            return places
    return None


def _arrange(
    text: str,
    known: Mapping[int, str],
    left: frozenset[int],
    position: int,
    unquoted: int,
    failed: dict[tuple[frozenset[int], int], int],
) -> list[Place] | None:
    """Place the spans `left` from a position on, at most so many of them unquoted."""
    if not left:
        return []
    if failed.get((left, unquoted), len(text) + 1) <= position:
        return None
    for number in sorted(left) if len(known) <= _MOST_REORDERED else (min(left),):
        for fewer in (0, 1)[: unquoted + 1]:
            start = _occurrence(text, known[number], position, not fewer)
            if start is not None:
                end = start + len(known[number])
                rest = _arrange(text, known, left - {number}, end, unquoted - fewer, failed)
                if rest is not None:
                    return [Place(start, end, number), *rest]
    failed[left, unquoted] = position
    return None


def _occurrence(text: str, span: str, position: int, quoted: bool) -> int | None:
    start = text.find(span, position)
    while start >= 0 and quoted and not _is_quoted(text, start, start + len(span)):
        start = text.find(span, start + 1)
    return start if start >= 0 else None


def _is_quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and text[start - 1] in MARKS and text[end] in MARKS


def _found(
    text: str,
    places: Sequence[Place],
    texts: Mapping[str, str],
    cited: Sequence[str],
    on_altered: str,
    threshold: float,
) -> list[Place]:
    """Find the quoted stretches outside the known ones that are, or nearly are, licensed text."""
    found = []
    for start, end in _clear_stretches(text, places):
        content = text[start:end]
        span = _verbatim(content, texts, cited)
        if span is None:
            window = _similar(content, texts, cited, threshold)
            if window is None:
                continue
            if on_altered == "error":
                raise HydrationError(
                    f"the quote at column {start + 1} is altered: {window.score:.2f} similar to {window.text_id} "
                    f"[{window.start}:{window.end}]",
                    do='quote it verbatim, or pass on_altered="replace"',
                )
            span = _span(texts, window.text_id, window.start, window.end)
        found.append(Place(start, end, None, span))
    return found


def _clear_stretches(text: str, places: Sequence[Place]) -> Iterable[tuple[int, int]]:
    """Yield quoted spans, and of those that hold a known quote the rest, if it is long enough to be someone's words."""
    for start, end in quoted_spans(text):
        inside = sorted(
            (place for place in places if place.start < end and start < place.end), key=lambda place: place.start
        )
        if not inside:
            yield start, end
            continue
        edges = [start, *(edge for place in inside for edge in (place.start, place.end)), end]
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            piece = text[first : max(first, last)]
            if len(re.findall(r"\w+", piece)) >= _MIN_PIECE_TOKENS:
                yield first + len(piece) - len(piece.lstrip()), first + len(piece.rstrip())


def _verbatim(content: str, texts: Mapping[str, str], cited: Sequence[str]) -> Span | None:
    for ids in (cited, texts):
        for key in ids:
            start = texts[key].find(content) if key in texts else -1
            if start >= 0:
                return _span(texts, key, start, start + len(content))
    return None


def _similar(content: str, texts: Mapping[str, str], cited: Sequence[str], threshold: float) -> Window | None:
    first = [key for key in cited if key in texts]
    return best_window(content, texts, first, threshold) or best_window(content, texts, texts, threshold)


def _span(texts: Mapping[str, str], key: str, start: int, end: int) -> Span:
    return Span(key, start, end, span_sha256(texts[key][start:end]))
