"""One sample bundle with its truth file, written once for all tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from trace_dataset.sample import write_sample


class Sample(NamedTuple):
    """A written bundle, parsed."""

    folder: Path
    business: list[dict[str, Any]]
    review: list[dict[str, Any]]
    truth: list[dict[str, Any]]

    def lines(self, table: str) -> list[bytes]:
        """The raw lines of a table, without their newlines."""
        return (self.folder / f"yelp_academic_dataset_{table}.json").read_bytes().splitlines()


def read(path: Path) -> list[dict[str, Any]]:
    """Parse a JSON-lines file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write(folder: Path, **options: Any) -> Sample:
    """Write a sample and parse it."""
    write_sample(folder, truth=folder / "truth.jsonl", **options)
    tables = [read(folder / f"yelp_academic_dataset_{table}.json") for table in ("business", "review")]
    return Sample(folder, *tables, read(folder / "truth.jsonl"))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The default sample: 240 places."""
    return write(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """A sample of 960 places, for shares that need numbers."""
    return write(tmp_path_factory.mktemp("large"), places=960, seed=7)


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The default sample in the words of the second bank."""
    return write(tmp_path_factory.mktemp("second"), bank="second")
