"""How people speak of each wish: the lines of `wishes.json`, with what the wishes mean for plans beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from trace_dataset.schema import POI_TYPES, Constraint

SINGLE_SLOTS = ("price", "category", "distance")  # asked for once a dialogue


@dataclass(frozen=True, slots=True)
class Wording:
    """The lines for one wish.

    Attributes:
        lines: by use: `thing` (noun phrase), `where` (clause after "somewhere"), `say` (sentence), `ask` (question),
            `fails` (what is wrong with a place), `lacks` (what goes unmentioned), `claims` (what holds), `bad`, `topic`.
        group: the group of persona weights.
        clashes: values that nobody asks for beside this one.
        appeal: how often it is asked for, 1 being usual.
        types: place types for which anyone asks for it.
        slots: fixed slots of the lines.
        known: whether the wording was written for this wish; others are not asked for.
    """

    lines: Mapping[str, tuple[str, ...]]
    group: str
    clashes: frozenset[str]
    types: tuple[str, ...]
    slots: Mapping[str, str]
    known: bool = True
    appeal: float = 1.0

    def fits(self, poi_type: str) -> bool:
        """Whether someone who looks for a place of this type would ask for it."""
        return self.known and poi_type in self.types


@cache
def _data() -> dict[str, Any]:
    text = resources.files("trace_dataset.dialogues").joinpath("wishes.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def wording(wish: Constraint) -> Wording:
    """Return the wording of a wish; one that nobody wrote words for is marked as unknown."""
    data = _data()
    if wish.slot == "aspect":
        entry = data["aspects"].get(wish.value)
        if entry is None:
            return Wording({}, "aspects", frozenset(), (), {}, known=False)
        return Wording(
            _lines(entry),
            entry["group"],
            frozenset(entry["clashes"]),
            tuple(entry["types"]),
            {},
            appeal=entry.get("appeal", 1.0),
        )
    if wish.slot == "category":
        for kind, key in (("food", "foods"), ("place", "places")):
            if wish.value in data[key]:
                types: tuple[str, ...] = ("restaurant",) if kind == "food" else POI_TYPES
                return Wording(
                    _lines(data["others"][f"category:{kind}"]),
                    "aspects",
                    frozenset(),
                    types,
                    {"cat": data[key][wish.value]},
                )
        return Wording({}, "aspects", frozenset(), (), {}, known=False)
    entry = data["others"].get(f"{wish.slot}:{wish.value}")
    if entry is None:
        return Wording({}, "aspects", frozenset(), (), {}, known=False)
    types = POI_TYPES if wish.slot == "distance" else ("restaurant", "hotel")
    return Wording(_lines(entry), "price" if wish.slot == "price" else "distance", frozenset(), types, {})


def is_food(wish: Constraint) -> bool:
    """Return whether a wish is for a kind of food rather than a kind of place."""
    return wish.slot == "category" and wish.value in _data()["foods"]


def _lines(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {use: tuple(lines) for use, lines in entry.items() if use not in ("group", "types", "clashes", "appeal")}
