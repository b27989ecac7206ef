"""From what a reader types to the rows that a metric takes; a line that cannot be read is named by its number."""

from __future__ import annotations

import json
import re
from typing import Any

_REVIEW = re.compile(r"\s*\[?(R[0-9]{1,18})(?!\w)\]?\s*[:.–-]?\s*(.*)")
_TURN = re.compile(r"\s*(user|system)[ \t]+([A-Za-z_]+)\s*(?::\s*(.*))?$")


class Unreadable(ValueError):
    """Something typed that is not of the shape that is asked for; says where, and shows the shape."""

    def __init__(self, what: str, do: str) -> None:
        self.what, self.do = what, do
        super().__init__(f"{what}: {do}")


def reviews(text: str) -> dict[str, str]:
    """Return label to review from paragraphs that begin with a label: `[R1] Quiet patio, kind staff.`

    Example:
        >>> reviews("[R1] Quiet patio.\\nKind staff.\\n\\nR2: Free parking.")
        {'R1': 'Quiet patio.\\nKind staff.', 'R2': 'Free parking.'}
    """
    found: dict[str, str] = {}
    label = None
    for at, line in enumerate(text.splitlines(), start=1):
        start = _REVIEW.fullmatch(line)
        if start:
            label, line = start.group(1), start.group(2)
            if label in found:
                raise Unreadable(
                    f"Line {at} of the reviews begins {label} a second time", "Give every review a label of its own."
                )
            found[label] = line
        elif line.strip():
            if label is None:
                raise Unreadable(
                    f"Line {at} of the reviews has no label",
                    "Begin every review with its label, as in: [R1] Quiet patio.",
                )
            found[label] += "\n" + line
    return found


def ids(text: str) -> list[list[str]]:
    """Return the ids of each line, separated by commas; an empty line is an empty row, blank lines at the end do not count."""
    return [_ids(line) for line in text.rstrip().splitlines()] if text.strip() else []


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def dialogues(text: str) -> list[list[dict[str, Any]]]:
    """Return dialogues, separated by a blank line, from lines `system recommend: a, b` and `user reject_and_refine: a`."""
    found: list[list[dict[str, Any]]] = [[]]
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            if found[-1]:
                found.append([])
            continue
        turn = _TURN.match(line)
        if turn is None:
            raise Unreadable(
                f"Line {at} of the dialogue cannot be read",
                "Write who, what and which places, as in: system recommend: elm, oak",
            )
        role, action, places = turn.group(1), turn.group(2), _ids(turn.group(3) or "")
        key = "rejected_poi_ids" if role == "user" else "poi_ids"
        found[-1].append({"role": role, "action": action, "poi_ids": [], "rejected_poi_ids": [], key: places})
    return [turns for turns in found if turns]


def places(text: str) -> list[list[dict[str, Any]]]:
    """Return dialogues of places, separated by a blank line, from lines `name, latitude, longitude`."""
    found: list[list[dict[str, Any]]] = [[]]
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            if found[-1]:
                found.append([])
            continue
        name, *numbers = [part.strip() for part in line.rsplit(",", 2)]
        if len(numbers) != 2 or not name:
            raise Unreadable(
                f"Line {at} of the places cannot be read",
                "Write a name and two numbers, as in: Elm Cafe, 39.9526, -75.1652",
            )
        latitude, longitude = (_degree(part, at) for part in numbers)
        found[-1].append({"business_id": name, "latitude": latitude, "longitude": longitude})
    return [rows for rows in found if rows]


def prices(text: str) -> list[Any]:
    """Return price levels from `$, $$, 3, ?`; a question mark is unknown."""
    return (
        [None if part.strip() in ("?", "", "-") else part.strip() for part in text.split(",")] if text.strip() else []
    )


def rows(text: str) -> dict[str, Any]:
    """Return what is passed to `compute`, from JSON."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Unreadable(
            "This is not JSON" + _where(error), 'Write an object: {"predictions": […], "references": […]}'
        ) from error
    except RecursionError as error:
        raise Unreadable("This JSON is nested too deeply", "Write one list of rows.") from error
    if not isinstance(value, dict) or "predictions" not in value:
        raise Unreadable("This JSON has no predictions", 'Write an object: {"predictions": […], "references": […]}')
    return value


def _ids(line: str) -> list[str]:
    return [part.strip() for part in line.split(",") if part.strip()]


def _degree(part: str, line: int) -> float | None:
    if part in ("?", "", "None"):
        return None
    try:
        return float(part)
    except ValueError:
        raise Unreadable(
            f"Line {line} of the places has a coordinate that is no number",
            "Write degrees, as in 39.95, or ? where unknown.",
        ) from None


def _where(error: ValueError) -> str:
    at = getattr(error, "lineno", None)
    return f" (line {at}, column {error.colno})" if at and hasattr(error, "colno") else ""
