"""TRACE for Hugging Face: can a conversational recommender be trusted?

Importing this package registers two names, and loads nothing else: `datasets.load_dataset("trace", yelp_path=…)` and
`evaluate.load("trace/<metric>")` work from then on.
"""

from __future__ import annotations

import importlib
from typing import Any

from hydrate.errors import (
    BundleError,
    HydrationError,
    LicensedTextError,
    StorageError,
    TraceError,
    UsageError,
)
from trace_dataset.registration import register

_WHERE = {
    "load_dataset": "trace_dataset.builder",
    "build_release": "trace_dataset.release",
    "open_benchmark": "trace_dataset.release",
    "Source": "trace_dataset.release",
    "load_baseline": "trace_dataset.baseline",
    "Baseline": "trace_dataset.baseline",
    "TurnContext": "trace_dataset.turns",
    "Response": "trace_dataset.turns",
    "evaluate_baseline": "trace_dataset.evaluation",
    "load_metric": "trace_dataset.evaluation",
    "push_metric": "trace_dataset.hub",
    "push_baseline": "trace_dataset.hub",
    "push_release": "trace_dataset.hub",
    "push_leaderboard": "trace_dataset.hub",
    "verify_submission": "trace_dataset.hub",
    "HubError": "trace_dataset.remote",
    "write_sample": "trace_dataset.sample",
}

__all__ = [
    "BundleError",
    "HydrationError",
    "LicensedTextError",
    "StorageError",
    "TraceError",
    "UsageError",
    "__version__",
    *_WHERE,
]

register()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("trace-dataset")
        except PackageNotFoundError:  # run from a checkout that was never installed
            return "uninstalled"
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'trace_dataset' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
