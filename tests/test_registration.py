"""Names are registered when a library is imported, and a changed library fails loudly here before a user sees it."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from hydrate import UsageError
from trace_dataset import registration
from trace_dataset.installed import hub_names, hub_path


def _python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**__import__("os").environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_neither_library():
    heavy = ("datasets", "evaluate", "torch", "pyarrow", "numpy")
    code = f"import sys, trace_dataset; print([name for name in {heavy} if name in sys.modules])"
    assert _python(code) == "[]"


@pytest.mark.parametrize(
    "order",
    [
        "import trace_dataset, datasets",
        "import datasets, trace_dataset",
        "from datasets import load_dataset\nimport datasets, trace_dataset",
    ],
)
def test_either_order_of_imports_registers_the_name(order):
    assert _python(f"{order}\nfrom datasets.load import _PACKAGED_DATASETS_MODULES as m\nprint('trace' in m)") == "True"


def test_the_parts_of_datasets_that_we_replace_are_still_what_they_were():
    import datasets.load as load

    assert load.PackagedDatasetModuleFactory.__name__ == "TraceAwareFactory"
    assert {"name", "data_files", "data_dir"} <= set(_parameters(load.PackagedDatasetModuleFactory.__mro__[1].__init__))
    assert list(_parameters(load.DatasetModule.__init__))[1:4] == ["module_path", "hash", "builder_kwargs"]


def test_the_part_of_evaluate_that_we_replace_is_still_what_it_was():
    import evaluate.loading as loading

    assert loading.evaluation_module_factory.serves_trace
    assert "evaluation_module_factory(" in __import__("inspect").getsource(loading.load)


def test_a_library_that_changed_inside_costs_the_name_only():
    with pytest.warns(RuntimeWarning, match="trace_dataset.load_dataset"):
        registration._register_dataset(types.ModuleType("datasets.load"))
    with pytest.warns(RuntimeWarning, match="trace_dataset.load_metric"):
        registration._register_metrics(types.ModuleType("evaluate.loading"))


def test_an_unknown_metric_lists_those_there_are():
    import evaluate

    for name in ("trace/cgsx", "metrics/cgsx"):
        with pytest.raises(UsageError, match="cgs"):
            evaluate.load(name)


def test_metric_names_are_served_from_anywhere(tmp_path, monkeypatch):
    import evaluate

    monkeypatch.chdir(tmp_path)
    (tmp_path / "metrics" / "cgs").mkdir(parents=True)  # an empty folder of that name hides nothing
    assert evaluate.load("trace/cgs").name == "cgs"
    assert evaluate.load("metrics/cgs").name == "cgs"


def test_collections_are_listed_from_the_tree():
    assert {"popularity", "tfidf"} <= set(hub_names("baselines"))
    assert hub_path("metrics", "cgs").joinpath("cgs.py").is_file()


def _parameters(function: object) -> dict[str, object]:
    import inspect

    return dict(inspect.signature(function).parameters)  # type: ignore[arg-type]
