"""A bundle over lists of dictionaries, with the methods that a knowledge base needs, and rows to fill it with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Record:
    review_id: str
    business_id: str
    text: str
    stars: float


class TinyBundle:
    def __init__(self, businesses: list[dict[str, Any]], reviews: list[dict[str, Any]]) -> None:
        self.businesses, self.review_rows = businesses, reviews

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        assert table == "business"
        yield from self.businesses

    def review_keys(self, business_ids: Any, progress: Any = None) -> Iterator[tuple[str, str]]:
        for row in self.review_rows:
            if row["business_id"] in business_ids and row["text"].strip():
                yield row["review_id"], row["business_id"]
        if progress:
            progress(10, 10)

    def reviews(self, review_ids: Any = None, business_ids: Any = None, progress: Any = None) -> Iterator[Record]:
        for row in self.review_rows:
            if (review_ids is None or row["review_id"] in review_ids) and (
                business_ids is None or row["business_id"] in business_ids
            ):
                yield Record(row["review_id"], row["business_id"], row["text"], row["stars"])
        if progress:
            progress(10, 10)


def business(
    identifier: str,
    city: str = "Tucson",
    state: str = "AZ",
    categories: str | None = "Restaurants, Mexican",
    attributes: dict[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "business_id": identifier,
        "name": f"Place {identifier}",
        "address": "1 Main St",
        "city": city,
        "state": state,
        "postal_code": "85701",
        "latitude": 32.2,
        "longitude": -110.9,
        "stars": 4.0,
        "review_count": 9,
        "is_open": 1,
        "attributes": attributes,
        "categories": categories,
        "hours": None,
        **more,
    }


def review(identifier: str, place: str, text: str = "Fine food here.") -> dict[str, Any]:
    return {
        "review_id": identifier,
        "user_id": "u",
        "business_id": place,
        "stars": 4.0,
        "useful": 0,
        "funny": 0,
        "cool": 0,
        "text": text,
        "date": "2018-07-07 22:09:11",
    }


def cell(city: str, categories: str, places: int, reviews: int = 4, state: str = "AZ", mark: str = "") -> TinyBundle:
    names = [f"{mark or city[:3]}-{categories[:4]}-{number:03d}" for number in range(places)]
    return TinyBundle(
        [business(name, city, state, categories) for name in names],
        [review(f"{name}-r{number}", name) for name in names for number in range(reviews)],
    )


def together(*bundles: TinyBundle) -> TinyBundle:
    return TinyBundle(
        [row for bundle in bundles for row in bundle.businesses],
        [row for bundle in bundles for row in bundle.review_rows],
    )
