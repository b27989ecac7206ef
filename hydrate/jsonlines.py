"""One line of a JSON-lines file: parsed as every JSON reader would, or one clear error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hydrate.spans import replace_surrogates

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_loads: Callable[[bytes], Any]
try:
    from orjson import loads as _loads
except ImportError:  # hydrate works without it, at a fifth of the speed
    _loads = json.loads


def parse_object(line: bytes) -> tuple[dict[str, Any], int]:
    """Return the object a line holds, and how many lone surrogates in it became U+FFFD.

    Of repeated keys the last wins. Raises `ValueError` (with the reason, no text) for anything but one JSON object in
    valid UTF-8.
    """
    replaced = 0
    try:
        value = _loads(line)
    except ValueError:
        value, replaced = _replaced(_slowly(line))
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value, replaced


def _slowly(line: bytes) -> Any:
    """Read what a strict parser refuses and Python's does not: lone surrogates, NaN, numbers of any size."""
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start} of the line") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1} of the line") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _replaced(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        items = [_replaced(item) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    if isinstance(value, dict):
        pairs = [(_replaced(key), _replaced(item)) for key, item in value.items()]
        return {key[0]: item[0] for key, item in pairs}, sum(key[1] + item[1] for key, item in pairs)
    return value, 0
