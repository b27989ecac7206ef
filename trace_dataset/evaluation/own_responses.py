"""Responses that a system of one's own wrote, as JSON lines: their schema, and how they are read.

One line a system turn. Three columns have to be there; each other column makes more metrics computable, and what cannot be
computed is named with the columns that it needs (`own_scores`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import BundleError
from trace_dataset.schema import SYSTEM_ACTIONS

Row = Mapping[str, Any]
_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_IDS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_LABEL = {"type": "string", "pattern": "^R[0-9]+$"}
REQUIRED = ("dialogue_id", "turn_index", "text")
COLUMNS: Mapping[str, tuple[dict[str, Any], str]] = {
    "dialogue_id": (_TEXT, "the dialogue"),
    "turn_index": (
        {"type": "integer", "minimum": 0},
        "position of the turn in its dialogue, from 0, user turns included",
    ),
    "text": (_TEXT, 'what the system said, quotes in double quotation marks, labels as [R3]; "" for no answer'),
    "action": ({"type": "string", "enum": list(SYSTEM_ACTIONS)}, "what the turn had to do"),
    "poi_ids": (_IDS, "the places that the text names, in order"),
    "ranking": (_IDS, "the whole pool, best first"),
    "citations": (
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"label": _LABEL, "review_id": _TEXT, "text": _TEXT},
                "required": ["label"],
            },
        },
        "what the labels refer to: the review's text, or its id where a benchmark is given",
    ),
    "reference_text": (_TEXT, "the reference's turn"),
    "reference_poi_ids": (_IDS, "the places that the reference's turn names; the first is the gold"),
    "alternative_poi_ids": (_IDS, "other places that satisfy the wishes so far"),
    "rejected_poi_ids": (_IDS, "the places that the user's turn before turned down"),
    "user_turns": (_IDS, "what the user has said so far"),
    "places": (
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "business_id": _TEXT,
                    "latitude": _NUMBER,
                    "longitude": _NUMBER,
                    "price": {"type": ["integer", "null"], "minimum": 1, "maximum": 4},
                    "facts": _TEXT,
                },
                "required": ["business_id"],
            },
        },
        "what is known of the places named: coordinates, price level 1 to 4, and a text of categories, attributes and reviews",
    ),
}
MOST_FAULTS = 5  # named in one error


def responses_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "TRACE response to one system turn",
        "type": "object",
        "properties": {name: {**kind, "description": about} for name, (kind, about) in COLUMNS.items()},
        "required": list(REQUIRED),
    }


def read_responses(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; raises `BundleError` that names the first lines that do not fit the schema."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}", do="give a file of JSON lines") from None
    rows, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            faults.append(f"line {number}: not JSON")
            continue
        found = _faults(row)
        faults += [f"line {number}: {fault}" for fault in found]
        rows.append(row)
    seen: dict[tuple[str, int], int] = {}
    for number, row in enumerate(rows if not faults else [], 1):
        key = row["dialogue_id"], row["turn_index"]
        if seen.setdefault(key, number) != number:
            faults.append(f"row {number}: dialogue {key[0]}, turn {key[1]} is there twice")
    if faults:
        shown = "\n  ".join([f"{path}: {len(faults):,} things do not fit", *faults[:MOST_FAULTS]])
        raise BundleError(shown, do="compare with the schema: trace-dataset score --schema")
    if not rows:
        raise BundleError(f"{path} holds no responses", do="write one JSON object a line, one line a system turn")
    return rows


def present(rows: Sequence[Row]) -> frozenset[str]:
    """Return the columns that any row has, `citations.text`, `places.latitude` and the like among them."""
    found = {name for row in rows for name, value in row.items() if value is not None}
    for outer in ("citations", "places"):
        found |= {
            f"{outer}.{name}"
            for row in rows
            for item in row.get(outer) or ()
            for name, value in item.items()
            if value is not None
        }
    return frozenset(found)


def unknown(rows: Sequence[Row]) -> list[str]:
    """Return the columns that mean nothing here; a misspelt one would else go unnoticed."""
    return sorted({name for row in rows for name in row} - set(COLUMNS))


def _faults(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f"{_kind(row)}, not an object"]
    missing = [f"{name} is missing" for name in REQUIRED if row.get(name) is None]
    wrong = [
        f"{name} {fault}"
        for name, (kind, _) in COLUMNS.items()
        if row.get(name) is not None and (fault := _fault(row[name], kind)) is not None
    ]
    return missing + wrong


def _fault(value: Any, kind: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a value under a schema of the few forms that are used above."""
    allowed = kind["type"] if isinstance(kind["type"], list) else [kind["type"]]
    if not any(_IS[name](value) for name in allowed):
        return f"is {_kind(value)}, not {allowed[0]}"
    if "enum" in kind and value not in kind["enum"]:
        return f"is none of {', '.join(kind['enum'])}"
    if "pattern" in kind and not (value[:1] == "R" and value[1:].isdigit() and value.isascii() and len(value) < 20):
        return "is no label such as R3"
    if "minimum" in kind and value is not None and not kind["minimum"] <= value <= kind.get("maximum", value):
        return f"is {value}, out of range"
    if "items" in kind:
        faults = (_fault(item, kind["items"]) for item in value)
        return next((f"holds an entry that {fault}" for fault in faults if fault), None)
    if "properties" in kind:
        lacking = [name for name in kind["required"] if value.get(name) is None]
        if lacking:
            return f"has no {lacking[0]}"
        parts = (
            (name, _fault(value[name], part))
            for name, part in kind["properties"].items()
            if value.get(name) is not None
        )
        return next((f"has a {name} that {fault}" for name, fault in parts if fault), None)
    return None


def _kind(value: Any) -> str:
    return next(
        (f"{'an' if name[0] in 'aio' else 'a'} {name}" for name, test in _IS.items() if test(value)), "something else"
    )


_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
