"""The user's copy of the Yelp Open Dataset, opened where it lies: nothing is unpacked, nothing kept in memory."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from hydrate.cache import local_path
from hydrate.containers import Blob, Container, Listed, missing
from hydrate.errors import BundleError
from hydrate.fingerprint import Fingerprint, Signature, TableInfo, combine, recall, remember
from hydrate.formats import open_path
from hydrate.ids import Ids, cleaned
from hydrate.jsonlines import BYTE_ORDER_MARK, parse_object
from hydrate.scan import scan_range
from hydrate.scanner import Item, Review, Scanner, Search
from hydrate.streams import Chain, FileRange, peek, reading

Progress = Callable[[int, int], None]
_DAMAGED = "the file is damaged; download the bundle again"
_LINE_BUFFER = 1 << 18
_ROWS_A_REPORT = 4096


class Member(NamedTuple):
    """One table of a bundle: its name inside the bundle and its decompressed size in bytes."""

    table: str
    name: str
    bytes: int


class ReviewRecord(NamedTuple):
    """A review as the bundle has it; `text` is whole and unnormalised, except that lone surrogates are U+FFFD."""

    review_id: str
    business_id: str
    text: str
    stars: float


class Bundle:
    """A bundle, made by `open_bundle`. It holds no open file, so it can be sent to other processes.

    Every method that reads takes `progress`, called with bytes done and bytes in all (compressed ones in an archive),
    and raises `BundleError`, with file and line, for anything damaged, cut off, or changed since it was opened.

    Attributes:
        path: where it lies.
        kind: `folder`, `file`, `tar`, `tgz`, `zip`, or one inside another such as `zip+tar`.
        repeated_reviews, replaced_surrogates: counted over everything read so far: identical repeats of a review that
            were merged, and lone surrogates that became U+FFFD.
    """

    def __init__(self, path: Path, container: Container) -> None:
        self.path, self.kind = path, container.kind
        self._container = container
        self._signature = Signature.of(container.files)
        self._verified = isinstance(container, Listed) or recall(self._signature) is not None
        self.repeated_reviews = 0
        self.replaced_surrogates = 0

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The tables, sorted. Where sizes are only known after reading a compressed bundle, it is read through once."""
        if isinstance(self._container, Listed):
            blobs = self._container.blobs.items()
            if all(blob.size is not None for _, blob in blobs):
                return tuple(sorted(Member(table, blob.member, blob.size or 0) for table, blob in blobs))
        tables = self.fingerprint().tables.items()
        return tuple(Member(table, info.name, info.bytes) for table, info in tables)

    def rows(self, table: str, progress: Progress | None = None) -> Iterator[dict[str, Any]]:
        """Yield every row of a table (`business`, `review`, `user`, `tip`, `checkin`) in its order, parsed."""
        with self._opened(table) as stream:
            for number, line in enumerate(io.BufferedReader(stream, _LINE_BUFFER), 1):
                if line.strip():
                    yield self._parsed(table, line, number)
                if progress and number % _ROWS_A_REPORT == 0:
                    progress(stream.base.tell(), stream.base.size)
            if progress:
                progress(stream.base.size, stream.base.size)

    def review_keys(self, business_ids: Collection[str], progress: Progress | None = None) -> Iterator[tuple[str, str]]:
        """Yield (review_id, business_id) of the reviews of these places that have text; one scan, no text is kept.

        A review that stands twice comes twice. At the end the rows of such are compared, and raise `BundleError` if
        they differ.
        """
        places = {name: name for name in cleaned(business_ids)}
        search = _search("business_id", places, keys_only=True)
        seen = Ids()
        for review, place, *_ in self._found(search, progress):
            seen.add(review)
            yield review, places[place]
        twice = seen.twice()
        if twice:
            self._compare({review for review, *_ in self._found(search) if hash(review) in twice}, None)

    def reviews(
        self,
        review_ids: Collection[str] | None = None,
        business_ids: Collection[str] | None = None,
        progress: Progress | None = None,
        *,
        conflicts: set[str] | None = None,
    ) -> Iterator[ReviewRecord]:
        """Yield whole reviews in file order; where both filters are given, both must hold.

        A review that stands twice comes once, as it stands first. At the end its rows are compared: identical ones are
        counted in `repeated_reviews`, others raise `BundleError`.

        Args:
            review_ids, business_ids: which to yield; None means all. Ids that the bundle does not have yield nothing.
            conflicts: ids that stand twice with different content are added here, instead of raising.
        """
        reviews = None if review_ids is None else frozenset(cleaned(review_ids))
        places = None if business_ids is None else {name: name for name in cleaned(business_ids)}
        search = None
        if reviews is not None or places is not None:
            search = _search("business_id", places or ()) if reviews is None else _search("review_id", reviews)
        seen: set[str] = set()
        repeated: set[str] = set()
        for key, place, text, stars in self._found(search, progress):
            if places is not None:
                if place not in places:
                    continue
                place = places[place]  # one string for all reviews of a place
            if key in seen:
                repeated.add(key)
            else:
                seen.add(key)
                yield ReviewRecord(key, place, text, stars)
        self._compare(repeated, conflicts)

    def fingerprint(self, progress: Progress | None = None) -> Fingerprint:
        """Return what identifies the bundle's content, whatever form it is held in; computed once and remembered."""
        known = recall(self._signature)
        if known is None:
            done, total, tables = 0, sum(size for _, size, _, _ in self._signature.files), {}

            def report(position: int) -> None:
                if progress:
                    progress(min(done + position, total), total)

            with reading(str(self.path)):
                for table, name, stream in self._container.tables():
                    tables[table] = TableInfo.of(stream, name, report)
                    if isinstance(self._container, Listed):
                        done += stream.base.size
            if "review" not in tables:
                raise missing("review", str(self.path))
            self._check_unchanged()
            known = combine(tables)
            remember(self._signature, known)
            report(total)
        self._verified = True
        return known

    def _found(self, search: Search | None, progress: Progress | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield what a search of the review table finds (None finds all), repeats included."""
        if search is None:
            for row in self.rows("review", progress):
                yield self._complete(row, b"")
        elif search.wanted:
            for items in self._scanned(search, progress):
                for item in items:
                    if isinstance(item, tuple):
                        yield item
                        continue
                    row = self._parsed("review", item)
                    key = row.get(search.key)
                    if isinstance(key, str) and key in search.wanted:
                        found = self._complete(row, item)
                        if not search.keys_only or found[2].strip():
                            yield found

    def _scanned(self, search: Search, progress: Progress | None) -> Iterator[list[Item]]:
        """Scan the review table: in two processes where it lies plain in a file."""
        blob = self._blob("review")
        if blob and blob.where:
            with reading(blob.name):
                with blob.open() as stream:
                    marked = peek(stream, len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK
                start = blob.where.start + marked * len(BYTE_ORDER_MARK)
                yield from scan_range(FileRange(blob.where.path, start, blob.where.end), search, progress)
            self._check_unchanged()
            return
        with self._opened("review") as stream:
            for items in Scanner(search).scan(stream.readinto):
                yield items
                if progress:
                    progress(stream.base.tell(), stream.base.size)

    def _compare(self, repeated: set[str], conflicts: set[str] | None) -> None:
        """Look again at reviews that stand more than once: are their rows the same?"""
        first: dict[str, tuple[Any, ...]] = {}
        for found in self._found(_search("review_id", repeated)):
            known = first.setdefault(found[0], found)
            if known is found:
                continue
            if known == found:
                self.repeated_reviews += 1
            elif conflicts is not None:
                conflicts.add(found[0])
            else:
                lines = self._lines("review", partial(_holds, found[0].encode()))
                raise BundleError(
                    f"review {found[0]} stands twice in {self._name('review')}, with different content, see lines "
                    f"{', '.join(f'{number:,}' for number in lines)}",
                    do="download the bundle again",
                )

    @contextmanager
    def _opened(self, table: str) -> Iterator[Any]:
        """Open a table's decompressed bytes without their byte-order mark; check the bundle when all was read."""
        if isinstance(self._container, Listed) and table not in self._container.blobs:
            raise missing(table, str(self.path))
        with reading(self._name(table)):
            with self._container.table(table, to_end=not self._verified) as stream:
                head = peek(stream, len(BYTE_ORDER_MARK))
                yield Chain([io.BytesIO(head.removeprefix(BYTE_ORDER_MARK)), stream], stream.base)
            self._verified = True
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        if Signature.of(self._container.files) != self._signature:
            raise BundleError(
                f"{self.path} changed while it was read", do="wait until it is complete, then start again"
            )

    def _blob(self, table: str) -> Blob | None:
        return self._container.blobs.get(table) if isinstance(self._container, Listed) else None

    def _name(self, table: str) -> str:
        blob = self._blob(table)
        return blob.name if blob else f"{self.path}: {table}.json"

    def _parsed(self, table: str, line: bytes, number: int = 0) -> dict[str, Any]:
        try:
            row, replaced = parse_object(line)
        except ValueError as error:
            self._check_unchanged()
            where = f"{self._name(table)} line {number:,}" if number else self._where(table, line)
            text = line.strip()
            cut = "; the line is cut off" if text.startswith(b"{") and not text.endswith(b"}") else ""
            raise BundleError(f"{where}: {error}{cut}", do=_DAMAGED) from None
        self.replaced_surrogates += replaced
        return row

    def _complete(self, row: dict[str, Any], line: bytes) -> Review:
        """Return what a review's row must have."""
        for name in ("text", "review_id", "business_id"):
            if not isinstance(row.get(name), str):
                where = self._where("review", line) if line else self._name("review")
                raise BundleError(f"{where}: review {row.get('review_id')} has no {name}", do=_DAMAGED)
        stars = row.get("stars")
        return (
            row["review_id"],
            row["business_id"],
            row["text"],
            float(stars) if isinstance(stars, (int, float)) else 0.0,
        )

    def _where(self, table: str, line: bytes) -> str:
        """Return the name and number of a line."""
        found = self._lines(table, lambda each: each.rstrip(b"\n") == line.rstrip(b"\n"))
        return f"{self._name(table)} line {found[0]:,}" if found else self._name(table)

    def _lines(self, table: str, wanted: Callable[[bytes], bool]) -> list[int]:
        """Return the numbers of lines, by reading the table again: only done to name them in an error."""
        with self._opened(table) as stream:
            lines = enumerate(io.BufferedReader(stream, _LINE_BUFFER), 1)
            return [number for number, line in lines if wanted(line)]


def open_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Open a bundle: a folder, `.tar`, `.tgz`, `.zip`, or Yelp's zip that holds a tar; nothing is unpacked.

    What it is is told by its bytes, not by its name. A single `review.json` will do for hydration.

    Raises:
        BundleError: the path does not exist, holds no review table or two, or an archive holds a link, an absolute name
            or `..`. What can only be seen by reading a compressed archive through is raised by the first read.

    Example:
        >>> bundle = open_bundle("~/Yelp-JSON.zip")  # doctest: +SKIP
        >>> bundle.kind, [member.table for member in bundle.members]  # doctest: +SKIP
        ('zip+tgz', ['business', 'checkin', 'review', 'tip', 'user'])
    """
    where = local_path(path)
    return Bundle(where, open_path(where))


def _search(key: str, wanted: Iterable[str], keys_only: bool = False) -> Search:
    return Search(key, frozenset(wanted), keys_only)


def _holds(part: bytes, line: bytes) -> bool:
    return part in line
