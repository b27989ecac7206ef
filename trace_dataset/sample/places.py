"""Places and their latent profiles: which aspects a place has, and whether they are good or bad there."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from trace_dataset.sample import data
from trace_dataset.schema import POI_TYPES
from trace_dataset.streams import digest, stream

Item = TypeVar("Item")

# Areas are listed from the middle of a city outwards; most places are near the middle.
AREA_WEIGHTS = (6, 5, 4, 4, 3, 2, 2, 2, 2, 2)
AREA_RADIUS = 0.008  # degrees; about 0.9 km north to south
MAIN = frozenset({"food", "rooms", "exhibits"})  # what people talk about most
PRICE_SHARES = {
    "restaurant": (0.40, 0.51, 0.07, 0.02),
    "hotel": (0.16, 0.46, 0.28, 0.10),
    "attraction": (0.5, 0.4, 0.08, 0.02),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A usable place with what nobody but the generator sees: `quality` 0 to 1 and `stance` (aspect to +1 or -1)."""

    index: int
    business_id: str
    name: str
    poi_type: str
    city: data.City
    area: data.Area
    kind: data.Kind
    latitude: float
    longitude: float
    quality: float
    price: int
    stance: dict[str, int]
    salience: dict[str, float]


def identifier(*keys: object) -> str:
    """Return a 22-character id of `[A-Za-z0-9_-]`, as Yelp's ids are."""
    return base64.urlsafe_b64encode(digest(*keys)[:17])[:22].decode("ascii")


def choose(options: Sequence[Item], uniform: Callable[[], float]) -> Item:
    """Return one option; a single draw, so that adding options moves no later draw."""
    return options[int(uniform() * len(options))]


def weighted(options: Sequence[Item], weights: Sequence[float], uniform: Callable[[], float]) -> Item:
    """Return one option with probability proportional to its weight."""
    mark = uniform() * sum(weights)
    for option, weight in zip(options, weights, strict=False):
        mark -= weight
        if mark < 0:
            return option
    return options[len(weights) - 1]


def make_place(seed: int, index: int, used_names: dict[str, set[str]]) -> Place:
    """Return the place with this number; it depends on smaller numbers only through names already taken."""
    cell = index % (8 * len(POI_TYPES))
    city = data.cities()[cell % 8]
    poi_type = POI_TYPES[cell // 8]
    draws = stream(seed, "place", index)
    uniform = draws.random
    kinds = data.kinds(poi_type)
    kind = weighted(kinds, [item.weight for item in kinds], uniform)
    area = weighted(city.areas, AREA_WEIGHTS, uniform)
    quality = (uniform() + uniform() + uniform()) / 3
    stance = _stance(poi_type, kind, quality, uniform)
    return Place(
        index=index,
        business_id=identifier(seed, "business", index),
        name=unused_name(seed, index, poi_type, kind, used_names.setdefault(city.name, set())),
        poi_type=poi_type,
        city=city,
        area=area,
        kind=kind,
        latitude=round(area.latitude + _spread(uniform), 7),
        longitude=round(area.longitude + _spread(uniform), 7),
        quality=quality,
        price=_price(poi_type, stance, uniform),
        stance=stance,
        salience={aspect: (0.3 + 3.2 * uniform() ** 3) * (1.6 if aspect in MAIN else 1.0) for aspect in stance},
    )


def _spread(uniform: Callable[[], float]) -> float:
    return (uniform() + uniform() - 1.0) * AREA_RADIUS


def _stance(poi_type: str, kind: data.Kind, quality: float, uniform: Callable[[], float]) -> dict[str, int]:
    stance: dict[str, int] = {}
    for aspect, share in data.presence(poi_type):
        present, good = uniform(), uniform()
        leaning = aspect in kind.lean
        if present < (max(share, 0.6) if leaning else share):
            stance[aspect] = 1 if good < 0.30 + 0.62 * quality + (0.15 if leaning else 0.0) else -1
    for first, second in data.opposites():
        if stance.get(first) == 1 and stance.get(second) == 1:
            del stance[second if uniform() < 0.5 else first]
    return stance


def _price(poi_type: str, stance: dict[str, int], uniform: Callable[[], float]) -> int:
    price = weighted((1, 2, 3, 4), PRICE_SHARES[poi_type], uniform)
    if stance.get("upscale") == 1:
        price = max(price, 3)
    elif stance.get("casual") == 1 or stance.get("value") == 1:
        price = min(price, 2)
    return price


def unused_name(seed: int, index: int, poi_type: str, kind: data.Kind, used: set[str]) -> str:
    """Return an invented name that no other place of the city has, and remember it in `used`."""
    attempt = 0
    while True:
        name = _name(stream(seed, "name", index, attempt), poi_type, kind, attempt)
        if name not in used:
            used.add(name)
            return name
        attempt += 1


_PATTERNS = {
    "restaurant": (
        "{first}'s {tail}",
        "{last}'s {tail}",
        "The {adjective} {noun}",
        "{adjective} {noun} {tail}",
        "{noun} & {noun2}",
        "{place} {tail}",
        "{first} & {first2}'s {tail}",
        "The {noun} {tail}",
        "{last} Brothers {tail}",
        "{noun} & {noun2} {tail}",
    ),
    "hotel": (
        "The {place} {tail}",
        "{quality} {place} {tail}",
        "{adjective} {noun} {tail}",
        "{last} {tail}",
        "The {last} {tail}",
        "{place} {quality} {tail}",
        "{noun} {tail}",
        "{quality} {noun} {tail}",
    ),
    "attraction": (
        "{place} {tail}",
        "{last} {tail}",
        "{adjective} {noun} {tail}",
        "{last} Memorial {tail}",
        "{quality} {place} {tail}",
        "The {first} {last} {tail}",
        "{last} & {last2} {tail}",
        "{noun} {place} {tail}",
    ),
}


def _name(draws: Random, poi_type: str, kind: data.Kind, attempt: int) -> str:
    uniform = draws.random
    words = data.name_words()
    patterns = _PATTERNS[poi_type]
    # After a few collisions only the patterns with most combinations are worth trying.
    pattern = choose(patterns, uniform) if attempt < 4 else "{first} {last}'s {quality} {tail}"
    fields = {"tail": choose(kind.tails, uniform)}
    for key in ("first", "last", "adjective", "noun", "place", "quality"):
        fields[key] = choose(words[key], uniform)
        rest = [word for word in words[key] if word != fields[key]]
        fields[f"{key}2"] = choose(rest, uniform)
    return pattern.format(**fields)
