"""Reads the hand-written data of this folder: cities, kinds of places, names, aspects, sentence banks."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

BANKS = ("first", "second")


@dataclass(frozen=True, slots=True)
class Area:
    """A neighbourhood as people name it in a sentence, with its middle."""

    name: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class City:
    """A city in the spelling most rows use, and the spellings the others use."""

    name: str
    state: str
    zips: tuple[str, ...]
    variants: tuple[str, ...]
    suburbs: tuple[str, ...]
    areas: tuple[Area, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a place is, e.g. a Thai restaurant: its categories, the ends of its names, what people talk about there."""

    kind: str
    weight: float
    categories: tuple[str, ...]
    extra: tuple[str, ...]
    lean: tuple[str, ...]
    tails: tuple[str, ...]
    things: tuple[str, ...]
    spots: tuple[str, ...]


def read_json(name: str) -> Any:
    """Return the content of one JSON file of this folder."""
    return json.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


@functools.cache
def cities(which: str = "cities") -> tuple[City, ...]:
    """Return the eight cities, or the few `elsewhere` that only hold clutter."""
    return tuple(
        City(
            row["name"],
            row["state"],
            tuple(row["zips"]),
            tuple(row["variants"]),
            tuple(row["suburbs"]),
            tuple(Area(*area) for area in row["areas"]),
        )
        for row in read_json("cities.json")[which]
    )


@functools.cache
def streets() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return directions, street names and units of addresses."""
    table = read_json("cities.json")
    return tuple(table["directions"]), tuple(table["streets"]), tuple(table["units"])


@functools.cache
def kinds(poi_type: str) -> tuple[Kind, ...]:
    """Return the kinds of places of a type."""
    return tuple(
        Kind(
            row["kind"],
            float(row["weight"]),
            tuple(row["categories"]),
            tuple(row["extra"]),
            tuple(row["lean"]),
            tuple(row["tails"]),
            tuple(row.get("dishes") or row.get("things") or ()),
            tuple(row.get("spots") or ()),
        )
        for row in read_json(f"kinds_{poi_type}.json")
    )


@functools.cache
def name_words() -> dict[str, tuple[str, ...]]:
    """Return the word lists that names are made of."""
    return {key: tuple(words) for key, words in read_json("names.json").items()}


@functools.cache
def presence(poi_type: str) -> tuple[tuple[str, float], ...]:
    """Return the aspects of a type with the share of places that have each, in the order of the file."""
    return tuple(read_json("aspects.json")["presence"][poi_type].items())


@functools.cache
def core_aspects() -> frozenset[str]:
    """Return the aspects that any review of a place may turn to."""
    return frozenset(read_json("aspects.json")["core"])


@functools.cache
def opposites() -> tuple[tuple[str, str], ...]:
    """Return pairs of aspects of which a place has at most one in a good sense."""
    return tuple((first, second) for first, second in read_json("aspects.json")["opposites"])


def bank_tables(bank: str) -> list[Any]:
    """Return the parsed files of one sentence bank, in the order of their names."""
    folder = resources.files(__package__)
    names = sorted(item.name for item in folder.iterdir() if item.name.startswith(f"{bank}_"))
    return [read_json(name) for name in names if name.endswith(".json")]
