"""The fields of an answer and their bounds: sent as a JSON schema where a service obeys one, checked by us in any case."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

PLACEHOLDER = re.compile(r"[{<\[]\w+[}>\]]")  # small models copy `{response}` from what tells them the form of a reply


@dataclass(frozen=True, slots=True)
class Text:
    """A text of `least` to `most` characters. `about` tells the model what to write.

    `pattern` is a regular expression (from `^` to `$`, no look-around) for services that constrain decoding; it shapes an
    answer and is not checked afterwards, so whoever depends on it checks the text.
    """

    about: str
    most: int = 400
    least: int = 1
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of `options`."""

    about: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number from `low` to `high`."""

    about: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Items:
    """Up to `most` short texts of at most `each` characters; none is an answer too."""

    about: str
    most: int = 4
    each: int = 40


Field = Text | Choice | Number | Items


def json_schema(fields: Mapping[str, Field], bounded: bool) -> dict[str, Any]:
    """Return the schema of an answer; without bounds it keeps to what every service with schemas accepts."""
    return {
        "type": "object",
        "properties": {name: _property(kind, bounded) for name, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def annotation(kind: Field) -> Any:
    """Return the Python type under which DSPy parses a field."""
    if isinstance(kind, Choice):
        return Literal[kind.options]
    if isinstance(kind, Items):
        return list[str]
    return int if isinstance(kind, Number) else str


def fault(kind: Field, value: Any) -> str | None:
    """Return what is wrong with a value, or None."""
    if isinstance(kind, Text):
        if not isinstance(value, str):
            return "is not text"
        if not value.strip():
            return "is empty"
        if kind.pattern is None and PLACEHOLDER.fullmatch(value.strip()):
            return "is a placeholder"
        fits = kind.least <= len(value) <= kind.most
        return None if fits else f"has {len(value)} characters, not {kind.least} to {kind.most}"
    if isinstance(kind, Choice):
        return None if value in kind.options else f"is none of {', '.join(kind.options)}"
    if isinstance(kind, Items):
        return _items_fault(kind, value)
    if isinstance(value, bool) or not isinstance(value, int):
        return "is not a whole number"
    return None if kind.low <= value <= kind.high else f"is not within {kind.low} to {kind.high}"


def complete_json(text: str) -> bool:
    """Whether a reply holds a whole JSON object; a repaired half of one is not taken for an answer."""
    text = re.sub(r"^\s*```(?:json)?\s*|\s*```\s*$", "", text)
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return False
    try:
        return isinstance(json.loads(text[start : end + 1], strict=False), dict)
    except ValueError:
        return False


def _items_fault(kind: Items, value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return "is not a list of texts"
    if len(value) > kind.most:
        return f"has {len(value)} entries, not up to {kind.most}"
    return (
        None if all(len(item) <= kind.each for item in value) else f"has an entry of more than {kind.each} characters"
    )


def _property(kind: Field, bounded: bool) -> dict[str, Any]:
    if isinstance(kind, Choice):
        return {"type": "string", "enum": list(kind.options)}
    if isinstance(kind, Number):
        return {"type": "integer", **({"minimum": kind.low, "maximum": kind.high} if bounded else {})}
    if isinstance(kind, Items):
        item = {"type": "string", **({"maxLength": kind.each} if bounded else {})}
        return {"type": "array", "items": item, **({"maxItems": kind.most} if bounded else {})}
    if not bounded:
        return {"type": "string"}
    if kind.pattern is not None:
        return {"type": "string", "pattern": kind.pattern}
    return {"type": "string", "minLength": kind.least, "maxLength": kind.most}
