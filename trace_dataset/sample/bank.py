"""A sentence bank ready for use: templates per aspect and polarity, compiled for one type of place."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.sample import data
from trace_dataset.sample.grammar import Sequence, compile_all, slot_names

# Slots that a place or a review fills, not the bank.
CONTEXT_SLOTS = frozenset(
    {
        "dish",
        "dish2",
        "thing",
        "thing2",
        "spot",
        "area",
        "city",
        "we",
        "us",
        "our",
        "weve",
        "we_were",
        "companion",
        "np",
        "a",
        "b",
        "c",
    }
)


@dataclass(slots=True)
class Aspect:
    """Templates of one aspect. Keys of the dictionaries are polarities, +1 and -1.

    `direct` names the aspect by a plain word, `indirect` does not; `clauses` fit into the middle of a sentence;
    `nouns` are phrases for what is judged ("parking situation").
    """

    direct: dict[int, list[Sequence]] = field(default_factory=lambda: {1: [], -1: []})
    indirect: dict[int, list[Sequence]] = field(default_factory=lambda: {1: [], -1: []})
    clauses: dict[int, list[Sequence]] = field(default_factory=lambda: {1: [], -1: []})
    nouns: list[Sequence] = field(default_factory=list)


@dataclass(slots=True)
class Bank:
    """Everything that a review of one type of place is made of."""

    slots: dict[str, list[Sequence]]
    lists: dict[str, list[Sequence]]
    aspects: dict[str, Aspect]


_FIELDS = {
    "+": ("direct", 1),
    "-": ("direct", -1),
    "+~": ("indirect", 1),
    "-~": ("indirect", -1),
    "+c": ("clauses", 1),
    "-c": ("clauses", -1),
}


@functools.cache
def load_bank(bank: str, poi_type: str) -> Bank:
    """Return a bank for a type of place.

    Raises:
        UsageError: no bank of that name.
        ValueError: a template names a slot that nothing fills (a mistake in the bank's files).
    """
    if bank not in data.BANKS:
        raise UsageError(f"no sentence bank {bank!r}", do=f"use one of: {', '.join(data.BANKS)}")
    tables = data.bank_tables(bank)
    slots = _merged((table.get("slots", {}) for table in tables), poi_type)
    lists = _merged((table.get("lists", {}) for table in tables), poi_type)
    aspects: dict[str, Aspect] = {}
    for table in tables:
        for name, rows in table.get("aspects", {}).items():
            _add(aspects.setdefault(name, Aspect()), rows, poi_type)
    wanted = {name for name, _ in data.presence(poi_type)}
    result = Bank(slots, lists, {name: aspects[name] for name in aspects if name in wanted})
    _check(result)
    return result


def _merged(tables: Iterable[dict[str, Any]], poi_type: str) -> dict[str, list[Sequence]]:
    """Join lists of the same name; `name.hotel` adds to `name` for hotels only."""
    merged: dict[str, list[Sequence]] = {}
    for table in tables:
        for key, templates in table.items():
            name, _, only = key.partition(".")
            if not only or poi_type in only.split("+"):
                merged.setdefault(name, []).extend(compile_all(templates))
    return merged


def _add(aspect: Aspect, rows: dict[str, list[str]], poi_type: str) -> None:
    for key, templates in rows.items():
        name, _, only = key.partition(".")
        if only and poi_type not in only.split("+"):
            continue
        if name == "np":
            aspect.nouns.extend(compile_all(templates))
        else:
            group, polarity = _FIELDS[name]
            getattr(aspect, group)[polarity].extend(compile_all(templates))


def _check(bank: Bank) -> None:
    groups = [*bank.slots.values(), *bank.lists.values()]
    for aspect in bank.aspects.values():
        groups.append(aspect.nouns)
        for group in (aspect.direct, aspect.indirect, aspect.clauses):
            groups += group.values()
    used = {name for group in groups for template in group for name in slot_names(template)}
    unknown = sorted(used - set(bank.slots) - CONTEXT_SLOTS)
    if unknown:
        raise ValueError(f"slots without a filling in a sentence bank: {unknown}")
