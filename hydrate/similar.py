"""The window of a text that an altered quote was most likely taken from.

Comparison runs on a normalised copy (compatibility forms, straight quotation marks, single blanks, lower case:
definitions, section 2.1) whose characters remember where they came from; what is returned are offsets in the raw text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hydrate.errors import UsageError
from hydrate.quoting import MARKS

_MARKS = str.maketrans({**dict.fromkeys(MARKS, '"'), **dict.fromkeys("‘’‚‛′", "'")})
_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised copy; its character `i` comes from the raw characters `origin[i]` to `origin[i + 1]`."""

    text: str
    origin: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the text `text_id`, and its similarity to a quote, 0 to 1."""

    text_id: str
    start: int
    end: int
    score: float


@lru_cache(maxsize=1 << 16)
def plain(text: str) -> str:
    """Return the normalised copy of a text alone; recent ones are remembered."""
    return " ".join(text.lower().split()) if text.isascii() else normalised(text).text


@lru_cache(maxsize=256)
def normalised(text: str) -> Normalised:
    """Return the normalised copy of a text and where its characters come from."""
    pieces: list[str] = []
    origin: list[int] = []
    position, blank = 0, True
    while position < len(text):
        end = position + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        for character in unicodedata.normalize("NFKC", text[position:end]).translate(_MARKS).lower():
            if character.isspace() and blank:
                continue
            blank = character.isspace()
            pieces.append(" " if blank else character)
            origin.append(position)
        position = end
    if pieces and blank:
        pieces.pop()
        position = origin.pop()
    return Normalised("".join(pieces), (*origin, position))


def best_window(quote: str, texts: Mapping[str, str], ids: Iterable[str], threshold: float = 0.80) -> Window | None:
    """Return the window most similar to the quote among the texts `ids`, if it reaches the threshold.

    Similarity is that of the grounding score (definitions, section 2.5): the best aligned window of the quote's
    length, or the plain ratio where the quote is longer than the text. The window is then fitted to whole words.

    Raises:
        UsageError: RapidFuzz is not installed.
    """
    fuzz = _rapidfuzz()
    wanted = plain(quote)
    best: tuple[float, str, int, int] | None = None
    cutoff = threshold * 100
    for key in ids:
        copy = plain(texts[key])
        if not wanted or not copy:
            continue
        if len(wanted) > len(copy):
            score, start, end = fuzz.ratio(wanted, copy, score_cutoff=cutoff), 0, len(copy)
        else:
            found = fuzz.partial_ratio_alignment(wanted, copy, score_cutoff=cutoff)
            score, start, end = (found.score, found.dest_start, found.dest_end) if found else (0.0, 0, 0)
        if score >= cutoff and end > start and (best is None or score > best[0]):
            best = (score, key, start, end)
    if best is None:
        return None
    score, key, start, end = best
    return _raw(key, texts[key], *_whole_words(wanted, plain(texts[key]), start, end, fuzz), score)


def _raw(key: str, text: str, start: int, end: int, score: float) -> Window:
    origin = normalised(text).origin
    first, last = origin[start], origin[end]
    while first < last and text[first].isspace():
        first += 1
    while last > first and text[last - 1].isspace():
        last -= 1
    return Window(key, first, last, score / 100)


def _whole_words(quote: str, text: str, start: int, end: int, fuzz: Any) -> tuple[int, int]:
    """Move both ends to a word's edge, outwards or inwards, whichever is closer to the quote."""
    starts, ends = {start}, {end}
    for word in _WORD.finditer(text):
        if word.start() < start < word.end():
            starts = {word.start(), word.end()}
        if word.start() < end < word.end():
            ends = {word.start(), word.end()}
    choices = [(a, b) for a in sorted(starts) for b in sorted(ends) if text[a:b].strip()]
    return max(
        choices or [(start, end)], key=lambda edge: (fuzz.ratio(quote, text[edge[0] : edge[1]].strip()), -edge[1])
    )


def _rapidfuzz() -> Any:
    try:
        from rapidfuzz import fuzz
    except ImportError:
        raise UsageError("comparing altered quotes needs RapidFuzz", do="pip install rapidfuzz") from None
    return fuzz
