"""Every test runs offline, with caches of its own, on a bundle that we wrote ourselves."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_HOME = tempfile.mkdtemp(prefix="trace-tests-")
os.environ.update(
    {
        "HF_HOME": f"{_HOME}/hf",
        "TRACE_CACHE": f"{_HOME}/cache",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
)

import pytest  # noqa: E402 - the settings above are read when libraries are imported

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
LONGEST = ("test_packaging.py", "test_readme.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests: at the end one of two workers would wait for them."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of worked cases that is handed out beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("the shared folder with the worked cases is not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def sample_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample bundle of 240 places, ten in each city and type."""
    from trace_dataset.sample import write_sample

    return write_sample(tmp_path_factory.mktemp("bundle") / "yelp", places=240)


@pytest.fixture(scope="session")
def benchmark(sample_bundle: Path):
    """The benchmark of 120 dialogues that the sample bundle gives."""
    from trace_dataset.release import Source, open_benchmark

    return open_benchmark(Source(yelp_path=str(sample_bundle), n_dialogues=240))
