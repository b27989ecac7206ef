"""The examples in the docstrings of scoring and statistics run, and every public function has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import trace_dataset

HOME = Path(trace_dataset.__file__).parent
OTHERS = ["analysis.agreement", "analysis.statistics", "evaluation.bootstrap"]
MODULES = [f"trace_dataset.scoring.{path.stem}" for path in sorted((HOME / "scoring").glob("[!_]*.py"))]
MODULES += [f"trace_dataset.{name}" for name in OTHERS]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
    for public, thing in vars(module).items():
        if inspect.isfunction(thing) and thing.__module__ == name and not public.startswith("_"):
            assert thing.__doc__, f"{name}.{public}"
