"""The aspect catalogue and the opinion words, compiled for matching: `aspects.json` and `lexicon.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from trace_dataset.kb.phrases import expand
from trace_dataset.kb.words import Reader, word_lists

GENERAL = -1  # stands for an aspect where a phrase speaks of anything
FEATURE, TOPIC, GOOD, BAD, POSITIVE, NEGATIVE, IGNORE, TURNING, UNREAL = range(9)
ROLES = {
    "features": FEATURE,
    "topics": TOPIC,
    "good": GOOD,
    "bad": BAD,
    "positive": POSITIVE,
    "negative": NEGATIVE,
    "ignore": IGNORE,
}
STRONG, SPECIFIC, PLAIN, WEAK = 4, 3, 2, 1  # how much an opinion says
Node = dict[str, Any]  # word to node; the key "" holds [(aspect, role, strength), …]


@dataclass(frozen=True)
class Aspect:
    """One thing people praise or blame a place for.

    Attributes:
        key: as it stands in a constraint, e.g. `outdoor seating`.
        family: food, service, ambience, logistics, value, room, company or attraction.
        types: the types of place that it fits.
        supports: attribute to the values that confirm it; `BusinessParking.*` is any of its parts.
        contradicts: attribute to the values that deny it; with `.*` every part that is there must have one.
        general: whether opinion words of no aspect in particular ("great") count when they speak of its topics.
    """

    key: str
    family: str
    types: tuple[str, ...]
    supports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contradicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    general: bool = True


@cache
def _entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(
        resources.files(__package__).joinpath("aspects.json").read_text(encoding="utf-8")
    )
    return entries


@cache
def catalogue() -> dict[str, Aspect]:
    """Return key to aspect, in the order of the file.

    Example:
        >>> catalogue()["parking"].family
        'logistics'
    """
    found = {}
    for entry in _entries():
        attributes = entry.get("attributes", {})
        found[entry["key"]] = Aspect(
            entry["key"],
            entry["family"],
            tuple(entry["types"]),
            {key: tuple(values) for key, values in attributes.get("supports", {}).items()},
            {key: tuple(values) for key, values in attributes.get("contradicts", {}).items()},
            entry.get("general", True),
        )
    return found


def aspects_of(poi_type: str) -> tuple[str, ...]:
    """Return the keys that fit a type of place, sorted."""
    return tuple(sorted(key for key, aspect in catalogue().items() if poi_type in aspect.types))


@dataclass(frozen=True)
class Lexicon:
    """Everything that reading a clause needs.

    Attributes:
        root: the first node of a tree of words that holds all phrases.
        keys: aspect keys by number; a phrase names its aspect by that number, or GENERAL.
        flips: by the same number, whether denied blame is praise: "not loud" is quiet, "not rude" is not yet friendly.
    """

    reader: Reader
    root: Node
    keys: tuple[str, ...]
    general: tuple[bool, ...]
    flips: tuple[bool, ...]
    fits: Mapping[str, frozenset[int]]
    negators: frozenset[str]
    belief: frozenset[str]
    unreal: frozenset[str]
    copulas: frozenset[str]
    before_copula: frozenset[str]
    stops: frozenset[str]
    feelings: frozenset[str]
    trouble: frozenset[str]
    too: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the compiled word lists; a fraction of a second at the first call."""
    reader, lists, entries = Reader(), word_lists(), _entries()
    root: Node = {}
    for number, entry in enumerate(entries):
        for name, role in ROLES.items():
            strength = {FEATURE: PLAIN, POSITIVE: STRONG, NEGATIVE: STRONG}.get(role, SPECIFIC)
            _add(root, reader, entry.get(name, ()), (number, role, strength))
    for name, role, strength in (
        ("strong_good", GOOD, STRONG),
        ("good", GOOD, PLAIN),
        ("bad", BAD, PLAIN),
        ("strong_bad", BAD, STRONG),
        ("good_phrases", GOOD, PLAIN),
        ("bad_phrases", BAD, PLAIN),
        ("neutral_phrases", IGNORE, 0),
        ("turning_phrases", TURNING, 0),
        ("unreal_phrases", UNREAL, 0),
    ):
        _add(root, reader, lists[name], (GENERAL, role, strength))
    keys = tuple(entry["key"] for entry in entries)
    fits = {
        kind: frozenset(number for number, entry in enumerate(entries) if kind in entry["types"])
        for kind in ("restaurant", "hotel", "attraction")
    }
    words = {
        name: frozenset(lists[name])
        for name in ("negators", "belief", "unreal", "copulas", "before_copula", "stops", "feelings", "trouble", "too")
    }
    return Lexicon(
        reader,
        root,
        keys,
        tuple(entry.get("general", True) for entry in entries),
        tuple(entry.get("flips", False) for entry in entries),
        fits,
        **words,
    )


def _add(root: Node, reader: Reader, patterns: Iterable[str], payload: tuple[int, int, int]) -> None:
    for words in dict.fromkeys(reader.normalise(text) for pattern in patterns for text in expand(pattern)):
        node = root
        for word in words:
            node = node.setdefault(word, {})
        if words:
            payloads = node.setdefault("", [])
            if payload not in payloads:
                payloads.append(payload)
