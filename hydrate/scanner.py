"""Finding the few review lines that matter among millions, without parsing the others.

A line of Yelp's review table proves its own layout: it begins `{"review_id":"`, the id takes 22 bytes, `"user_id":"` and
`"business_id":"` follow at fixed places, and it ends in `}`. Of such a line the ids are read at their offsets, and a
line whose id is not wanted is passed over. Every other line is parsed as JSON. So nothing that is wanted is missed,
whatever a line looks like; only a key that stands a second time later in its line goes unseen.

This file also runs as a helper process (`python scanner.py`), so it imports nothing of the package.
"""

from __future__ import annotations

import marshal
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

try:
    from orjson import loads
except ImportError:  # every line that matters is then parsed by the caller
    loads = None  # type: ignore[assignment]

BUFFER = 2 << 20
READY = b"R"
HEADER = 120
_ID_LENGTH = 22
_ID_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_START, _USER, _PLACE, _AFTER = b'{"review_id":"', b'","user_', b'"business_id":"', b'","stars'
_REVIEW_AT, _PLACE_AT, _STARS_AT = 14, 88, 110
_FIELDS = b'","stars":,"useful":,"funny":,"cool":,'
_TEXT = b'"text":"'
_PLAIN_TEXT = frozenset(range(0x21, 0x7F)) - frozenset(b'"\\')
_BITS = 20
_FRAME = struct.Struct("<Q")

Review = tuple[str, str, str, float]  # review id, place id, text, stars
Ids = tuple[str, str]  # review id, place id
Item = Review | Ids | bytes  # bytes: a line that a person, or a more patient parser, has to look at
Lines = Callable[[bytearray, int], Iterator[tuple[int, int, bool]]]


@dataclass
class Search:
    """What is looked for: reviews whose `key` (`review_id` or `business_id`) is among `wanted`.

    `keys_only` asks for the ids of those that have text, and not for the text.
    """

    key: str
    wanted: frozenset[bytes]
    keys_only: bool = False
    fast: bool = field(init=False)

    def __post_init__(self) -> None:
        self.fast = set(map(len, self.wanted)) <= {_ID_LENGTH} and not b"".join(self.wanted).translate(None, _ID_BYTES)


class Scanner:
    """Scans bytes for a search; one for each thread, since it owns its buffer."""

    def __init__(self, search: Search, buffer: int = BUFFER) -> None:
        self._search = search
        self._buffer = bytearray(buffer)
        self._lines = (_proven_by_numpy(search) or _proven_by_slices(search)) if search.fast else _every_line

    def scan(self, readinto: Callable[[memoryview], int]) -> Iterator[list[Item]]:
        """Yield what is found in every buffer's worth of bytes until `readinto` gives none, in the order of the lines."""
        buffer, filled, more = self._buffer, 0, True
        while more:
            if filled > len(buffer) // 2:  # a line longer than half the buffer
                buffer = self._buffer = buffer + bytearray(len(buffer))
            while more and filled < len(buffer):
                count = readinto(memoryview(buffer)[filled:])
                filled, more = filled + count, bool(count)
            end = buffer.rfind(b"\n", 0, filled) + 1 if more else filled
            if end:
                yield list(self._items(buffer, end))
                buffer[: filled - end] = buffer[end:filled]
                filled -= end

    def _items(self, buffer: bytearray, end: int) -> Iterator[Item]:
        view, search = memoryview(buffer), self._search
        for start, stop, proven in self._lines(buffer, end):
            ids = _ids(buffer, start, stop) if proven and search.keys_only else None
            if ids:
                yield ids
                continue
            line = bytes(view[start:stop])
            if proven or line.strip():
                item = _item(line, search)
                if item:
                    yield item


def _item(line: bytes, search: Search) -> Item | None:
    """Return what a line holds, if it is wanted; the line itself where that is not plain to see."""
    if loads is None:
        return line
    try:
        row = loads(line)
    except ValueError:
        return line
    if not isinstance(row, dict):
        return line
    key = row.get(search.key)
    if not isinstance(key, str) or key.encode() not in search.wanted:
        return None
    review, place, text, stars = row.get("review_id"), row.get("business_id"), row.get("text"), row.get("stars")
    if not (isinstance(review, str) and isinstance(place, str) and isinstance(text, str)):
        return line
    if search.keys_only:
        return (review, place) if text.strip() else None
    return review, place, text, float(stars) if isinstance(stars, (int, float)) else 0.0


def _ids(buffer: bytearray, start: int, stop: int) -> Ids | None:
    """Return a proven line's ids if it also proves that its text is not blank."""
    text = buffer.find(_TEXT, start + _STARS_AT, stop)
    first = text + len(_TEXT)
    if text < 0 or buffer[first] not in _PLAIN_TEXT:
        return None
    review = bytes(buffer[start + _REVIEW_AT : start + _REVIEW_AT + _ID_LENGTH])
    if review.translate(None, _ID_BYTES) or buffer[start + _STARS_AT : text].translate(None, b".0123456789") != _FIELDS:
        return None
    return review.decode(), buffer[start + _PLACE_AT : start + _PLACE_AT + _ID_LENGTH].decode()


def _every_line(buffer: bytearray, end: int) -> Iterator[tuple[int, int, bool]]:
    start = 0
    while start < end:
        stop = buffer.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop, False
        start = stop + 1


def _proven_by_slices(search: Search) -> Lines:
    """Return the line finder that needs nothing but Python."""
    wanted, by_review = search.wanted, search.key == "review_id"
    at = _REVIEW_AT if by_review else _PLACE_AT

    def lines(buffer: bytearray, end: int) -> Iterator[tuple[int, int, bool]]:
        start = 0
        while start < end:
            stop = buffer.find(b"\n", start, end)
            stop = end if stop < 0 else stop
            head = bytes(buffer[start : min(stop, start + HEADER)])
            proven = (
                len(head) == HEADER
                and buffer[stop - 1] == 0x7D
                and head.startswith(_START)
                and head[36:44] == _USER
                and (by_review or (head[73:88] == _PLACE and head[110:118] == _AFTER))
            )
            if not proven or head[at : at + 22] in wanted:
                yield start, stop, proven
            start = stop + 1

    return lines


def _proven_by_numpy(search: Search) -> Lines | None:
    """Return the line finder that looks at a whole buffer at once; None without NumPy."""
    try:
        import numpy as np
    except ImportError:
        return None
    by_review, wanted = search.key == "review_id", search.wanted
    at = _REVIEW_AT if by_review else _PLACE_AT
    expected = [(0, _START[:8]), (6, _START[6:]), (36, _USER)]
    if not by_review:
        expected += [(73, _PLACE[:8]), (80, _PLACE[7:]), (_STARS_AT, _AFTER)]
    checks = [(offset, np.frombuffer(piece, "<u8")[0]) for offset, piece in expected]
    multiplier, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - _BITS)
    table = np.zeros(1 << _BITS, bool)
    prefixes = np.frombuffer(b"".join(each[:8] for each in wanted), "<u8")
    table[(prefixes * multiplier) >> shift] = True

    def words(buffer: bytearray, offset: int, starts: Any) -> Any:
        """Eight bytes of each line, at an offset from its start, as one number."""
        return np.ndarray((len(buffer) - offset - 7,), "<u8", buffer, offset, (1,))[starts]

    def newlines(data: Any) -> Any:
        """Positions of all newlines; eight bytes are looked at as one number, which is twice as fast."""
        whole = len(data) // 8 * 8
        flags = (data[:whole] == 10).view("<u8")
        at = np.flatnonzero(flags != 0)
        first = flags[at] & (~flags[at] + np.uint64(1))
        if (first != flags[at]).any():  # two newlines within eight bytes
            return np.flatnonzero(data == 10)
        found = at * 8 + (np.frexp(first.astype(np.float64))[1] - 1) // 8
        return np.concatenate((found, whole + np.flatnonzero(data[whole:] == 10)))

    def lines(buffer: bytearray, end: int) -> Iterator[tuple[int, int, bool]]:
        data = np.frombuffer(buffer, np.uint8, end)
        stops = newlines(data)
        if not len(stops) or stops[-1] != end - 1:
            stops = np.append(stops, end)
        starts = np.concatenate((np.zeros(1, stops.dtype), stops[:-1] + 1))
        heads = np.minimum(starts, len(buffer) - HEADER)  # differs only for lines too short to prove anything
        odd = (stops - starts < HEADER) | (data[stops - 1] != 0x7D)
        for offset, word in checks:
            odd |= words(buffer, offset, heads) != word
        hit = odd | table[(words(buffer, at, heads) * multiplier) >> shift]
        hits = np.flatnonzero(hit)
        for start, stop, proven in zip(starts[hits].tolist(), stops[hits].tolist(), (~odd[hits]).tolist(), strict=True):
            if not proven or bytes(buffer[start + at : start + at + 22]) in wanted:
                yield start, stop, proven

    return lines


def aligned(file: BinaryIO, position: int, start: int, end: int) -> int:
    """Return where the first line begins at or after a position of the table that takes bytes `start` to `end`."""
    if position <= start:
        return start
    position -= 1
    while position < end:
        file.seek(position)
        block = file.read(min(1 << 14, end - position))
        if not block:
            return position
        newline = block.find(b"\n")
        if newline >= 0:
            return position + newline + 1
        position += len(block)
    return end


def scan_chunk(scanner: Scanner, file: BinaryIO, chunk: tuple[int, int], table: tuple[int, int]) -> list[Item]:
    """Return what the lines that begin within a chunk of a table give. Raises `EOFError` where bytes are missing."""
    position, end = (aligned(file, edge, *table) for edge in chunk)
    file.seek(position)

    def readinto(view: memoryview) -> int:
        nonlocal position
        view = view[: end - position]
        count = file.readinto(view) or 0  # type: ignore[attr-defined]
        if not count and len(view):
            raise EOFError(f"the file ends at byte {position:,} instead of {end:,}")
        position += count
        return int(count)

    return [each for items in scanner.scan(readinto) for each in items]


def pack(items: list[Item]) -> bytes:
    """Return items as bytes, preceded by their length."""
    data = marshal.dumps(items)
    return _FRAME.pack(len(data)) + data


def unpack(read: Callable[[int], bytes]) -> list[Item] | None:
    """Read packed items; None where the other side is gone."""
    header = read(_FRAME.size)
    if len(header) < _FRAME.size:
        return None
    (size,) = _FRAME.unpack(header)
    data = read(size)
    if len(data) < size:
        return None
    items: list[Item] = marshal.loads(data)
    return items


def main() -> None:
    """Serve as helper: a search, a file and its range on standard input, then chunks; items for each on standard output."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    (key, wanted, keys_only), path, table = marshal.load(source)
    scanner = Scanner(Search(key, wanted, keys_only))
    with open(path, "rb", buffering=0) as file:
        target.write(READY)
        target.flush()
        for line in iter(source.readline, b""):
            first, last = line.split()
            target.write(pack(scan_chunk(scanner, file, (int(first), int(last)), table)))
            target.flush()


if __name__ == "__main__":
    main()
