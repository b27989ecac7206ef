"""Sentences with their offsets, by the rules of definitions 2.6."""

from __future__ import annotations

import re

ABBREVIATIONS = re.compile(r"(?<![A-Za-z])(?:st|dr|mr|mrs|ms|ave|blvd|rd|mt|ft|vs|e\.g|i\.e)$", re.IGNORECASE)
END = re.compile(r"""[.!?]+["'”’»)]*(?:\s*\[R\d+(?:\s*[,;]\s*R\d+)*\])*(?=\s+["'“‘«($0-9A-ZÀ-ÖØ-Þ])""")
LONGEST_ABBREVIATION = 5


def sentence_offsets(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without the white space around it; labels stay with their sentence.

    A break comes after `.`, `!` or `?`, closing marks and labels, when white space and then a capital, digit, quote
    mark, parenthesis or `$` follow, and not after a street or title abbreviation. Source: definitions, 2.6.

    Example:
        >>> sentence_offsets("It is cozy. Parking is free!")
        [(0, 11), (12, 28)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    for match in END.finditer(text):
        before = text[max(0, match.start() - LONGEST_ABBREVIATION) : match.start()]
        if text[match.start()] == "." and ABBREVIATIONS.search(before):
            continue
        _append(found, text, start, match.end())
        start = match.end()
    _append(found, text, start, len(text))
    return found


def _append(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add the stretch without the white space around it, if anything is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))
