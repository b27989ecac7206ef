"""Members of a zip, each opened as a stream whose checksum and size are verified at its end."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

from hydrate.errors import BundleError
from hydrate.streams import FileRange, FileStream, Stream, inflate
from hydrate.tars import refuse_unsafe

_LOCAL_HEADER = 30
_UTF8 = 0x800


def zip_members(where: FileRange, name: str) -> list[tuple[str, int, Callable[[], Any]]]:
    """Return name, decompressed size and opener of every file in a zip that is not empty.

    Raises:
        BundleError: a member that is unsafe, encrypted, or compressed in a way that cannot be read here.
    """
    members: list[tuple[str, int, Callable[[], Any]]] = []
    with FileStream(where) as stream, zipfile.ZipFile(io.BufferedReader(stream)) as archive:
        for info in archive.infolist():
            refuse_unsafe(info.filename, name, "link" if stat.S_ISLNK(info.external_attr >> 16) else "")
            if info.is_dir() or not info.file_size:
                continue
            data = _data(stream, where, info)
            if info.flag_bits & 1:
                raise BundleError(f"{name}: {info.filename} is encrypted", do="download the archive again")
            if info.compress_type == zipfile.ZIP_DEFLATED:
                members.append((info.filename, info.file_size, partial(inflate, data, info.CRC, info.file_size)))
            else:
                members.append((info.filename, info.file_size, partial(_by_zipfile, where, info, name)))
    return members


def _data(stream: FileStream, where: FileRange, info: zipfile.ZipInfo) -> FileRange:
    """Return where a member's compressed bytes lie: behind a local header whose length only it knows."""
    stream.seek(info.header_offset)
    header = stream.read(_LOCAL_HEADER) or b""
    if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
        raise EOFError(f"{info.filename} is not where the table of contents says")
    name_length, extra_length = struct.unpack("<HH", header[26:])
    name = (stream.read(name_length) or b"").decode("utf-8" if info.flag_bits & _UTF8 else "cp437", "replace")
    if name != info.orig_filename:
        raise EOFError(f"{info.filename} has another name in the table of contents")
    start = where.start + info.header_offset + _LOCAL_HEADER + name_length + extra_length
    if start + info.compress_size > where.end:
        raise EOFError(f"{info.filename} ends after the archive does")
    return FileRange(where.path, start, start + info.compress_size)


def _by_zipfile(where: FileRange, info: zipfile.ZipInfo, name: str) -> Stream:
    """Open what is stored, or compressed in one of the rarer ways."""
    base = FileStream(where)
    archive = zipfile.ZipFile(io.BufferedReader(base))
    try:
        return Stream(archive.open(info), base, (archive, base))
    except NotImplementedError as error:
        base.close()
        raise BundleError(
            f"{name}: {info.filename} cannot be read in place: {error}", do="unpack the archive and give the folder"
        ) from None
