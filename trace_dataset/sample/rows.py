"""Rows of the five tables, in the key order and value forms of the real files, and as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from trace_dataset.sample import attributes, data
from trace_dataset.sample.places import Place, choose, identifier

Uniform = Callable[[], float]

# Users come in crowds: places of one block share them, so that a larger sample leaves the smaller one unchanged.
CROWD_PLACES = 240
CROWD_SIZE = 400


def line(row: Mapping[str, Any]) -> bytes:
    r"""Return a row as the real files write it: compact, ASCII only, `/` as `\/`, ended by a newline.

    Example:
        >>> line({"name": "Café 1/2"})
        b'{"name":"Caf\\u00e9 1\\/2"}\n'
    """
    return json.dumps(row, separators=(",", ":")).replace("/", "\\/").encode("ascii") + b"\n"


def user_id(seed: int, crowd: int, number: int) -> str:
    """Return the id of one user of a crowd."""
    return identifier(seed, "user", crowd, number)


def date(uniform: Uniform) -> str:
    """Return a moment between 2006 and January 2022, later years more often."""
    year = 2006 + int(16 * (1 - uniform() * uniform()))
    month, day = 1 + int(uniform() * 12), 1 + int(uniform() * 28)
    hour, minute, second = int(uniform() * 24), int(uniform() * 60), int(uniform() * 60)
    return f"{year}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d}"


def votes(uniform: Uniform, scale: float) -> int:
    """Return a count of votes; most are 0."""
    share = uniform()
    return int(scale * share * share * share * share / (1.02 - share))


def review_row(
    seed: int, business: str, review: str, crowd: int, stars: int, text: str, uniform: Uniform
) -> dict[str, Any]:
    """Return a row of the review table."""
    return {
        "review_id": review,
        "user_id": user_id(seed, crowd, int(uniform() * uniform() * CROWD_SIZE)),
        "business_id": business,
        "stars": float(stars),
        "useful": votes(uniform, 1.5),
        "funny": votes(uniform, 0.6),
        "cool": votes(uniform, 0.8),
        "text": text,
        "date": date(uniform),
    }


def city_spelling(city: data.City, uniform: Uniform) -> str:
    """Return the city as this row spells it: one row in 16 differs from the others."""
    varied, which = uniform() < 1 / 16, uniform()
    return city.variants[int(which * len(city.variants))] if varied and city.variants else city.name


def business_row(place: Place, ratings: list[int], uniform: Uniform) -> dict[str, Any]:
    """Return a row of the business table; stars are the mean of the place's ratings to the next half."""
    zip_code = choose(place.city.zips, uniform)
    return {
        "business_id": place.business_id,
        "name": place.name,
        "address": attributes.address(uniform),
        "city": city_spelling(place.city, uniform),
        "state": place.city.state,
        "postal_code": "" if uniform() < 0.01 else zip_code,
        "latitude": place.latitude,
        "longitude": place.longitude,
        "stars": half_stars(ratings),
        "review_count": len(ratings) + votes(uniform, 6.0),
        "is_open": 1 if uniform() < 0.79 else 0,
        "attributes": attributes.attributes(place, uniform),
        "categories": attributes.categories(place.kind, place.poi_type, uniform),
        "hours": attributes.hours(uniform),
    }


def half_stars(ratings: list[int]) -> float:
    """Return the mean rating, rounded to the next half star in integer arithmetic."""
    return (4 * sum(ratings) + len(ratings)) // (2 * len(ratings)) / 2 if ratings else 3.0


def user_row(seed: int, crowd: int, number: int, uniform: Uniform) -> dict[str, Any]:
    """Return a row of the user table."""
    friends = [user_id(seed, crowd, int(uniform() * CROWD_SIZE)) for _ in range(int(uniform() * 4))]
    first = choose(data.name_words()["first"], uniform)
    row: dict[str, Any] = {
        "user_id": user_id(seed, crowd, number),
        "name": first,
        "review_count": 1 + votes(uniform, 40.0),
        "yelping_since": date(uniform),
        "useful": votes(uniform, 60.0),
        "funny": votes(uniform, 30.0),
        "cool": votes(uniform, 30.0),
        "elite": choose(("", "", "", "2018,2019", "2012,2013,20,20,2021"), uniform),
        "friends": ", ".join(friends) or "None",
        "fans": votes(uniform, 3.0),
        "average_stars": round(2.5 + 2.5 * uniform(), 2),
    }
    for kind in ("hot", "more", "profile", "cute", "list", "note", "plain", "cool", "funny", "writer", "photos"):
        row[f"compliment_{kind}"] = votes(uniform, 2.0)
    return row


def tip_row(seed: int, business: str, crowd: int, text: str, uniform: Uniform) -> dict[str, Any]:
    """Return a row of the tip table."""
    return {
        "user_id": user_id(seed, crowd, int(uniform() * CROWD_SIZE)),
        "business_id": business,
        "text": text,
        "date": date(uniform),
        "compliment_count": votes(uniform, 0.3),
    }


def checkin_row(business: str, uniform: Uniform) -> dict[str, Any]:
    """Return a row of the checkin table."""
    return {"business_id": business, "date": ", ".join(sorted(date(uniform) for _ in range(1 + int(uniform() * 6))))}
