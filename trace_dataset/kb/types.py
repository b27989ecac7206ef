"""Which places are hotels, attractions or restaurants: whole Yelp category names, tried in a fixed order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources


def _load() -> tuple[tuple[str, frozenset[str]], ...]:
    entries = json.loads(resources.files(__package__).joinpath("categories.json").read_text(encoding="utf-8"))
    return tuple((entry["poi_type"], frozenset(entry["categories"])) for entry in entries)


CATEGORIES = _load()  # in the order in which they are tried: hotel, attraction, restaurant


def split_categories(text: str | None) -> tuple[str, ...]:
    """Return the category names of Yelp's comma-joined text, each once, sorted: their order carries no meaning.

    Example:
        >>> split_categories("Pop-Up Restaurants, Food")
        ('Food', 'Pop-Up Restaurants')
    """
    if not isinstance(text, str):
        return ()
    return tuple(sorted({name.strip() for name in text.split(",")} - {""}))


def poi_type(categories: Iterable[str]) -> str | None:
    """Return `hotel`, `attraction` or `restaurant`, the first whose category names the place carries, else None.

    Example:
        >>> poi_type(["Restaurants", "Hotels"]), poi_type(["Pop-Up Restaurants"])
        ('hotel', None)
    """
    names = frozenset(categories)
    for kind, wanted in CATEGORIES:
        if names & wanted:
            return kind
    return None
