"""Release folders and files in, the same out, whole or not at all; and the command line over them."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hydrate
from hydrate import BundleError, HydrationError, StorageError, UsageError, dehydrate_path, hydrate_path
from hydrate.__main__ import main
from hydrate.tables import read_rows, write_rows
from tests.disks import fill, make_read_only, tmpfs
from tests.hydrate import releases
from tests.hydrate.helpers import line, lines, review, tables, write_bundle


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return releases.write_release(tmp_path / "release")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "bundle", "zip+tgz")


def drifted(tmp_path: Path) -> Path:
    """Return a bundle in which review 2 differs in its first words, 3 is gone and 4 has another ending."""
    rows = [review(number) for number in range(50) if number != 3]
    rows[2]["text"] = "Suite" + rows[2]["text"]
    rows[3]["text"] += " The end."
    return write_bundle(
        tmp_path / "drifted", "tar", {"review": lines(map(line, rows)), "business": tables()["business"]}
    )


def test_a_release_folder_comes_out_hydrated(release: Path, bundle: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = hydrate_path(release, bundle, tmp_path / "out", progress=lambda *done: seen.append(done))
    assert report.ok
    assert report.counts["verified"] == 20
    assert report.table == {"verified": 20}
    assert seen
    out = tmp_path / "out"
    rows = [row for split in ("train", "validation", "test") for row in read_rows(out / f"dialogues/{split}.parquet")]
    assert [[turn["text"] for turn in row["turns"]] for row in rows] == [releases.hydrated_text(0)] * 20
    assert [row["text"] for row in read_rows(out / "reviews.parquet")] == [
        review(number)["text"][: releases.KEPT] for number in range(20)
    ]
    schema = pq.read_schema(out / "dialogues/train.parquet")
    assert schema.equals(pq.read_schema(release / "dialogues/train.parquet"), check_metadata=True)
    assert sorted(path.name for path in out.iterdir()) == [
        ".gitignore",
        "README.md",
        "dialogues",
        "hydration.json",
        "pois.parquet",
        "reviews.parquet",
    ]
    assert json.loads((out / "hydration.json").read_text())["ok"] is True
    assert "licensed text" in (out / "README.md").read_text()
    assert (out / "pois.parquet").read_bytes() == (release / "pois.parquet").read_bytes()


def test_a_drifted_bundle_is_one_error_and_nothing_is_written(release: Path, tmp_path: Path) -> None:
    with pytest.raises(HydrationError, match="1 of 20 quotes cannot be verified") as caught:
        hydrate_path(release, drifted(tmp_path), tmp_path / "out")
    assert "1 rows of the reviews table are missing" in str(caught.value)
    assert "the release was made from bundle ffffffffffff, yours is" in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "drifted", "release"]
    report = hydrate_path(release, drifted(tmp_path), tmp_path / "out", on_mismatch="placeholder")
    assert {status: count for status, count in report.counts.items() if count} == {
        "verified": 18,
        "moved": 1,
        "missing": 1,
    }
    assert report.table == {"verified": 18, "review_changed": 1, "missing": 1}
    texts = [row["turns"][1]["text"] for row in read_rows(tmp_path / "out/dialogues/train.parquet")]
    assert texts[2:5] == ['They say "so quiet" [R1].', 'They say "[Q:0]" [R1].', 'They say "so quiet" [R1].']
    assert [row["text"] is None for row in read_rows(tmp_path / "out/reviews.parquet")][:5] == [
        False,
        False,
        True,
        True,
        False,
    ]
    dropped = hydrate_path(release, drifted(tmp_path), tmp_path / "dropped", on_mismatch="drop")
    assert dropped.dropped == 1
    assert len(read_rows(tmp_path / "dropped/dialogues/train.parquet")) == 13


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".jsonl.gz"])
def test_a_file_of_dialogues_comes_out_in_its_own_form(suffix: str, bundle: Path, tmp_path: Path) -> None:
    source, out = tmp_path / f"in{suffix}", tmp_path / "out"
    write_rows(source, [releases.dialogue(number) for number in range(5)])
    assert hydrate_path(source, hydrate.open_bundle(bundle), out).ok
    rows = read_rows(out)
    assert [[turn["text"] for turn in row["turns"]] for row in rows] == [releases.hydrated_text(0)] * 5
    assert out.read_bytes()[:2] == source.read_bytes()[:2]
    back = tmp_path / f"back{suffix}"
    texts = {review(number)["review_id"]: review(number)["text"] for number in range(5)}
    assert hydrate.dehydrate_path(out, texts, back) == 5
    assert read_rows(back) == [releases.dialogue(number) for number in range(5)]


def test_a_reviews_table_alone(bundle: Path, tmp_path: Path) -> None:
    write_rows(tmp_path / "reviews.jsonl", [releases.review_row(number) for number in range(3)])
    assert hydrate_path(tmp_path / "reviews.jsonl", bundle, tmp_path / "out").table == {"verified": 3}
    assert read_rows(tmp_path / "out")[2]["text"] == review(2)["text"][: releases.KEPT]


def test_what_stands_there_already_is_never_overwritten(release: Path, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert hydrate_path(release, bundle, tmp_path / "empty").ok
    for target in (release, tmp_path / "empty", release / "README.md"):
        with pytest.raises(UsageError, match="exists already"):
            hydrate_path(release, bundle, target)


def test_sources_that_cannot_be_hydrated(release: Path, bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot be read"):
        hydrate_path(tmp_path / "nothing", bundle)
    with pytest.raises(BundleError, match="no release folder"):
        hydrate_path(tmp_path, bundle)
    write_rows(tmp_path / "x.jsonl", [{"id": 1, "answer": "x"}])
    with pytest.raises(UsageError, match="holds no dialogues: a record has answer, id"):
        hydrate_path(tmp_path / "x.jsonl", bundle)
    (tmp_path / "y.jsonl").write_text('{"a": 1}\nnonsense\n')
    with pytest.raises(BundleError, match="line 2: not JSON"):
        hydrate_path(tmp_path / "y.jsonl", bundle)
    (tmp_path / "z.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(BundleError, match="as parquet"):
        hydrate_path(tmp_path / "z.parquet", bundle)
    with (release / "dialogues/test.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(BundleError, match="differs from its SHA256"):
        hydrate_path(release, bundle)
    (release / "dialogues/test.parquet").unlink()
    with pytest.raises(BundleError, match=r"test\.parquet cannot be read"):
        hydrate_path(release, bundle)
    (release / "manifest.json").write_text("{")
    with pytest.raises(BundleError, match=r"manifest\.json is not JSON"):
        hydrate_path(release, bundle)


def test_a_disk_that_refuses_is_one_error_and_leaves_nothing(
    release: Path, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot be written"):
        hydrate_path(release, bundle, tmp_path / "file/out")
    monkeypatch.setattr("hydrate.paths.write_rows", full)
    with pytest.raises(StorageError, match="No space left on device"):
        hydrate_path(release, bundle, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "file", "release"]


def test_a_full_disk(
    release: Path,
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tmpfs(tmp_path / "small") as small:
        fill(small, 30_000)
        before = sorted(path.name for path in small.iterdir())
        with pytest.raises(StorageError, match="No space left on device"):
            hydrate_path(release, bundle, small / "out")
        assert sorted(path.name for path in small.iterdir()) == before
        monkeypatch.setenv("TRACE_CACHE", str(small / "cache"))
        fill(small, 0)
        assert hydrate.open_bundle(bundle).fingerprint().tables["review"].rows == 50
        for name in ("train", "validation"):
            with pytest.raises(StorageError, match="No space left on device"):
                hydrate_path(release / f"dialogues/{name}.parquet", bundle, small / "out.parquet")
        write_rows(tmp_path / "notes.jsonl", [{"id": 1, "note": "x" * 10_000}])
        with pytest.raises(StorageError, match="No space left on device"):
            dehydrate_path(tmp_path / "notes.jsonl", {"a": "b"}, small / "out.jsonl", fields="note")
        assert main([str(release), "--bundle", str(bundle), "--check", "--report", str(small / "r.json")]) == 1
        assert "No space left on device" in capsys.readouterr().err
        assert [path.name for path in small.iterdir() if path.name.startswith(("out", ".out", "r."))] == []
        (small / "filler").unlink()
        assert hydrate_path(release, bundle, small / "out").ok
        make_read_only(small)
        with pytest.raises(StorageError, match="Read-only file system"):
            hydrate_path(release, bundle, small / "other")


def test_the_command_line(release: Path, bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(release), "--bundle", str(bundle)]
    assert main([*arguments, "--check"]) == 0
    assert "verified                20" in capsys.readouterr().out
    assert main([*arguments, "--out", str(tmp_path / "out"), "--json", "--report", str(tmp_path / "r.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "r.json").read_text())
    assert printed["counts"]["verified"] == 20
    bad = [str(release), "--bundle", str(drifted(tmp_path))]
    assert main([*bad, "--check"]) == 1
    assert "missing: dialogue d003 turn 1 [Q:0]" in capsys.readouterr().out
    assert main([*bad, "--out", str(tmp_path / "bad")]) == 1
    assert "error: 1 of 20 quotes" in capsys.readouterr().err
    assert main([*bad, "--out", str(tmp_path / "bad"), "--on-mismatch", "drop", "--quiet"]) == 1
    assert (tmp_path / "bad").exists()
    assert main(arguments) == 2
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert main([str(release), "--bundle", str(tmp_path / "none"), "--check"]) == 1
    with pytest.raises(SystemExit) as caught:
        main(["--bundle", "x"])
    assert caught.value.code == 2


def test_the_command_line_for_other_corpora(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poem = "The brown fog rolls over the harbour walls before the ferries wake and call."
    write_rows(tmp_path / "poems.jsonl", [{"id": "p1", "text": poem}])
    rows = [{"id": 1, "answer": f"It reads: {poem} So it goes."}]
    write_rows(tmp_path / "answers.jsonl", rows)
    options = ["--texts", str(tmp_path / "poems.jsonl"), "--fields", "answer"]
    assert main([str(tmp_path / "answers.jsonl"), *options, "--dehydrate", "--out", str(tmp_path / "safe.jsonl")]) == 0
    assert "fog" not in (tmp_path / "safe.jsonl").read_text()
    assert main([str(tmp_path / "safe.jsonl"), *options, "--out", str(tmp_path / "back.jsonl")]) == 0
    assert read_rows(tmp_path / "back.jsonl")[0]["answer"] == rows[0]["answer"]
    assert main([str(tmp_path / "answers.jsonl"), "--bundle", "x", "--dehydrate", "--out", "y"]) == 2
    assert (
        main([str(tmp_path / "safe.jsonl"), "--texts", str(tmp_path / "safe.jsonl"), "--fields", "answer", "--check"])
        == 2
    )


def test_progress_shows_bytes_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hydrate.progress import ProgressLine

    clock = iter([7.0, 7.5, 9.0, 10.0, 27.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with contextlib.closing(ProgressLine("finding reviews")) as progress:
        for done in (0, 1, 2, 3, 4):
            progress(done * 10**9, 5 * 10**9)
    assert capsys.readouterr().err.splitlines() == [
        "finding reviews: 2.00 of 5.00 GB, 40 %, 1,000 MB/s, 3 s left",
        "finding reviews: 4.00 of 5.00 GB, 80 %, 200 MB/s, 5 s left",
    ]
