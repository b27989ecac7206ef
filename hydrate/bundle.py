"""The user's copy of the Yelp Open Dataset, opened where it lies: nothing is unpacked, nothing kept in memory."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrate.errors import BundleError
from hydrate.fingerprint import Fingerprint, TableInfo, combine
from hydrate.jsonlines import BYTE_ORDER_MARK, parse_object

Progress = Callable[[int, int], None]
TABLES = ("business", "review", "user", "tip", "checkin")
_NAMES = {prefix + table + ".json": table for table in TABLES for prefix in ("yelp_academic_dataset_", "")}


@dataclass(frozen=True, slots=True)
class Member:
    """One table of a bundle: its name inside the bundle and its decompressed size in bytes."""

    table: str
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A review as the bundle has it; `text` is whole and unnormalised."""

    review_id: str
    business_id: str
    text: str
    stars: float


@dataclass(frozen=True)
class _Range:
    path: Path
    start: int
    size: int


class Bundle:
    """A bundle; made by `open_bundle`."""

    def __init__(self, path: Path, kind: str, ranges: dict[str, tuple[str, _Range]]) -> None:
        self.path, self.kind = path, kind
        self._ranges = ranges
        self.members = tuple(Member(table, name, where.size) for table, (name, where) in sorted(ranges.items()))
        self.repeated_reviews = 0
        self.replaced_surrogates = 0

    def rows(self, table: str, progress: Progress | None = None) -> Iterator[dict[str, Any]]:
        """Yield every row of a table, parsed."""
        for line, number in self._lines(table, progress):
            yield self._parse(table, line, number)

    def review_keys(self, business_ids: Collection[str], progress: Progress | None = None) -> Iterator[tuple[str, str]]:
        """Yield (review_id, business_id) of the reviews of these places that have text; text is not kept."""
        for record in self.reviews(business_ids=business_ids, progress=progress):
            if record.text.strip():
                yield record.review_id, record.business_id

    def reviews(self, review_ids: Collection[str] | None = None, business_ids: Collection[str] | None = None,
                progress: Progress | None = None) -> Iterator[ReviewRecord]:
        """Yield reviews whole, in any order; both filters must hold where both are given."""
        reviews = None if review_ids is None else frozenset(review_ids)
        places = None if business_ids is None else frozenset(business_ids)
        seen: dict[str, int] = {}
        for line, number in self._lines("review", progress):
            row = self._parse("review", line, number)
            key, place = row.get("review_id"), row.get("business_id")
            if (reviews is not None and key not in reviews) or (places is not None and place not in places):
                continue
            if not isinstance(row.get("text"), str):
                raise BundleError(f"review {key} in {self._where('review')} line {number} has no text",
                                  do="download the bundle again")
            content = hash((place, row["text"], row.get("stars")))
            if str(key) in seen:
                if seen[str(key)] != content:
                    raise BundleError(f"review {key} stands twice in {self._where('review')} with different content, "
                                      f"again in line {number}", do="download the bundle again")
                self.repeated_reviews += 1
                continue
            seen[str(key)] = content
            record = ReviewRecord(str(key), str(place), row["text"], float(row.get("stars") or 0.0))
            yield record

    def fingerprint(self, progress: Progress | None = None) -> Fingerprint:
        """Return what identifies the bundle's content, whatever form it is held in."""
        tables = {}
        for table in self._ranges:
            tables[table] = TableInfo.of(self._blocks(table, progress))
        return combine(tables)

    def _where(self, table: str) -> str:
        return f"{self.path}: {self._ranges[table][0]}"

    def _blocks(self, table: str, progress: Progress | None) -> Iterator[bytes]:
        where = self._ranges[table][1]
        with where.path.open("rb") as stream:
            stream.seek(where.start)
            left = where.size
            while left:
                block = stream.read(min(left, 1 << 20))
                left -= len(block)
                yield block
                if progress:
                    progress(where.size - left, where.size)

    def _lines(self, table: str, progress: Progress | None) -> Iterator[tuple[bytes, int]]:
        if table not in self._ranges:
            raise BundleError(f"{self.path} has no {table} table", do="download the whole bundle")
        carry, number = b"", 0
        for block in self._blocks(table, progress):
            lines = (carry + block).split(b"\n")
            carry = lines.pop()
            for line in lines:
                number += 1
                if number == 1 and line.startswith(BYTE_ORDER_MARK):
                    line = line[3:]
                if line.strip():
                    yield line, number
        if carry.strip():
            yield carry, number + 1

    def _parse(self, table: str, line: bytes, number: int) -> dict[str, Any]:
        try:
            row, replaced = parse_object(line)
        except ValueError as error:
            raise BundleError(f"{self._where(table)} line {number}: {error}",
                              do="the file is damaged; download the bundle again") from None
        self.replaced_surrogates += replaced
        return row


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open a bundle: a folder or an archive of it; nothing is unpacked.

    Raises:
        BundleError: the path does not exist, or holds no review table.

    Example:
        >>> bundle = open_bundle("~/yelp")  # doctest: +SKIP
    """
    where = Path(path).expanduser()
    if not where.exists():
        raise BundleError(f"{where} does not exist", do="give the folder or archive of the Yelp Open Dataset")
    ranges: dict[str, tuple[str, _Range]] = {}
    if where.is_dir():
        for found in sorted(where.rglob("*.json")):
            table = _NAMES.get(found.name)
            if table and "__MACOSX" not in found.parts:
                ranges[table] = (found.relative_to(where).as_posix(), _Range(found, 0, found.stat().st_size))
    else:
        with tarfile.open(where, "r:") as archive:
            for member in archive:
                table = _NAMES.get(member.name.rsplit("/", 1)[-1])
                if table and member.isreg():
                    ranges[table] = (member.name, _Range(where, member.offset_data, member.size))
    if "review" not in ranges:
        raise BundleError(f"{where} holds no review table", do="give the folder that holds "
                          "yelp_academic_dataset_review.json")
    return Bundle(where, "folder" if where.is_dir() else "tar", ranges)
