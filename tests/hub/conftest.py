"""A running stand-in, and processes of their own for the one who pushes and the one who loads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .standin import Hub
from .standin.server import Token

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "hf_" + "PusherSecret" * 3  # joined here, so that this file holds nothing that looks like a token
READER = "hf_" + "ReaderSecret" * 3


@dataclass(frozen=True)
class Person:
    """Somebody with a cache and, perhaps, a token of their own; what they do runs in a process of its own."""

    hub: Hub
    home: Path
    token: str | None = None
    python: str = sys.executable

    @property
    def environment(self) -> dict[str, str]:
        """The variables of their processes."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PYTHON", "TRACE_"))}
        kept |= {
            "HF_ENDPOINT": self.hub.url,
            "HF_HOME": str(self.home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        if self.token:
            kept["HF_TOKEN"] = self.token
        if self.python == sys.executable:
            kept["PYTHONPATH"] = str(ROOT)
        return kept

    def run(self, *arguments: str, cwd: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Python with arguments; a failure fails the test with what it printed."""
        self.home.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [self.python, *arguments],
            cwd=cwd or self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if check and done.returncode:
            pytest.fail(f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def python_code(self, code: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a script."""
        return self.run("-c", code, *arguments, check=check)

    def trace(self, *arguments: str, cwd: Path | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `trace-dataset`."""
        return self.run("-m", "trace_dataset.cli", *arguments, cwd=cwd, check=check)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A stand-in with two accounts: `me` may write to `me/…` and `trace/…`, `reader` may write nothing."""
    tokens = {TOKEN: Token("me", orgs=("trace", "org")), READER: Token("reader", role="read", orgs=("trace",))}
    with Hub(tmp_path / "hub", tokens) as running:
        yield running


@pytest.fixture
def pusher(hub: Hub, tmp_path: Path, cached_texts: Path) -> Person:
    """Somebody with a token, whose cache holds a benchmark with texts."""
    home = tmp_path / "pusher"
    home.mkdir()
    (home / "datasets").symlink_to(cached_texts)
    return Person(hub, home, TOKEN)


@pytest.fixture
def loader(hub: Hub, tmp_path: Path) -> Person:
    """Somebody without a token and with an empty cache."""
    return Person(hub, tmp_path / "loader")


@pytest.fixture(scope="session")
def cached_texts(tmp_path_factory: pytest.TempPathFactory, sample_bundle: Path) -> Path:
    """A cache of `datasets` in which the sample bundle's benchmark stands."""
    from trace_dataset.release.local import Source, prepare

    cache = tmp_path_factory.mktemp("cache")
    prepare(Source(yelp_path=str(sample_bundle), n_dialogues=240), cache=cache / "trace_builds")
    return cache
