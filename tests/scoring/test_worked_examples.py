"""Every worked case, to 1e-6. The expected values come from an independent implementation outside this project."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import worked_examples

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "worked_examples.json"


def _cases() -> list[dict[str, Any]]:
    if not CASES.is_file():
        return []
    return json.loads(CASES.read_text(encoding="utf-8"))["cases"]


def agrees(found: Any, wanted: Any) -> bool:
    """Return whether a value equals the expected one, numbers within 1e-6, inside lists and dictionaries too."""
    if isinstance(wanted, bool) or wanted is None or isinstance(wanted, str):
        return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)
    if isinstance(wanted, (int, float)):
        return isinstance(found, (int, float)) and math.isclose(found, wanted, rel_tol=0, abs_tol=1e-6)
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(agrees(found[key], value) for key, value in wanted.items())
    return len(found) == len(wanted) and all(map(agrees, found, wanted))


@pytest.mark.skipif(not CASES.is_file(), reason="the worked cases are not beside this checkout")
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_worked_case(case: dict[str, Any]) -> None:
    if case["metric"] in worked_examples.PENDING:
        with pytest.raises(KeyError):
            worked_examples.answer(case)
        pytest.skip(f"{case['metric']} is pending")
    found = worked_examples.answer(case)
    if case["id"] in worked_examples.VOID:
        assert not agrees(found, case["expected"]), worked_examples.VOID[case["id"]]
        return
    assert agrees(found, case["expected"]), (case["note"], found, case["expected"])


@pytest.mark.skipif(not CASES.is_file(), reason="the worked cases are not beside this checkout")
def test_every_metric_is_built_or_pending() -> None:
    named = {case["metric"] for case in _cases()}
    assert named == set(worked_examples.PENDING) | set(worked_examples.FUNCTIONS)
    assert not set(worked_examples.PENDING) & set(worked_examples.FUNCTIONS)
