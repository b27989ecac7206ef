"""Members of a tar, found by seeking in a file or one after another in a stream; never unpacked."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from typing import Any

from hydrate.errors import BundleError
from hydrate.streams import Section

_BLOCK = tarfile.BLOCKSIZE


class _Forward:
    """What `tarfile` needs of a file, over a stream that may only go forward."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._position = 0
        self.base = stream.base
        self.header = b""

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int) -> int:
        if self._stream.seekable():
            self._position = self._stream.seek(offset)
            return self._position
        buffer = bytearray(min(1 << 20, max(0, offset - self._position)))
        while self._position < offset:
            count = self.readinto(memoryview(buffer)[: offset - self._position])
            if not count:
                raise EOFError(f"{offset - self._position:,} bytes are missing")
        if self._position > offset:
            raise tarfile.StreamError("a stream does not go backwards")
        return self._position

    def readinto(self, buffer: Any) -> int:
        count = int(self._stream.readinto(buffer))
        self._position += count
        return count

    def read(self, size: int) -> bytes:
        buffer = bytearray(size)
        filled = 0
        while filled < size:
            count = self.readinto(memoryview(buffer)[filled:])
            if not count:
                break
            filled += count
        if size == _BLOCK:
            self.header = bytes(buffer[:filled])
        return bytes(buffer[:filled])


def walk(stream: Any, name: str) -> Iterator[tuple[tarfile.TarInfo, Section]]:
    """Yield the regular members of a tar in order, each with its bytes, which may be read before the next is asked for.

    Args:
        stream: has `readinto` and `base`.
        name: what messages call the archive.

    Raises:
        BundleError: a link, a device, an absolute name or one with `..`; a header that is none; no end mark.
    """
    file = _Forward(stream)
    try:
        archive = tarfile.TarFile(fileobj=file, mode="r")  # type: ignore[arg-type]
        for member in archive:
            refuse_unsafe(member.name, name, _kind(member))
            if member.isreg():
                yield member, Section(file, member.size)
    except tarfile.TarError as error:
        raise EOFError(str(error)) from None
    if len(file.header) != _BLOCK or any(file.header):
        raise EOFError("the tar has no end mark, so members may be missing")


def _kind(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "link"
    if member.issparse():
        return "sparse file"
    return "" if member.isreg() or member.isdir() else "device"


def refuse_unsafe(member: str, archive: str, kind: str = "") -> None:
    """Raise `BundleError` for a member that no data archive needs: `kind` names what it is if not a file or folder."""
    if not kind and (member.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", member)):
        kind = "absolute name"
    if not kind and ".." in re.split(r"[/\\]", member):
        kind = "name with '..'"
    if kind:
        raise BundleError(
            f"{archive} holds {member!r}: a {kind} has no place in a data archive",
            do="download the archive from where Yelp or Kaggle publish it",
        )
