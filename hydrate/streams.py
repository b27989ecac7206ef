"""Byte streams over a part of a file, plain or compressed; every way in which they can fail is one `BundleError`."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrate.ahead import Ahead
from hydrate.errors import BundleError

try:
    from isal import igzip, isal_zlib

    _open_gzip: Any = igzip.IGzipFile
    _DAMAGED: Any = (EOFError, gzip.BadGzipFile, zlib.error, isal_zlib.error, zipfile.BadZipFile)
except ImportError:  # hydrate works without it, at a third of the speed
    _open_gzip = gzip.GzipFile
    _DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile)

GZIP = b"\x1f\x8b"
MOST_RATIO = 150
MOST_BYTES = 64 << 30
_RATIO_MATTERS = 256 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class FileRange:
    """Bytes `start` to `end` of a file, readable as they are."""

    path: Path
    start: int
    end: int


class FileStream(io.RawIOBase):
    """Reads a `FileRange`; `tell()` counts from its start. Raises `EOFError` where the file is shorter."""

    def __init__(self, where: FileRange) -> None:
        self._range = where
        self._file = where.path.open("rb", buffering=0)
        self._position = 0
        self.base = self
        self.size = where.end - where.start
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence])
        self._file.seek(self._range.start + self._position)
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: max(0, self.size - self._position)]
        count = self._file.readinto(view) or 0
        if not count and len(view):
            raise EOFError(
                f"the file ends at byte {self._range.start + self._position:,} instead of {self._range.end:,}"
            )
        self._position += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class Stream(io.RawIOBase):
    """Decompressed bytes of one thing in a bundle; `base` is the file behind it, for progress.

    Expansion beyond `MOST_RATIO` (looked at from 256 MiB on) or `MOST_BYTES` is an error: no table of Yelp comes near.
    """

    def __init__(self, inner: Any, base: FileStream, closing: tuple[Any, ...] = ()) -> None:
        self.base = base
        self._inner, self._closing = inner, closing
        self._guarded = inner is not base
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._inner.readinto(buffer))
        self._count += count
        if self._guarded and self._count > _RATIO_MATTERS:
            self._check()
        return count

    def _check(self) -> None:
        if self._count > MOST_BYTES or self._count > MOST_RATIO * max(1, self.base.tell()):
            raise EOFError(
                f"it expands to more than {self._count >> 20:,} MiB, over {MOST_RATIO} times its size or "
                f"{MOST_BYTES >> 30} GiB: this looks like a compression bomb"
            )

    def close(self) -> None:
        if not self.closed:
            for each in (self._inner, *self._closing):
                each.close()
        super().close()


class Section(io.RawIOBase):
    """The next `size` bytes of a stream; closing it leaves the stream open."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream, self.left = stream, size
        self.base: FileStream = stream.base

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self.left]
        count = int(self._stream.readinto(view))
        if not count and len(view):
            raise EOFError(f"{self.left:,} bytes are missing")
        self.left -= count
        return count


class Chain(io.RawIOBase):
    """Streams one after another; closing it leaves them open."""

    def __init__(self, pieces: list[Any], base: FileStream) -> None:
        self._pieces, self.base = pieces, base

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._pieces:
            count = self._pieces[0].readinto(buffer) or 0
            if count or not len(buffer):
                return int(count)
            self._pieces.pop(0)
        return 0


def open_range(where: FileRange) -> Stream:
    """Open bytes that lie in a file as they are."""
    base = FileStream(where)
    return Stream(base, base)


def gunzip(stream: Any, *closing: Any) -> Stream:
    """Return the gzip-decompressed bytes of a stream; checksums are verified as it is read to its end.

    Closing it closes the stream, and what else is given.
    """
    return Stream(Ahead(_open_gzip(fileobj=stream, mode="rb")), stream.base, (stream, *closing))


def inflate(where: FileRange, crc: int, size: int) -> Stream:
    """Return the bytes of a deflated zip member, whose checksum and size are verified at its end.

    The member is dressed as a gzip file, so that one inflater serves both.
    """
    member = FileStream(where)
    header, trailer = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", struct.pack("<II", crc, size & 0xFFFFFFFF)
    return gunzip(Chain([io.BytesIO(header), member, io.BytesIO(trailer)], member), member)


def uncompressed(stream: Any) -> Any:
    """Return what is inside a stream that is gzip, or the same bytes."""
    head = peek(stream, 2)
    whole = Chain([io.BytesIO(head), stream], stream.base)
    return gunzip(whole) if head == GZIP else whole


def drain(stream: Any) -> None:
    """Read a stream to its end, so that what is checked there is checked."""
    buffer = bytearray(_CHUNK)
    while stream.readinto(buffer):
        pass


def peek(stream: Any, size: int) -> bytes:
    """Read up to `size` bytes from a stream."""
    found = b""
    while len(found) < size:
        buffer = bytearray(size - len(found))
        count = stream.readinto(buffer)
        if not count:
            break
        found += buffer[:count]
    return found


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn whatever goes wrong while bytes are read into one `BundleError` that names the place."""
    try:
        yield
    except BundleError:
        raise
    except _DAMAGED as error:
        raise BundleError(
            f"{name} is damaged or cut off: {error}", do="download it again; a half-finished download looks like this"
        ) from None
    except OSError as error:
        raise BundleError(
            f"{name} cannot be read: {error.strerror or error}", do="check the path, the permissions and the disk"
        ) from None
