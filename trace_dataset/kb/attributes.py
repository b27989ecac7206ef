"""Yelp's attributes: values are text that looks like Python source, read with a literal parser, never evaluated."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from typing import Any

LONGEST_LITERAL = 2000  # the longest in the real data is under 200; deep nesting would exhaust the parser's stack
PRICED = ("restaurant", "hotel")  # attractions carry no price level (definitions, 7.0)


def parse_attributes(raw: object) -> tuple[dict[str, str], list[str]]:
    """Return a place's attributes as flat keys and plain text, and the keys whose text could not be parsed.

    Nested mappings become dotted keys. None is left out. A value that is no literal keeps its raw text.

    Example:
        >>> parse_attributes({"WiFi": "u'paid'", "Ambience": "{'romantic': True, 'casual': None}", "Noise": "loud"})
        ({'WiFi': 'paid', 'Ambience.romantic': 'True', 'Noise': 'loud'}, ['Noise'])
    """
    flat: dict[str, str] = {}
    unparsed: list[str] = []
    if raw is None:
        return flat, unparsed
    if not isinstance(raw, Mapping):
        return flat, ["attributes"]
    for key, value in raw.items():
        _flatten(str(key), value, flat, unparsed)
    return flat, unparsed


def price_level(attributes: Mapping[str, str], poi_type: str) -> int | None:
    """Return the price level 1 to 4 of a restaurant or hotel; None where it is missing, and for attractions."""
    value = attributes.get("RestaurantsPriceRange2", "")
    return int(value) if poi_type in PRICED and value in ("1", "2", "3", "4") else None


def _flatten(key: str, value: Any, flat: dict[str, str], unparsed: list[str]) -> None:
    if isinstance(value, str):
        try:
            value = _literal(value)
        except ValueError:
            flat[key] = value
            unparsed.append(key)
            return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if inner is not None:
                flat[f"{key}.{name}"] = str(inner)
    elif value is not None:
        flat[key] = str(value)


def _literal(text: str) -> Any:
    """Return the value of a Python literal; raises `ValueError` for anything else."""
    if text in ("True", "False", "None"):
        return {"True": True, "False": False}.get(text)
    if len(text) > LONGEST_LITERAL:
        raise ValueError("too long for a literal")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash is the data's, not ours
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("not a literal") from error
    if not isinstance(value, (str, bool, int, float, dict, type(None))):
        raise ValueError("not a value that Yelp writes")
    return value
