"""The one place that touches private parts of `datasets` and `evaluate`.

`import trace_dataset` calls `register`. Nothing is imported for it: each name is registered when, and only when, somebody
imports the library in question (`evaluate` alone costs seconds where torch is installed). What is replaced:

* `datasets.load.PackagedDatasetModuleFactory`, for the name `trace` only. The library's own factory searches the current
  directory for data files when it is given none, which takes minutes in `/` and fails in an empty folder; and
  `datasets.load.dataset_module_factory`, which would drop a `revision` of a release.
* `evaluate.loading.evaluation_module_factory`, for `trace/<metric>` without a revision, and for `metrics/<metric>` where no
  such folder stands in the current directory.

Both are guarded: where a library no longer has the part, the literal name is lost with a warning that names the public
call which does the same (`trace_dataset.load_dataset`, `trace_dataset.load_metric`), and nothing else.
"""

from __future__ import annotations

import os
import warnings
from types import ModuleType
from typing import Any

import wrapt

from hydrate.errors import UsageError
from trace_dataset.installed import code_digest, hub_path

TESTED = {"datasets": ("4.8.5", "5.2.0"), "evaluate": ("0.4.6",)}
MODULE = "trace_dataset.builder"


def register() -> None:
    """Arrange that `load_dataset("trace")` and `evaluate.load("trace/<metric>")` find this package; idempotent."""
    wrapt.register_post_import_hook(_register_dataset, "datasets.load")
    wrapt.register_post_import_hook(_register_metrics, "evaluate.loading")


def _register_dataset(load: ModuleType) -> None:
    parent = getattr(load, "PackagedDatasetModuleFactory", None)
    names = getattr(load, "_PACKAGED_DATASETS_MODULES", None)
    if (
        parent is None
        or names is None
        or not hasattr(load, "DatasetModule")
        or not hasattr(load, "dataset_module_factory")
    ):
        _warn("datasets", 'load_dataset("trace")', "trace_dataset.load_dataset")
        return
    if "trace" in names:
        return

    class TraceAwareFactory(parent):  # type: ignore[misc, valid-type]
        """Serve `trace` from this package; leave every other name to the library."""

        def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
            if name != "trace":
                super().__init__(name, *args, **kwargs)
                return
            self.name, self.data_files, self.data_dir = name, kwargs.get("data_files"), kwargs.get("data_dir")

        def get_module(self) -> Any:
            if self.name != "trace":
                return super().get_module()
            from datasets.data_files import DataFilesDict

            if self.data_files is not None or self.data_dir is not None:
                raise UsageError(
                    'load_dataset("trace") takes no data_files or data_dir',
                    do="name the bundle with yelp_path=…, or a release folder with release=…",
                )
            # an empty DataFilesDict, since None makes the library look for builder configs it does not have
            return load.DatasetModule(MODULE, code_digest(), {"data_files": DataFilesDict(), "dataset_name": "trace"})

    original = load.dataset_module_factory

    def factory(path: str, *args: Any, **kwargs: Any) -> Any:
        module = original(path, *args, **kwargs)
        if path == "trace" and kwargs.get("revision") is not None:  # the library would drop it for a packaged builder
            module.builder_kwargs["revision"] = str(kwargs["revision"])
        return module

    load.dataset_module_factory = factory  # type: ignore[attr-defined]
    load.PackagedDatasetModuleFactory = TraceAwareFactory  # type: ignore[attr-defined]
    names["trace"] = (MODULE, code_digest())


def _register_metrics(loading: ModuleType) -> None:
    original = getattr(loading, "evaluation_module_factory", None)
    if original is None:
        _warn("evaluate", 'evaluate.load("trace/…")', "trace_dataset.load_metric")
        return
    if getattr(original, "serves_trace", False):
        return

    def factory(path: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("revision") is None and isinstance(path, str):
            path = _installed_metric(path) or path
        return original(path, *args, **kwargs)

    factory.serves_trace = True  # type: ignore[attr-defined]
    loading.evaluation_module_factory = factory  # type: ignore[attr-defined]


def _installed_metric(path: str) -> str | None:
    owner, _, name = path.rstrip("/").partition("/")
    if owner == "trace" and name and "/" not in name:
        return str(hub_path("metrics", name))
    if owner == "metrics" and name and "/" not in name and not os.path.isfile(os.path.join(path, f"{name}.py")):
        return str(hub_path("metrics", name))
    return None


def _warn(library: str, call: str, instead: str) -> None:
    from importlib.metadata import version

    warnings.warn(
        f"{library} {version(library)} has changed inside, so {call} is not registered (tested with "
        f"{', '.join(TESTED[library])}); use {instead}(…), which needs none of it.",
        RuntimeWarning,
        stacklevel=2,
    )
