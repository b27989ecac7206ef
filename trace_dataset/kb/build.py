"""From a bundle to a knowledge base, in two passes over its reviews (definitions, 7.0)."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydrate.errors import BundleError, UsageError
from trace_dataset.kb.attributes import parse_attributes, price_level
from trace_dataset.kb.cities import City, benchmark_names, choose_cities, rank_cities, tidy
from trace_dataset.kb.knowledge import KnowledgeBase
from trace_dataset.kb.report import KnowledgeBaseReport, Survey, table
from trace_dataset.kb.scan import Candidate, Progress, ReadableBundle, Scan, consider, scan_bundle, unpack
from trace_dataset.kb.types import split_categories
from trace_dataset.schema import POI, POI_TYPES, Review
from trace_dataset.streams import hash_order

DAMAGED = "check that the file is whole and that nothing writes to it: `trace-dataset inspect` reads it through"


@dataclass(frozen=True)
class Limits:
    """What decides which places and reviews enter a knowledge base; see `build_knowledge_base`."""

    seed: int
    max_places: int
    max_reviews: int
    min_reviews: int
    max_chars: int
    n_cities: int
    pool_size: int
    open_only: bool
    min_pois: int | None

    def __post_init__(self) -> None:
        for name in ("max_places", "max_reviews", "min_reviews", "max_chars", "n_cities", "pool_size"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} is below 1", do=f"give {name} a positive number")
        if self.max_reviews < self.min_reviews:
            raise UsageError(
                f"max_reviews={self.max_reviews} is below min_reviews={self.min_reviews}",
                do="keep at least as many reviews of a place as it must have",
            )
        if self.max_places < self.pool_size:
            raise UsageError(
                f"max_places={self.max_places} is below the {self.pool_size} places of a candidate pool",
                do=f"set max_places to {self.pool_size} or more",
            )


def build_knowledge_base(
    bundle: ReadableBundle,
    *,
    seed: int = 42,
    max_places: int = 100,
    max_reviews: int = 15,
    min_reviews: int = 3,
    max_chars: int = 500,
    n_cities: int = 8,
    pool_size: int = 8,
    open_only: bool = False,
    min_pois: int | None = None,
    progress: Progress | None = None,
) -> tuple[KnowledgeBase, KnowledgeBaseReport]:
    """Choose cities, places and reviews from a bundle.

    The same rows in any order give the same knowledge base: every choice is by counts or by a hash of ids.

    Args:
        bundle: as `hydrate.open_bundle` returns it.
        seed: of the draw of places and of reviews.
        max_places: most places in a cell of city and type.
        max_reviews: most reviews kept of a place.
        min_reviews: non-blank reviews that a place must have to be usable.
        max_chars: code points at which a review is cut.
        n_cities: most cities; those whose scarcest type has most usable places.
        pool_size: usable places that a cell must have to carry dialogues.
        open_only: leave out places that have closed.
        min_pois: make it an error when a cell of a chosen city has fewer usable places.
        progress: called with bytes done and bytes in all, over both passes.

    Raises:
        BundleError: the bundle is too small for a benchmark, has fewer places than `min_pois` asks for, or two rows
            that contradict each other.
        UsageError: a limit is below 1 or below another that it must reach.

    Example:
        >>> kb, report = build_knowledge_base(hydrate.open_bundle("~/Yelp-JSON.zip"))  # doctest: +SKIP
    """
    limits = Limits(seed, max_places, max_reviews, min_reviews, max_chars, n_cities, pool_size, open_only, min_pois)
    scan = scan_bundle(bundle, seed=seed, keep=max_reviews, open_only=open_only, progress=_part(progress, 0))
    usable = scan.usable(min_reviews)
    ranked = rank_cities(
        {city: {kind: len(ids) for kind, ids in by_type.items()} for city, by_type in usable.items()}, scan.spellings
    )
    cities = choose_cities(ranked, n_cities, pool_size)
    _check_size(ranked, cities, limits)
    names = benchmark_names(cities)
    chosen = [
        business
        for city in cities
        for kind in city.types_with(pool_size)
        for business in _draw(usable[city.key][kind], limits)
    ]
    _check_conflicts(scan, chosen)
    unparsed: Counter[str] = Counter()
    pois = [
        _place(business, scan.candidates[business], names[scan.candidates[business].city], unparsed)
        for business in chosen
    ]
    reviews = _read_reviews(bundle, scan, chosen, limits, _part(progress, 1))
    kb = _without_short(KnowledgeBase.from_tables(pois, reviews), limits)
    return kb, _report(kb, scan, cities, usable, limits, unparsed)


def survey(
    bundle: ReadableBundle,
    *,
    min_reviews: int = 3,
    pool_size: int = 8,
    n_cities: int = 8,
    open_only: bool = False,
    progress: Progress | None = None,
) -> Survey:
    """Count the usable places of every city and type, and say whether a benchmark can be built; reads no text.

    Example:
        >>> print(survey(hydrate.open_bundle("sample")))  # doctest: +SKIP
    """
    scan = scan_bundle(bundle, seed=0, keep=min_reviews, open_only=open_only, progress=progress)
    ranked = rank_cities(
        {city: {kind: len(ids) for kind, ids in by_type.items()} for city, by_type in scan.usable(min_reviews).items()},
        scan.spellings,
    )
    return Survey(tuple(ranked), tuple(choose_cities(ranked, n_cities, pool_size)), min_reviews, pool_size, scan.rows)


def read_places(bundle: ReadableBundle, cities: Mapping[str, str]) -> dict[str, POI]:
    """Return the places with these ids as a knowledge base holds them; a place that the bundle lacks is left out.

    Args:
        cities: business id to the benchmark's spelling of its city.
    """
    scan = Scan()
    for row in bundle.rows("business"):
        if row.get("business_id") in cities:
            consider(scan, row, open_only=False)
    _check_conflicts(scan, scan.candidates)
    return {
        business: _place(business, scan.candidates[business], cities[business], Counter())
        for business in sorted(scan.candidates)
    }


def poi_kept(reviews: Sequence[str], min_reviews: int = 3, max_chars: int = 500) -> list[str] | None:
    """Return a place's non-blank reviews, each cut to `max_chars` code points; None if they are too few.

    Source: paper, section 3; definitions, 7.0.

    Example:
        >>> poi_kept(["abcdefgh", "  ", "xyz"], min_reviews=2, max_chars=5)
        ['abcde', 'xyz']
    """
    kept = [text for text in (text[:max_chars] for text in reviews) if text.strip()]
    return kept if len(kept) >= min_reviews else None


def _part(progress: Progress | None, number: int) -> Progress | None:
    """Return a progress function for one of two passes of equal size."""
    return None if progress is None else lambda done, total: progress(done + number * total, 2 * total)


def _draw(businesses: Iterable[str], limits: Limits) -> list[str]:
    return sorted(businesses, key=lambda business: hash_order(limits.seed, "places", business))[: limits.max_places]


def _check_size(ranked: list[City], cities: list[City], limits: Limits) -> None:
    need = f"a place needs {limits.min_reviews} non-blank reviews, a city {limits.pool_size} such places of one type"
    if not cities:
        best = "\n".join(table({f"{city.name}, {city.state}": city.usable for city in ranked[:5]}))
        found = (
            f"; the {len(ranked):,} U.S. cities with usable places begin with\n{best}"
            if ranked
            else "; it has no U.S. place with enough reviews"
        )
        raise BundleError(
            f"the bundle is too small for a benchmark: {need}{found}",
            do="use a larger bundle, or `trace-dataset sample DIR` for an invented one",
        )
    if limits.min_pois is not None:
        short = [
            f"{city.name} / {kind} has {city.usable.get(kind, 0):,}"
            for city in cities
            for kind in POI_TYPES
            if city.usable.get(kind, 0) < limits.min_pois
        ]
        if short:
            raise BundleError(
                f"{len(short)} cells have fewer than {limits.min_pois} usable places: "
                + ", ".join(short[:8])
                + (" …" if len(short) > 8 else ""),
                do="lower min_pois, or use a larger bundle",
            )


def _check_conflicts(scan: Scan, chosen: Iterable[str]) -> None:
    conflicting = sorted(scan.conflicting.intersection(chosen))
    if conflicting:
        raise BundleError(
            f"{len(conflicting)} business ids stand in rows that contradict each other, first {conflicting[0]}",
            do=DAMAGED,
        )


def _place(business: str, candidate: Candidate, city: str, unparsed: Counter[str]) -> POI:
    row = unpack(candidate)
    attributes, odd = parse_attributes(row["attributes"])
    unparsed.update(odd)
    latitude, longitude = _coordinate(row["latitude"], 90), _coordinate(row["longitude"], 180)
    count = row["review_count"]
    return POI(
        business_id=business,
        name=tidy(row["name"]),
        address=tidy(row["address"] or ""),
        city=city,
        state=row["state"],
        poi_type=candidate.poi_type,
        latitude=None if longitude is None else latitude,
        longitude=None if latitude is None else longitude,
        categories=split_categories(row["categories"]),
        stars=float(row["stars"]),
        review_count=count if isinstance(count, int) else 0,
        price=price_level(attributes, candidate.poi_type),
        attributes={key: attributes[key] for key in sorted(attributes)},
    )


def _coordinate(value: Any, bound: float) -> float | None:
    if isinstance(value, (int, float)) and math.isfinite(value) and abs(value) <= bound:
        return float(value)
    return None


def _read_reviews(
    bundle: ReadableBundle, scan: Scan, chosen: Iterable[str], limits: Limits, progress: Progress | None
) -> list[Review]:
    place_of = {review_id: business for business in chosen for review_id in scan.review_ids(business)}
    reviews: dict[str, Review] = {}
    for record in bundle.reviews(review_ids=frozenset(place_of), progress=progress):
        business = place_of.get(record.review_id)
        if business is None:
            continue
        if business != record.business_id:
            raise BundleError(f"review {record.review_id} stands in two rows, for different places", do=DAMAGED)
        text = record.text[: limits.max_chars]
        if text.strip():
            reviews[record.review_id] = Review(
                record.review_id, business, len(text), hashlib.sha256(text.encode()).hexdigest(), text
            )
        else:
            del place_of[record.review_id]  # blank up to the cut
    missing = sorted(set(place_of) - set(reviews))
    if missing:
        raise BundleError(
            f"{len(missing)} reviews were there in the first pass and not in the second, first {missing[0]}", do=DAMAGED
        )
    return list(reviews.values())


def _without_short(kb: KnowledgeBase, limits: Limits) -> KnowledgeBase:
    """Leave out places and cells that the cut left with too few reviews or places (reviews that begin with a void)."""
    places = {business for business, ids in kb.reviews_of.items() if len(ids) >= limits.min_reviews}
    if len(places) == len(kb.pois):
        return kb
    cells = {cell: [business for business in ids if business in places] for cell, ids in kb.cells.items()}
    return kb.slice(business for ids in cells.values() if len(ids) >= limits.pool_size for business in ids)


def _report(
    kb: KnowledgeBase,
    scan: Scan,
    cities: list[City],
    usable: Mapping[Any, Mapping[str, Sequence[str]]],
    limits: Limits,
    unparsed: Counter[str],
) -> KnowledgeBaseReport:
    names = benchmark_names(cities)
    counts = {(names[city.key], kind): city.usable.get(kind, 0) for city in cities for kind in POI_TYPES}
    named = {cell: f"{cell[0]} / {cell[1]}" for cell in counts}
    many = sum(len(ids) for by_type in usable.values() for ids in by_type.values())
    dropped = {
        **dict(sorted(scan.dropped.items())),
        f"under {limits.min_reviews} reviews": len(scan.candidates) - many,
        "not in a chosen cell, or not drawn": many - len(kb.pois),
    }
    asked = limits.max_places
    return KnowledgeBaseReport(
        parameters=vars(limits),
        rows={"business": scan.rows, "repeated": scan.repeated, "candidates": len(scan.candidates)},
        dropped={reason: count for reason, count in dropped.items() if count},
        cities={
            names[city.key]: {"state": city.state, "usable": {kind: city.usable.get(kind, 0) for kind in POI_TYPES}}
            for city in cities
        },
        cells={named[cell]: len(ids) for cell, ids in kb.cells.items()},
        short_cells={named[cell]: count for cell, count in counts.items() if cell in kb.cells and count < asked},
        left_out={named[cell]: count for cell, count in counts.items() if cell not in kb.cells},
        merged=scan.spellings.merged(),
        unparsed_attributes=dict(sorted(unparsed.items())),
        reviews=len(kb.reviews),
    )
