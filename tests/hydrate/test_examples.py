"""The examples in the docstrings of `hydrate` are right."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import hydrate

MODULES = [module.name for module in pkgutil.iter_modules(hydrate.__path__) if module.name != "__main__"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(f"hydrate.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
