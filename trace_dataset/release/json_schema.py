"""The published JSON Schema of a dialogue, derived from the table types so that the two cannot differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from trace_dataset import schema

NULLABLE = {"latitude", "longitude", "price", "text"}
CHOICES = {
    "role": ["user", "system"],
    "difficulty": list(schema.TIERS),
    "poi_type": list(schema.POI_TYPES),
    "action": sorted({*schema.USER_ACTIONS, *schema.SYSTEM_ACTIONS}),
}
PATTERNS = {"sha256": "^[0-9a-f]{64}$", "label": "^R[0-9]+$"}


def json_schema(config: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one row of a config: `dialogues`, `pois` or `reviews`."""
    body = _object(schema.features(config), config)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"TRACE {config} row", **body}


def write_json_schema(path: Path) -> None:
    """Write the schemas of all three tables into one file."""
    every = {config: json_schema(config) for config in ("dialogues", "pois", "reviews")}
    path.write_bytes(orjson.dumps(every, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _object(fields: Any, config: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _value(name, kind, config) for name, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _value(name: str, kind: Any, config: str) -> dict[str, Any]:
    if isinstance(kind, dict):
        return _object(kind, config)
    if hasattr(kind, "feature"):
        return {"type": "array", "items": _value("", kind.feature, config)}
    json_type = {"string": "string", "int64": "integer", "float64": "number", "bool": "boolean"}[kind.dtype]
    may_be_null = name in NULLABLE and not (config == "dialogues" and name == "text")
    body: dict[str, Any] = {"type": [json_type, "null"] if may_be_null else json_type}
    if name in CHOICES:
        body["enum"] = CHOICES[name]
    if name in PATTERNS:
        body["pattern"] = PATTERNS[name]
    return body
