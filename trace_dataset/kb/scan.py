"""The first pass over a bundle: candidate places, their cities and types, and the ids of the reviews to keep."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from hydrate.errors import BundleError
from trace_dataset.kb.cities import US_STATES, CityKey, Spellings, city_key, tidy
from trace_dataset.kb.types import poi_type, split_categories
from trace_dataset.streams import digest

Progress = Callable[[int, int], None]  # bytes done, bytes in all

HASH_BYTES = 8
KEPT_FIELDS = (
    "business_id",
    "name",
    "address",
    "city",
    "state",
    "latitude",
    "longitude",
    "stars",
    "review_count",
    "attributes",
    "categories",
)


class ReviewText(Protocol):
    """A review as a bundle gives it."""

    @property
    def review_id(self) -> str: ...
    @property
    def business_id(self) -> str: ...
    @property
    def text(self) -> str: ...


class ReadableBundle(Protocol):
    """What a knowledge base needs of a bundle; `hydrate.open_bundle` gives one."""

    def rows(self, table: str) -> Iterator[dict[str, Any]]: ...
    def review_keys(self, business_ids: Any, progress: Progress | None = None) -> Iterator[tuple[str, str]]: ...
    def reviews(
        self, review_ids: Any = None, business_ids: Any = None, progress: Progress | None = None
    ) -> Iterator[Any]: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that may enter the benchmark; `packed` is its row as JSON, a tenth of the memory of a dictionary."""

    city: CityKey
    poi_type: str
    packed: bytes


@dataclass
class Scan:
    """What the first pass found.

    Attributes:
        rows: rows of the business table; `repeated` of them were copies of an earlier one.
        dropped: rows left out, by reason.
        candidates: business id to place, for U.S. places of the three types.
        conflicting: ids that two different rows claim.
        review_keys: business id to the keys of the reviews kept for it, blank reviews left out; see `review_ids`.
    """

    rows: int = 0
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    conflicting: set[str] = field(default_factory=set)
    spellings: Spellings = field(default_factory=Spellings)
    review_keys: dict[str, list[bytes]] = field(default_factory=dict)

    def review_ids(self, business: str) -> list[str]:
        """Return the ids of the reviews kept for a place, in hashed order."""
        return [key[HASH_BYTES:].decode() for key in self.review_keys[business]]

    def usable(self, min_reviews: int) -> dict[CityKey, dict[str, list[str]]]:
        """Return city, then type, to the business ids of places with so many reviews, sorted."""
        found: dict[CityKey, dict[str, list[str]]] = {}
        for business in sorted(self.candidates):
            if len(self.review_keys[business]) >= min_reviews:
                candidate = self.candidates[business]
                found.setdefault(candidate.city, {}).setdefault(candidate.poi_type, []).append(business)
        return found


def scan_bundle(
    bundle: ReadableBundle, *, seed: int, keep: int, open_only: bool = False, progress: Progress | None = None
) -> Scan:
    """Read all places, and the ids of all reviews of those that may enter the benchmark.

    Args:
        seed: decides which reviews of a place are kept, by a keyed hash of their ids alone.
        keep: most reviews to keep of a place; what is kept never depends on the order of rows, and a row that stands
            twice counts once.
        open_only: leave out places that have closed.
    """
    scan = Scan()
    for row in bundle.rows("business"):
        scan.rows += 1
        reason = consider(scan, row, open_only)
        if reason:
            scan.dropped[reason] += 1
    for candidate in scan.candidates.values():
        scan.spellings.add(candidate.city, unpack(candidate)["city"])
    scan.review_keys = _smallest_reviews(bundle, scan.candidates, seed, keep, progress)
    return scan


def unpack(candidate: Candidate) -> dict[str, Any]:
    """Return the kept fields of a candidate's row."""
    row: dict[str, Any] = orjson.loads(candidate.packed)
    return row


def consider(scan: Scan, row: dict[str, Any], open_only: bool) -> str | None:
    """Add a row to the candidates, or say why it is left out."""
    business, city, state = row.get("business_id"), row.get("city"), row.get("state")
    if not isinstance(business, str) or not business:
        raise BundleError(
            f"business row {scan.rows} has no business_id", do="check the business file; every row of Yelp's has one"
        )
    kind = poi_type(split_categories(row.get("categories")))
    if kind is None:
        return "neither hotel, attraction nor restaurant"
    if not isinstance(state, str) or state not in US_STATES:
        return "outside the United States"
    if not isinstance(city, str) or not city_key(city, "")[1]:
        return "no city"
    if not isinstance(row.get("name"), str) or not tidy(row["name"]) or not _number(row.get("stars")):
        return "no name or no stars"
    if open_only and row.get("is_open") != 1:
        return "closed"
    dumped = orjson.dumps({name: row.get(name) for name in KEPT_FIELDS}, option=orjson.OPT_SORT_KEYS)
    packed = bytes(memoryview(dumped))  # a copy: what orjson returns keeps ten times its length in memory
    candidate = Candidate(city_key(city, state), kind, packed)
    before = scan.candidates.get(business)
    if before is not None:
        scan.repeated += 1
        if before.packed == packed:
            return None
        scan.conflicting.add(business)
        if before.packed <= packed:
            return None
    scan.candidates[business] = candidate
    return None


def _smallest_reviews(
    bundle: ReadableBundle, businesses: dict[str, Candidate], seed: int, keep: int, progress: Progress | None
) -> dict[str, list[bytes]]:
    """Return for each place its reviews with the smallest keyed hashes, each as hash and id in one.

    Millions of keys pass through here, so a place's list may grow to twice the limit before it is sorted and cut; once
    it is full, its first `keep` entries are sorted and the last of them is the bar for newcomers.
    """
    secret = digest(seed, "reviews")
    blake2b = hashlib.blake2b
    lists: dict[str, list[bytes]] = {business: [] for business in businesses}
    for review_id, business in bundle.review_keys(frozenset(businesses), progress=progress):
        kept = lists.get(business)
        if kept is None:
            continue
        name = review_id.encode()
        key = blake2b(name, digest_size=HASH_BYTES, key=secret).digest() + name
        if len(kept) >= keep and key >= kept[keep - 1]:
            continue
        kept.append(key)
        if len(kept) == keep or len(kept) == 2 * keep:
            kept[:] = sorted(set(kept))[:keep]  # a set: an id that stands twice is one review
    for kept in lists.values():
        kept[:] = sorted(set(kept))[:keep]
    return lists


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
