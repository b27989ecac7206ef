"""One span of one text: is it there, has it moved, is it gone? Nothing counts but the SHA256 of its bytes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

VERIFIED, MOVED, REVIEW_CHANGED = "verified", "moved", "review_changed"
CHANGED, MISSING, OUT_OF_RANGE, AMBIGUOUS_ID = "changed", "missing", "out_of_range", "ambiguous_id"
EMITTED = (VERIFIED, MOVED, REVIEW_CHANGED)
REFUSED = (CHANGED, MISSING, OUT_OF_RANGE, AMBIGUOUS_ID)
STATUSES = EMITTED + REFUSED

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a span. `text` is None unless its hash matches; `start` is where it stands now.

    `found_sha256` is that of the text at the given offsets, empty where there is none. `unit` names the counting unit
    in which the offsets fit when they are not code points: `UTF-16 code units` or `UTF-8 bytes`, else empty.
    """

    status: str
    text: str | None = None
    start: int | None = None
    found_sha256: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text `text_id`: code points `start` to `end`, and the SHA256 of its UTF-8 bytes."""

    text_id: str
    start: int
    end: int
    sha256: str


def span_sha256(text: str) -> str:
    """Return the SHA256 of a text's UTF-8 bytes in hexadecimal; a lone surrogate counts as U+FFFD.

    Example:
        >>> span_sha256("so quiet")[:12]
        'b29f159c0def'
    """
    return hashlib.sha256(replace_surrogates(text)[0].encode()).hexdigest()


def replace_surrogates(text: str) -> tuple[str, int]:
    """Return the text with each lone surrogate replaced by U+FFFD, and how many there were."""
    if text.isascii():
        return text, 0
    return _SURROGATE.subn("\ufffd", text)


def find_span(text: str, start: int, end: int, sha256: str) -> Found:
    """Return the span of a text whose SHA256 is `sha256`, if it is there.

    Args:
        text: the whole text, as decoded; offsets count its code points, `end` exclusive.
        start, end: where the span stood.
        sha256: hexadecimal SHA256 of the span's UTF-8 bytes.

    Returns:
        `verified` at its offsets, `moved` elsewhere in the text, `changed`, or `out_of_range`.
    """
    text = replace_surrogates(text)[0]
    inside = 0 <= start < end <= len(text)
    found = span_sha256(text[start:end]) if inside else ""
    if inside and found == sha256:
        return Found(VERIFIED, text[start:end], start, found)
    unit, elsewhere = _other_unit(text, start, end, sha256)
    if elsewhere is None:
        elsewhere = _window(text, end - start, sha256)
    if elsewhere is not None:
        return Found(MOVED, text[elsewhere[0] : elsewhere[1]], elsewhere[0], found, unit)
    return Found(CHANGED if inside else OUT_OF_RANGE, None, None, found)


def _window(text: str, length: int, sha256: str) -> tuple[int, int] | None:
    """Look for the span at every place of the text; of ASCII text bytes are taken, which costs half."""
    if not 0 < length <= len(text):
        return None
    data = text.encode() if text.isascii() else None
    for start in range(len(text) - length + 1):
        window = text[start : start + length].encode() if data is None else data[start : start + length]
        if hashlib.sha256(window).hexdigest() == sha256:
            return start, start + length
    return None


def _other_unit(text: str, start: int, end: int, sha256: str) -> tuple[str, tuple[int, int] | None]:
    """Try offsets as an editor in a browser (UTF-16) or a byte-wise tool would have counted them."""
    if text.isascii() or not 0 <= start < end:
        return "", None
    for unit, encoding, width in (("UTF-16 code units", "utf-16-le", 2), ("UTF-8 bytes", "utf-8", 1)):
        data = text.encode(encoding)
        try:
            before, span = (data[a * width : b * width].decode(encoding) for a, b in ((0, start), (start, end)))
        except UnicodeDecodeError:  # the offset falls inside a character: not this unit
            continue
        if end * width <= len(data) and span_sha256(span) == sha256:
            return unit, (len(before), len(before) + len(span))
    return "", None
