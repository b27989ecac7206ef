"""The forms in which people hold the bundle, told apart by what the bytes say and never by a file's extension.

A `Blob` is something that can be opened as decompressed bytes. A container maps tables to blobs: a folder, a plain
tar or a zip knows them at once (`Listed`), a compressed tar only tells while it is read through (`StreamedTar`).
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hydrate.errors import BundleError
from hydrate.streams import (
    GZIP,
    FileRange,
    FileStream,
    Stream,
    drain,
    gunzip,
    open_range,
    peek,
    reading,
    uncompressed,
)
from hydrate.tars import walk
from hydrate.zips import zip_members

TABLES = ("business", "checkin", "review", "tip", "user")
DEEPEST = 3
_TABLE = re.compile(rf"(?:yelp_academic_dataset_)?({'|'.join(TABLES)})\.json(?:\.gz)?", re.IGNORECASE)
_FOLDER_DEPTH = 4
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BLANK = b"\xef\xbb\xbf \t\r\n"
_GET_IT = "download the Yelp Open Dataset (https://www.yelp.com/dataset) and give its folder or archive as it is"


@dataclass(frozen=True)
class Blob:
    """Bytes inside a file that can be opened. `where` is known for those that lie there plain, `size` for more."""

    name: str
    file: Path
    open: Callable[[], Any]
    size: int | None = None
    where: FileRange | None = None


class Listed:
    """A container whose tables are known without reading them."""

    def __init__(self, kind: str, blobs: dict[str, Blob]) -> None:
        self.kind, self.blobs = kind, blobs
        self.files = {blob.file for blob in blobs.values()}

    @contextmanager
    def table(self, table: str, to_end: bool) -> Iterator[Any]:
        """Open a table's bytes."""
        with self.blobs[table].open() as stream:
            yield stream

    def tables(self) -> Iterator[tuple[str, str, Any]]:
        """Yield every table, its name and its bytes."""
        for table, blob in self.blobs.items():
            with blob.open() as stream:
                yield table, blob.name, stream


class StreamedTar:
    """A tar inside a compressed stream: its tables are met in the order in which they lie there."""

    def __init__(self, kind: str, blob: Blob) -> None:
        self.kind, self._blob = kind, blob
        self.files = {blob.file}

    @contextmanager
    def table(self, table: str, to_end: bool) -> Iterator[Any]:
        """Open a table's bytes; `to_end` reads on afterwards, so that a cut or a second such table is noticed."""
        found = ""
        for each, name, stream in self.tables():
            if each == table:
                found = name
                yield stream
                if not to_end:
                    return
        if not found:
            raise missing(table, self._blob.name)

    def tables(self) -> Iterator[tuple[str, str, Any]]:
        """Yield every table, its name and its bytes, and check the whole archive on the way."""
        names: dict[str, str] = {}
        with self._blob.open() as stream:
            for member, data in walk(stream, self._blob.name):
                table = table_of(member.name)
                if table is None:
                    continue
                if table in names:
                    raise ambiguous(table, self._blob.name, [names[table], member.name])
                names[table] = member.name
                yield table, member.name, uncompressed(data)
                drain(data)
            drain(stream)


Container = Listed | StreamedTar


def table_of(name: str) -> str | None:
    """Return the table that a file's name stands for, if any; what a Mac leaves behind stands for none."""
    match = None if is_litter(name) else _TABLE.fullmatch(re.split(r"[/\\]", name)[-1])
    return match[1].lower() if match else None


def is_litter(name: str) -> bool:
    """Return whether a name is one of those that a Mac leaves behind."""
    parts = re.split(r"[/\\]", name)
    return "__MACOSX" in parts or parts[-1].startswith("._") or parts[-1] == ".DS_Store"


def missing(table: str, name: str) -> BundleError:
    """Return the error for a bundle without a table."""
    return BundleError(f"{name} holds no {table}.json (nor yelp_academic_dataset_{table}.json)", do=_GET_IT)


def ambiguous(table: str, name: str, found: list[str]) -> BundleError:
    """Return the error for a bundle with two files for one table."""
    return BundleError(f"{name} holds more than one {table} table: {', '.join(sorted(found))}",
                       do="give a folder or archive with one file for each table")


def open_path(path: Path) -> Container:
    """Return what lies at a path as a container."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise BundleError(f"{path} does not exist", do=_GET_IT) from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}", do="check the path and its permissions") from None
    if stat.S_ISDIR(mode):
        return _folder(path)
    if not stat.S_ISREG(mode):
        raise BundleError(f"{path} is neither a file nor a folder", do=_GET_IT)
    return _container(_part(str(path), FileRange(path, 0, path.stat().st_size)), path.name, 1)


def _part(name: str, where: FileRange) -> Blob:
    return Blob(name, where.path, partial(open_range, where), where.end - where.start, where)


def _folder(path: Path) -> Listed:
    found: dict[str, Path] = {}
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        deepest = len(Path(folder).relative_to(path).parts) >= _FOLDER_DEPTH
        folders[:] = [] if deepest else sorted(each for each in folders if not each.startswith((".", "__")))
        for name in sorted(names):
            table = table_of(name)
            if table:
                file = Path(folder, name)
                if table in found:
                    both = [each.relative_to(path).as_posix() for each in (found[table], file)]
                    raise ambiguous(table, str(path), both)
                found[table] = file
    if "review" not in found:
        raise missing("review", str(path))
    blobs = {}
    for table, file in found.items():
        with reading(str(file)):
            blobs[table] = _inside(_part(file.relative_to(path).as_posix(), FileRange(file, 0, file.stat().st_size)))
    return Listed("folder", blobs)


def _unreadable(error: OSError) -> None:
    raise BundleError(f"{error.filename} cannot be read: {error.strerror}", do="check its permissions") from None


def _inside(blob: Blob) -> Blob:
    """Return the blob itself, or what it holds if it is gzip."""
    with blob.open() as stream:
        head = peek(stream, len(GZIP))
    if not head:
        raise EOFError("it is empty")
    if head != GZIP:
        return blob

    return Blob(blob.name, blob.file, partial(_gunzipped, blob))


def _gunzipped(blob: Blob) -> Stream:
    return gunzip(blob.open())


def _container(blob: Blob, name: str, depth: int) -> Container:
    """Look at a blob's first bytes and open it as what it is."""
    with reading(blob.name):
        inner = _inside(blob)
        with inner.open() as stream:
            head = peek(stream, tarfile.BLOCKSIZE)
        if head.startswith(_ZIP):
            if inner.where is None:
                raise BundleError(f"{blob.name} is a zip inside something compressed and cannot be read in place",
                                  do="take that zip out and give it")
            return _zip(inner, inner.where, depth)
        if _is_tar(head):
            if inner.where is not None:
                return _tar(inner, inner.where, depth)
            return StreamedTar("tar" if inner is blob else "tgz", inner)
        table = table_of(name)
        if table and head.lstrip(_BLANK).startswith(b"{"):
            if table != "review":
                raise missing("review", blob.name)
            return Listed("file", {table: inner})
    raise BundleError(f"{blob.name} is no bundle: its bytes look like {_looks(head)}", do=_GET_IT)


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _looks(head: bytes) -> str:
    if head.lstrip(_BLANK)[:1] in (b"{", b"["):
        return "JSON, but its name is that of no Yelp table"
    known = ((b"%PDF", "a PDF"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7-Zip"), (b"Rar!", "RAR"),
             (b"\x28\xb5\x2f\xfd", "Zstandard"), (b"<", "HTML or XML, perhaps a login page saved as the file"))
    return next((what for magic, what in known if head.startswith(magic)), f"none we know (they begin {head[:8].hex(' ')})")


def _tar(blob: Blob, where: FileRange, depth: int) -> Container:
    members = []
    with FileStream(where) as stream:
        for member, _ in walk(stream, blob.name):
            start = where.start + member.offset_data
            if start + member.size > where.end:
                raise EOFError(f"{member.name} ends after the archive does")
            part = FileRange(where.path, start, start + member.size)
            members.append((member.name, _part(f"{blob.name}: {member.name}", part)))
    return _of_members("tar", blob, members, depth)


def _zip(blob: Blob, where: FileRange, depth: int) -> Container:
    members = [(name, Blob(f"{blob.name}: {name}", where.path, opened, size))
               for name, size, opened in zip_members(where, blob.name)]
    return _of_members("zip", blob, members, depth)


def _of_members(kind: str, blob: Blob, members: list[tuple[str, Blob]], depth: int) -> Container:
    """Return the tables among an archive's members, or open the one archive that lies among them."""
    found: dict[str, str] = {}
    blobs: dict[str, Blob] = {}
    for name, part in members:
        table = table_of(name)
        if table in found:
            raise ambiguous(table, blob.name, [found[table], name])
        if table:
            found[table] = name
            blobs[table] = _inside(part)
    if "review" in blobs:
        return Listed(kind, blobs)
    archives = [(name, part) for name, part in members if table_of(name) is None and not is_litter(name)
                and _is_archive(part)]
    if not archives:
        raise missing("review", blob.name)
    if len(archives) > 1:
        raise ambiguous("review", blob.name, [name for name, _ in archives])
    if depth == DEEPEST:
        raise BundleError(f"{archives[0][1].name} lies more than {DEEPEST} archives deep", do=_GET_IT)
    inner = _container(archives[0][1], archives[0][0], depth + 1)
    inner.kind = f"{kind}+{inner.kind}"
    return inner


def _is_archive(part: Blob) -> bool:
    with _inside(part).open() as stream:
        head = peek(stream, tarfile.BLOCKSIZE)
    return head.startswith(_ZIP) or _is_tar(head)
