"""Same arguments, same bytes; sizes; archives; what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from statistics import mean

import pytest

from hydrate.errors import StorageError, UsageError
from trace_dataset.sample import FORMS, write_sample
from trace_dataset.sample.writer import TABLES, review_count
from trace_dataset.streams import stream

ROOT = Path(__file__).resolve().parents[2]
NAMES = [f"yelp_academic_dataset_{table}.json" for table in TABLES]


def digests(folder: Path) -> dict[str, str]:
    """SHA256 of every file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_same_seed_same_bytes_in_another_process(tmp_path):
    """Neither the process nor its hash seed changes a byte."""
    write_sample(tmp_path / "here", places=48, truth=tmp_path / "here" / "truth")
    code = (
        "import sys; from trace_dataset.sample import write_sample\n"
        "write_sample(sys.argv[1], places=48, truth=sys.argv[1] + '/truth')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "12345", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "there")], check=True, env=environment, cwd=tmp_path)
    assert digests(tmp_path / "here") == digests(tmp_path / "there")


def test_another_seed_gives_another_sample(tmp_path):
    """Every table differs."""
    write_sample(tmp_path / "one", places=24)
    write_sample(tmp_path / "two", places=24, seed=43)
    one, two = digests(tmp_path / "one"), digests(tmp_path / "two")
    assert all(one[name] != two[name] for name in NAMES)


def test_a_larger_sample_holds_the_smaller_one(tmp_path):
    """Places and their reviews do not depend on how many there are."""
    small, large = tmp_path / "small", tmp_path / "large"
    write_sample(small, places=30, reviews_per_place=4)
    write_sample(large, places=260, reviews_per_place=4)
    for name in ("yelp_academic_dataset_business.json", "yelp_academic_dataset_review.json"):
        assert set((small / name).read_bytes().splitlines()) <= set((large / name).read_bytes().splitlines())


@pytest.mark.parametrize("places", [1, 24, 100])
def test_any_number_of_places(tmp_path, places):
    """Small bundles too, down to a single place."""
    seen = []
    write_sample(tmp_path, places=places, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (places, places)
    rows = (tmp_path / NAMES[0]).read_bytes().splitlines()
    assert places < len(rows) <= places + -(-places * 19 // 100)


def test_reviews_per_place():
    """At least three, at most about twice the mean, and on average what was asked for."""
    for wanted in (3, 4, 14, 40):
        counts = [review_count(wanted, stream(1, "count", number)) for number in range(3000)]
        assert min(counts) >= 3
        assert max(counts) <= max(3, 2.2 * wanted + 1)
        assert abs(mean(counts) - wanted) < 0.05 * wanted
    assert len({review_count(14, stream(1, "count", number)) for number in range(500)}) > 20


@pytest.mark.parametrize("form", [form for form in FORMS if form != "folder"])
def test_archives_hold_the_same_files_and_are_the_same_bytes(tmp_path, form):
    """Every archive holds exactly what the folder form holds, with fixed times, and is reproducible."""
    write_sample(tmp_path / "folder", places=24)
    first = write_sample(tmp_path / "first", places=24, form=form)
    again = write_sample(tmp_path / "again", places=24, form=form)
    assert first.read_bytes() == again.read_bytes()
    assert {path.name for path in first.parent.iterdir()} == {first.name, "ABOUT-THIS-SAMPLE.txt"}
    content = _content(first)
    assert content == {name: (tmp_path / "folder" / name).read_bytes() for name in NAMES}


def _content(archive: Path) -> dict[str, bytes]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as members:
            if archive.name != "Yelp-JSON.zip":
                return {name: members.read(name) for name in members.namelist()}
            assert members.read("Yelp JSON/Dataset_User_Agreement.pdf").startswith(b"%PDF")
            inner = archive.with_name("inner.tar")
            inner.write_bytes(members.read("Yelp JSON/yelp_dataset.tar"))
            return _content(inner)
    with tarfile.open(archive) as members:
        assert {member.mtime for member in members} == {1643673600}
        return {member.name: members.extractfile(member).read() for member in members}


def test_truth_is_written_only_if_asked_for(tmp_path):
    """The bundle never holds it by itself."""
    write_sample(tmp_path / "plain", places=24)
    write_sample(tmp_path / "with", places=24, truth=tmp_path / "elsewhere" / "truth.jsonl")
    assert digests(tmp_path / "plain") == digests(tmp_path / "with")
    rows = [json.loads(line) for line in (tmp_path / "elsewhere" / "truth.jsonl").read_text().splitlines()]
    assert {"review_id", "business_id", "sentences"} == set(rows[0])


def test_an_earlier_sample_is_replaced_but_nothing_else(tmp_path):
    """A file that may be somebody's copy of the real data is never overwritten."""
    write_sample(tmp_path / "mine", places=24)
    write_sample(tmp_path / "mine", places=48)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / NAMES[2]).write_text("precious\n")
    with pytest.raises(StorageError, match="not from an earlier sample"):
        write_sample(theirs, places=24)
    assert digests(theirs).keys() == {NAMES[2]}
    assert (theirs / NAMES[2]).read_text() == "precious\n"


def test_a_failed_run_leaves_nothing_half_written(tmp_path):
    """Whatever stops a run, the folder holds the earlier sample or none."""
    write_sample(tmp_path, places=24)
    before = digests(tmp_path)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_sample(tmp_path, places=48, progress=stop)
    assert digests(tmp_path) == before


@pytest.mark.parametrize("options", [{"places": 0}, {"reviews_per_place": 2}, {"form": "rar"}, {"bank": "third"}])
def test_wrong_arguments(tmp_path, options):
    """One error that names the argument and what is possible."""
    with pytest.raises(UsageError) as caught:
        write_sample(tmp_path / "never", **options)
    assert caught.value.do
    assert not (tmp_path / "never").exists()


def test_a_path_that_cannot_be_written(tmp_path):
    """A file where the folder should be is one error that says so."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="could not write the sample"):
        write_sample(tmp_path / "file", places=24)


@pytest.mark.slow
def test_memory_does_not_grow_with_size(tmp_path):
    """Ten times the places, the same memory but for the names (a few megabytes)."""
    code = (
        "import resource, sys; from trace_dataset.sample import write_sample\n"
        "write_sample(sys.argv[1], places=int(sys.argv[2]), reviews_per_place=3)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    peaks = [
        int(
            subprocess.run(
                [sys.executable, "-c", code, str(tmp_path / str(places)), str(places)],
                check=True,
                env=environment,
                capture_output=True,
                text=True,
            ).stdout
        )
        for places in (480, 4800)
    ]
    assert peaks[1] < peaks[0] + 10_000
