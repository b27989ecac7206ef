"""The forms in which people hold the bundle, told apart by what the bytes say and never by a file's extension."""

from __future__ import annotations

import contextlib
import os
import stat
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hydrate.containers import GET_IT, Blob, Container, Listed, StreamedTar, ambiguous, is_litter, missing, table_of
from hydrate.errors import BundleError
from hydrate.streams import GZIP, FileRange, FileStream, Stream, gunzip, open_range, peek, reading
from hydrate.tars import walk
from hydrate.zips import zip_members

DEEPEST = 3
_FOLDER_DEPTH = 4
_OTHER_FILES = 64
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BLANK = b"\xef\xbb\xbf \t\r\n"


def open_path(path: Path) -> Container:
    """Return what lies at a path as a container."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise BundleError(f"{path} does not exist", do=GET_IT) from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}", do="check the path and its permissions") from None
    if stat.S_ISDIR(mode):
        return _folder(path)
    if not stat.S_ISREG(mode):
        raise BundleError(f"{path} is neither a file nor a folder", do=GET_IT)
    return _container(_part(str(path), path.name, FileRange(path, 0, path.stat().st_size)), 1)


def _part(name: str, member: str, where: FileRange) -> Blob:
    return Blob(name, member, where.path, partial(open_range, where), where.end - where.start, where)


def _folder(path: Path) -> Container:
    members = []
    for file in _files(path):
        with reading(str(file)):
            status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BundleError(f"{file} is a pipe or a device, not a file", do=GET_IT)
        where = FileRange(file, 0, status.st_size)
        members.append(_part(str(file), file.relative_to(path).as_posix(), where))
    return _of_members("folder", str(path), members, 1)


def _files(path: Path) -> Iterator[Path]:
    """Yield the tables in a folder and its subfolders, and what else lies in the folder itself, up to a number."""
    others = 0
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        deepest = len(Path(folder).relative_to(path).parts) >= _FOLDER_DEPTH
        folders[:] = [] if deepest else sorted(each for each in folders if not each.startswith((".", "__")))
        for name in sorted(names):
            file = Path(folder, name)
            if table_of(name):
                yield file
            elif file.parent == path and others < _OTHER_FILES and file.is_file():
                others += 1
                yield file


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

    return Blob(blob.name, blob.member, blob.file, partial(_gunzipped, blob))


def _gunzipped(blob: Blob) -> Stream:
    return gunzip(blob.open())


def _container(blob: Blob, depth: int) -> Container:
    """Look at a blob's first bytes and open it as what it is."""
    with reading(blob.name):
        inner = _inside(blob)
        with inner.open() as stream:
            head = peek(stream, tarfile.BLOCKSIZE)
        if head.startswith(_ZIP):
            if inner.where is None:
                raise BundleError(
                    f"{blob.name} is a zip inside something compressed and cannot be read in place",
                    do="take that zip out and give it",
                )
            return _zip(inner, inner.where, depth)
        if _is_tar(head):
            if inner.where is not None:
                return _tar(inner, inner.where, depth)
            return StreamedTar("tar" if inner is blob else "tgz", inner)
        table = table_of(blob.member)
        if table and head.lstrip(_BLANK).startswith(b"{"):
            if table != "review":
                raise missing("review", blob.name)
            return Listed("file", {table: inner})
    raise BundleError(f"{blob.name} is no bundle: its bytes look like {_looks(head)}", do=GET_IT)


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _looks(head: bytes) -> str:
    if head.lstrip(_BLANK)[:1] in (b"{", b"["):
        return "JSON, but its name is that of no Yelp table"
    known = (
        (b"%PDF", "a PDF"),
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ", "xz"),
        (b"7z\xbc\xaf", "7-Zip"),
        (b"Rar!", "RAR"),
        (b"\x28\xb5\x2f\xfd", "Zstandard"),
        (b"<", "HTML or XML, perhaps a login page saved as the file"),
    )
    return next(
        (what for magic, what in known if head.startswith(magic)), f"none we know (they begin {head[:8].hex(' ')})"
    )


def _tar(blob: Blob, where: FileRange, depth: int) -> Container:
    members = []
    with FileStream(where) as stream:
        for member, _ in walk(stream, blob.name):
            start = where.start + member.offset_data
            if start + member.size > where.end:
                raise EOFError(f"{member.name} ends after the archive does")
            part = FileRange(where.path, start, start + member.size)
            members.append(_part(f"{blob.name}: {member.name}", member.name, part))
    return _of_members("tar", blob.name, members, depth)


def _zip(blob: Blob, where: FileRange, depth: int) -> Container:
    members = [
        Blob(f"{blob.name}: {name}", name, where.path, opened, size)
        for name, size, opened in zip_members(where, blob.name)
    ]
    return _of_members("zip", blob.name, members, depth)


def _of_members(kind: str, name: str, members: list[Blob], depth: int) -> Container:
    """Return the tables among the members of a folder or archive, or open the one archive that lies among them."""
    blobs: dict[str, Blob] = {}
    for part in members:
        table = table_of(part.member)
        if table in blobs:
            raise ambiguous(table, name, [blobs[table].member, part.member])
        if table:
            with reading(part.name):
                blobs[table] = _inside(part)
    if "review" in blobs:
        return Listed(kind, blobs)
    archives = [part for part in members if _is_archive(part)]
    if not archives:
        raise missing("review", name)
    if len(archives) > 1:
        raise ambiguous("review", name, [part.member for part in archives])
    if depth == DEEPEST:
        raise BundleError(f"{archives[0].name} lies more than {DEEPEST} archives deep", do=GET_IT)
    inner = _container(archives[0], depth + 1)
    inner.kind = f"{kind}+{inner.kind}"
    return inner


def _is_archive(part: Blob) -> bool:
    if table_of(part.member) or is_litter(part.member) or not part.size:
        return False
    with contextlib.suppress(BundleError), reading(part.name), _inside(part).open() as stream:
        head = peek(stream, tarfile.BLOCKSIZE)
        return head.startswith(_ZIP) or _is_tar(head)
    return False
