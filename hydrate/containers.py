"""What a bundle is made of: blobs that can be opened, and containers that map tables to them.

A folder, a plain tar or a zip knows its tables at once (`Listed`); a compressed tar only tells while it is read through
(`StreamedTar`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrate.errors import BundleError
from hydrate.streams import FileRange, drain, uncompressed
from hydrate.tars import walk

TABLES = ("business", "checkin", "review", "tip", "user")
GET_IT = "download the Yelp Open Dataset (https://www.yelp.com/dataset) and give its folder or archive as it is"
_TABLE = re.compile(rf"(?:yelp_academic_dataset_)?({'|'.join(TABLES)})\.json(?:\.gz)?", re.IGNORECASE)


@dataclass(frozen=True)
class Blob:
    """Bytes inside a file that can be opened. `where` is known for those that lie there plain, `size` for more.

    `name` is what messages call it, `member` its name inside the bundle.
    """

    name: str
    member: str
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
                yield table, blob.member, stream


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
    return BundleError(f"{name} holds no {table}.json (nor yelp_academic_dataset_{table}.json)", do=GET_IT)


def ambiguous(table: str | None, name: str, found: list[str]) -> BundleError:
    """Return the error for a bundle with two files for one table."""
    return BundleError(
        f"{name} holds more than one {table} table: {', '.join(sorted(found))}",
        do="give a folder or archive with one file for each table",
    )
