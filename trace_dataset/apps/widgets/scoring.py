"""The scoring functions that came with a metric: flat siblings in a Space, `trace_dataset.scoring` in a checkout.

A page marks what the metric measures with the metric's own functions, so that marks and numbers agree. They are found
through the loaded metric itself, since only it knows where its siblings are.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class Scoring:
    """The scoring modules of a package, by name: `scoring.text.quote_spans(…)`; false where there is no package.

    Raises `AttributeError` for a module that the package does not have.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    @classmethod
    def beside(cls, metric: Any) -> Scoring:
        """Return the modules that a loaded metric came with."""
        home = sys.modules[type(metric).__module__]
        return cls(getattr(getattr(home, "signature", None), "__module__", "").rpartition(".")[0])

    def __bool__(self) -> bool:
        return self._package != ""

    def has(self, name: str) -> bool:
        """Return whether the package has a module."""
        return getattr(self, name, None) is not None

    def __getattr__(self, name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return importlib.import_module(f"{self._package}.{name}")
        except ImportError as error:
            raise AttributeError(f"{self._package} has no {name}") from error
