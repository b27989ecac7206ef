"""Where the double-quoted spans of a text are (definitions, section 2.4)."""

from __future__ import annotations

import re

STRAIGHT = '"'
OPENERS = "“„‟«"
CLOSERS = "”»"
MARKS = STRAIGHT + OPENERS + CLOSERS


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return the offsets of what stands between double quotation marks, white space trimmed, marks left out.

    A quote never crosses a line break; a straight mark closes at the next straight one, curly marks nest, and an
    opener without a closer is skipped. Single marks never delimit. Spans without a word character are left out.

    Example:
        >>> [text[a:b] for text in ['They say "so quiet".'] for a, b in quoted_spans(text)]
        ['so quiet']
    """
    found = []
    for line in re.finditer(r"[^\r\n]+", text):
        position, limit = line.span()
        while position < limit:
            end = _closer(text, position, limit)
            if end is None:
                position += 1
                continue
            start, stop = position + 1, end
            while start < stop and text[start].isspace():
                start += 1
            while stop > start and text[stop - 1].isspace():
                stop -= 1
            if re.search(r"\w", text[start:stop]):
                found.append((start, stop))
            position = end + 1
    return found


def _closer(text: str, start: int, limit: int) -> int | None:
    """Return where the quote that opens at `start` closes; None where none opens, or it never closes."""
    if text[start] == STRAIGHT:
        return _first(text, start + 1, limit, STRAIGHT) or _first(text, start + 1, limit, CLOSERS)
    if text[start] not in OPENERS:
        return None
    depth = 0
    for position in range(start, limit):
        depth += (text[position] in OPENERS) - (text[position] in CLOSERS)
        if depth == 0:
            return position
    return _first(text, start + 1, limit, STRAIGHT)


def _first(text: str, start: int, limit: int, marks: str) -> int | None:
    return next((position for position in range(start, limit) if text[position] in marks), None)
