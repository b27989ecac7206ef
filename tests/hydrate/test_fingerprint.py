"""A bundle's fingerprint is computed once, remembered, and never believed when in doubt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hydrate
from tests.hydrate.helpers import tables, write_bundle

ROOT = Path(__file__).parents[2]


def test_a_fingerprint_is_computed_once_and_again_when_anything_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_bundle(tmp_path / "bundle", "tgz")
    first = hydrate.open_bundle(path).fingerprint()
    with monkeypatch.context() as patched:
        patched.setattr(hydrate.fingerprint.TableInfo, "of", None)
        assert hydrate.open_bundle(path).fingerprint() == first
    memory = next((tmp_path / "cache").rglob("*.json"))
    for damage in (
        b"",
        b"{}",
        memory.read_bytes()[:-9],
        memory.read_bytes().replace(b'"review": [50', b'"review": [51'),
        b"[1, 2]",
        b"\xff\xfe",
    ):
        memory.write_bytes(damage)
        assert hydrate.open_bundle(path).fingerprint() == first
        assert len(memory.read_bytes()) > 200
    write_bundle(tmp_path / "bundle", "tgz", tables(51))
    assert hydrate.open_bundle(path).fingerprint().tables["review"].rows == 51


def test_a_cache_that_cannot_be_written_does_not_stop_a_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_bundle(tmp_path / "bundle", "folder")
    monkeypatch.setenv("TRACE_CACHE", "/dev/null/cache")
    assert hydrate.open_bundle(path).fingerprint().tables["review"].rows == 50


def test_two_processes_on_one_cache(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "bundle", "zip+tgz", tables(2000))
    program = "import sys, hydrate; print(hydrate.open_bundle(sys.argv[1]).fingerprint().digest)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, env=environment)
        for _ in range(3)
    ]
    digests = {run.communicate(timeout=60)[0] for run in runs}
    assert digests == {f"{hydrate.open_bundle(path).fingerprint().digest}\n".encode()}
    assert len(list((tmp_path / "cache/fingerprints").iterdir())) == 1


def test_row_counts_are_compared_with_the_known_release() -> None:
    def counted(**rows: int) -> hydrate.Fingerprint:
        return hydrate.Fingerprint("x", {table: hydrate.TableInfo(count, 1, "") for table, count in rows.items()})

    assert counted(business=7, review=50).remark == ""
    assert counted(business=150_346, review=6_990_280, photo=3).remark.endswith("current release")
    assert "review has 5 rows instead of 6,990,280" in counted(business=150_346, review=5).remark
