"""Finding the few review lines that matter among millions, without parsing the others.

A line of Yelp's review table proves its own layout: it begins `{"review_id":"`, the id takes 22 bytes, `"user_id":"` and
`"business_id":"` follow at fixed places, and it ends in `}`. Of such a line the ids are read at their offsets, and a
line whose id is not wanted is passed over. Every other line is parsed as JSON. So nothing that is wanted is missed,
whatever a line looks like; only a key that stands a second time later in its line goes unseen.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, BinaryIO

try:
    from orjson import loads
except ImportError:  # every line that matters is then parsed by the caller
    loads = None  # type: ignore[assignment]

BUFFER = 2 << 20
_ID_LENGTH = 22
_ID_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_LAYOUT = b'{"review_id":"%s","user_id":"%s","business_id":"%s","stars"' % ((b"\0" * _ID_LENGTH,) * 3) + b"\0"
_FIXED = ((0, 14), (36, 49), (71, 88), (110, 119))  # where the layout has no id
_HEADERS = {"review_id": (14, 48), "business_id": (88, 120)}  # where the id begins, how much of the layout proves it
_STARS_AT = 110
_FIELDS = b'","stars":,"useful":,"funny":,"cool":,'
_TEXT = b'"text":"'
_PLAIN_TEXT = frozenset(range(0x21, 0x7F)) - frozenset(b'"\\')
_CLOSING = 0x7D
_SIEVE_BITS = 20
_fields = itemgetter("review_id", "business_id", "text", "stars")
_FRAME = struct.Struct("<Q")

Review = tuple[str, str, str, float]  # review id, place id, text, stars
Ids = tuple[str, str]  # review id, place id
Item = Review | Ids | bytes  # bytes: a line that a person, or a more patient parser, has to look at
Lines = Callable[[bytearray, int], Iterable[tuple[int, int, bool]]]

SAMPLE = (
    b'{"review_id":"aaaaaaaaaaaaaaaaaaaaaa","user_id":"bbbbbbbbbbbbbbbbbbbbbb","business_id":"cccccccccccccccccccccc",'
    b'"stars":3.0,"useful":0,"funny":0,"cool":0,"text":"A line to try a scan on.","date":"2018-07-07 22:09:11"}\n{}\n'
)


@dataclass
class Search:
    """What is looked for: reviews whose `key` (`review_id` or `business_id`) is among `wanted`.

    `keys_only` asks for the ids of those that have text, and not for the text.
    """

    key: str
    wanted: frozenset[str]
    keys_only: bool = False
    by_review: bool = field(init=False)
    encoded: list[bytes] = field(init=False)
    fast: bool = field(init=False)
    at: int = field(init=False)
    header: int = field(init=False)

    def __post_init__(self) -> None:
        self.by_review = self.key == "review_id"
        self.at, self.header = _HEADERS[self.key]
        self.encoded = [each.encode() for each in self.wanted]
        alike = set(map(len, self.encoded)) <= {_ID_LENGTH}
        self.fast = alike and not b"".join(self.encoded).translate(None, _ID_BYTES)


class Scanner:
    """Scans bytes for a search; one for each process, since it owns its buffer."""

    def __init__(self, search: Search, buffer: int = BUFFER) -> None:
        self._search = search
        self._buffer = bytearray(max(buffer, 2 * search.header))
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
                yield self._items(buffer, end)
                buffer[: filled - end] = buffer[end:filled]
                filled -= end

    def _items(self, buffer: bytearray, end: int) -> list[Item]:
        items: list[Item] = []
        search = self._search
        with memoryview(buffer) as view:
            for start, stop, proven in self._lines(buffer, end):
                ids = _ids(buffer, start, stop, search) if proven and search.keys_only else None
                item = ids or _item(view[start:stop], search)
                if item:
                    items.append(item)
        return items


def _item(line: memoryview, search: Search) -> Item | None:
    """Return what a line holds, if it is wanted; the line itself where anything about it is unusual."""
    if loads is None:
        return bytes(line).strip() and bytes(line)
    try:
        review, place, text, stars = _fields(loads(line))
    except (ValueError, KeyError, TypeError):
        return bytes(line).strip() and bytes(line)
    usual = isinstance(review, str) and isinstance(place, str) and isinstance(text, str)
    if not usual or type(stars) not in (float, int):
        return bytes(line)
    if (review if search.by_review else place) not in search.wanted:
        return None
    if search.keys_only:
        return (review, place) if text.strip() else None
    return review, place, text, float(stars)


def _ids(buffer: bytearray, start: int, stop: int, search: Search) -> Ids | None:
    """Return a proven line's ids if it also proves that its text is not blank."""
    text = buffer.find(_TEXT, start + _STARS_AT, stop)
    first = text + len(_TEXT)
    if text < 0 or buffer[first] not in _PLAIN_TEXT:
        return None
    review, place = (
        bytes(buffer[start + at : start + at + _ID_LENGTH])
        for at, _ in (_HEADERS["review_id"], _HEADERS["business_id"])
    )
    if review.translate(None, _ID_BYTES) or buffer[start + _STARS_AT : text].translate(None, b".0123456789") != _FIELDS:
        return None
    ids = review.decode(), place.decode(errors="replace")
    return ids if ids[1] in search.wanted else None


def _every_line(buffer: bytearray, end: int) -> Iterator[tuple[int, int, bool]]:
    start = 0
    while start < end:
        stop = buffer.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop, False
        start = stop + 1


def _proven_by_slices(search: Search) -> Lines:
    """Return the line finder that needs nothing but Python."""
    wanted, at, size = frozenset(search.encoded), search.at, search.header
    expected = [(start, _LAYOUT[start : min(stop, size)]) for start, stop in _FIXED if start < size]

    def lines(buffer: bytearray, end: int) -> Iterator[tuple[int, int, bool]]:
        start = 0
        while start < end:
            stop = buffer.find(b"\n", start, end)
            stop = end if stop < 0 else stop
            head = bytes(buffer[start : min(stop, start + size)])
            proven = len(head) == size and buffer[stop - 1] == _CLOSING
            proven = proven and all(head.startswith(piece, offset) for offset, piece in expected)
            if not proven or head[at : at + _ID_LENGTH] in wanted:
                yield start, stop, proven
            start = stop + 1

    return lines


def _proven_by_numpy(search: Search) -> Lines | None:
    """Return the line finder that looks at a whole buffer at once, eight bytes as one number; None without NumPy."""
    try:
        import numpy as np
    except ImportError:
        return None
    at, size = search.at, search.header
    layout = np.frombuffer(_LAYOUT[:size], "<u8")
    fixed = np.frombuffer(bytes(255 if byte else 0 for byte in _LAYOUT[:size]), "<u8")
    words = [word for word in range(size // 8) if fixed[word]]
    inside = -(-at // 8)  # the first of the words that lie within the id, whole
    tables = [
        _Sieve(np, [each[skip : skip + 8] for each in search.encoded])
        for skip in (inside * 8 - at, inside * 8 - at + 8)
    ]
    flags = np.zeros(0, bool)

    def newlines(data: Any) -> Any:
        """Positions of all newlines."""
        nonlocal flags
        if len(flags) < len(data) + 8:
            flags = np.zeros(len(data) // 8 * 8 + 8, bool)
        np.equal(data, 10, out=flags[: len(data)])
        flags[len(data) : len(data) // 8 * 8 + 8] = False
        eights = flags[: len(data) // 8 * 8 + 8].view("<u8")
        at = np.flatnonzero(eights != 0)
        found = eights[at]
        first = found & (~found + np.uint64(1))
        if (first != found).any():  # two newlines within eight bytes
            return np.flatnonzero(flags[: len(data)])
        return at * 8 + (np.frexp(first.astype(np.float64))[1] - 1 >> 3)

    def lines(buffer: bytearray, end: int) -> Iterable[tuple[int, int, bool]]:
        data = np.frombuffer(buffer, np.uint8, end)
        stops = newlines(data)
        if not len(stops) or stops[-1] != end - 1:
            stops = np.append(stops, end)
        starts = np.zeros_like(stops)
        np.add(stops[:-1], 1, out=starts[1:])
        odd = (stops - starts < size) | (data[stops - 1] != _CLOSING)
        places = np.minimum(starts, len(buffer) - size)  # differs only for lines too short to prove anything
        heads = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, 0, (1,))[places]
        heads = heads.view("<u8").reshape(len(starts), size // 8)
        for word in words:
            odd |= (heads[:, word] & fixed[word]) != layout[word]
        hits = np.flatnonzero(odd | tables[0].may_hold(heads[:, inside]))
        hits = hits[odd[hits] | tables[1].may_hold(heads[hits, inside + 1])]
        return zip(starts[hits].tolist(), stops[hits].tolist(), (~odd[hits]).tolist(), strict=True)

    return lines


class _Sieve:
    """A table of hashed words: tells at once that a word is none of those wanted, or that it may be one."""

    def __init__(self, numpy: Any, wanted: list[bytes]) -> None:
        self._multiplier, self._shift = numpy.uint64(0x9E3779B97F4A7C15), numpy.uint64(64 - _SIEVE_BITS)
        self._table = numpy.zeros(1 << _SIEVE_BITS, bool)
        self._table[self._place(numpy.frombuffer(b"".join(wanted), "<u8"))] = True

    def may_hold(self, words: Any) -> Any:
        return self._table[self._place(words)]

    def _place(self, words: Any) -> Any:
        return (words * self._multiplier) >> self._shift


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
