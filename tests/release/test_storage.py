"""A full or read-only disk ends in one error that says where, and leaves nothing that is taken for a whole result."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from disks import fill, make_read_only, tmpfs

from hydrate import StorageError
from trace_dataset.release import build_release


def test_a_full_disk_under_the_cache(sample_bundle, tmp_path):
    with tmpfs(tmp_path / "disk", "4m") as disk:
        fill(disk, 300_000)
        with pytest.raises(StorageError, match="disk") as caught:
            datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240, cache_dir=str(disk))
        assert caught.value.do
        (disk / "filler").unlink()
        again = datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240, cache_dir=str(disk))
        assert sum(len(split) for split in again.values()) == 240


def test_a_disk_that_fills_up_while_arrow_files_are_written(sample_bundle, tmp_path):
    options = {"yelp_path": str(sample_bundle), "n_dialogues": 240}
    with tmpfs(tmp_path / "disk", "16m") as disk:
        datasets.load_dataset("trace", "pois", cache_dir=str(disk), **options)  # the local build is there now
        fill(disk, 150_000)
        with pytest.raises(StorageError, match="disk"):
            datasets.load_dataset("trace", cache_dir=str(disk), **options)
        (disk / "filler").unlink()
        again = datasets.load_dataset("trace", cache_dir=str(disk), **options)
        assert sum(len(split) for split in again.values()) == 240


def test_a_read_only_cache(sample_bundle, tmp_path):
    with tmpfs(tmp_path / "disk") as disk:
        make_read_only(disk)
        with pytest.raises(StorageError, match="disk") as caught:
            datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240, cache_dir=str(disk / "cache"))
        assert "HF_HOME" in str(caught.value)


def test_a_release_on_a_full_disk_leaves_nothing(sample_bundle, tmp_path):
    with tmpfs(tmp_path / "disk", "4m") as disk:
        fill(disk, 60_000)
        with pytest.raises(StorageError):
            build_release(sample_bundle, disk / "release", n_dialogues=240)
        assert [path.name for path in disk.iterdir()] == ["filler"]


def test_a_release_folder_in_use_is_not_overwritten(sample_bundle, tmp_path):
    keep = tmp_path / "release" / "mine.txt"
    keep.parent.mkdir()
    keep.write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        build_release(sample_bundle, Path(keep.parent), n_dialogues=240)
    assert keep.read_text() == "mine"
