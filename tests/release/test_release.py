"""A release is a plain dataset repository without a word of review text, equal wherever it is built."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import datasets
import jsonschema
import orjson
import pytest

from hydrate import BundleError, HydrationError
from trace_dataset.leaks import RunFinder
from trace_dataset.release import Source, build_release, open_benchmark, open_release

OPTIONS = {"n_dialogues": 240}
TABLES = [
    "dialogues/test.parquet",
    "dialogues/train.parquet",
    "dialogues/validation.parquet",
    "pois.parquet",
    "reviews.parquet",
]


@pytest.fixture(scope="module")
def release(sample_bundle, tmp_path_factory):
    return build_release(sample_bundle, tmp_path_factory.mktemp("out") / "release", **OPTIONS)


def test_it_holds_the_designed_files_and_the_manifest_proves_them(release):
    assert sorted(release.manifest.files) == sorted(
        [*TABLES, "DATASHEET.md", "README.md", "croissant.json", "schema.json"]
    )
    release.verify()
    assert sum(release.manifest.splits.values()) == 240
    assert release.manifest.splits["train"] == pytest.approx(168, abs=12)


def test_plain_load_dataset_shows_placeholders(release):
    plain = datasets.load_dataset(str(release.folder))
    assert sorted(plain) == ["test", "train", "validation"]
    assert datasets.get_dataset_config_names(str(release.folder)) == ["dialogues", "pois", "reviews"]
    assert any("[Q:0]" in turn["text"] for turn in plain["test"][0]["turns"])


def test_no_run_of_a_review_stands_in_any_column_or_card(release, benchmark):
    finder = RunFinder(benchmark.texts)
    for name in release.manifest.files:
        path = release.folder / name
        rows = datasets.Dataset.from_parquet(str(path)).to_list() if path.suffix == ".parquet" else [path.read_text()]
        for text in _strings(rows):
            assert finder.any_run(text) is None


def test_every_row_obeys_the_published_schema(release):
    schemas = orjson.loads((release.folder / "schema.json").read_bytes())
    for config, name in (
        ("dialogues", "dialogues/test.parquet"),
        ("pois", "pois.parquet"),
        ("reviews", "reviews.parquet"),
    ):
        validator = jsonschema.Draft202012Validator(schemas[config])
        for row in datasets.Dataset.from_parquet(str(release.folder / name)).to_list()[:40]:
            validator.validate(row)


def test_building_again_gives_the_same_bytes(release, sample_bundle, tmp_path):
    again = build_release(sample_bundle, tmp_path / "again", **OPTIONS)
    assert again.manifest.content_digest == release.manifest.content_digest
    assert {name: again.manifest.files[name] for name in TABLES} == {
        name: release.manifest.files[name] for name in TABLES
    }


def test_the_order_of_lines_and_the_hash_seed_do_not_matter(release, sample_bundle, tmp_path):
    shuffled = tmp_path / "shuffled"
    shuffled.mkdir()
    for path in sample_bundle.glob("*.json"):
        lines = path.read_bytes().splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        (shuffled / path.name).write_bytes(b"".join(lines))
    code = (
        "from trace_dataset.release import build_release\n"
        f"print(build_release({str(shuffled)!r}, {str(tmp_path / 'r')!r}, n_dialogues=240).manifest.content_digest)"
    )
    environment = {**__import__("os").environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split()[-1] == release.manifest.content_digest


def test_a_release_and_a_bundle_give_back_what_the_bundle_alone_gives(release, sample_bundle, benchmark):
    again = open_benchmark(Source(yelp_path=str(sample_bundle), release=str(release.folder)))
    assert again.dialogues == benchmark.dialogues
    assert again.hydration["counts"]["verified"] == release.manifest.counts["quotes"]


def test_a_bundle_that_differs_is_told_apart_with_counts(release, sample_bundle, tmp_path):
    edited = _edited(sample_bundle, release, tmp_path)
    with pytest.raises(HydrationError, match="the release was made from bundle") as caught:
        datasets.load_dataset("trace", release=str(release.folder), yelp_path=str(edited))
    assert "changed" in str(caught.value)
    dropped = datasets.load_dataset("trace", release=str(release.folder), yelp_path=str(edited), on_mismatch="drop")
    assert 0 < sum(len(split) for split in dropped.values()) < 240
    kept = datasets.load_dataset("trace", release=str(release.folder), yelp_path=str(edited), on_mismatch="placeholder")
    assert sum(len(split) for split in kept.values()) == 240


def test_a_damaged_release_is_noticed(release, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(release.folder, copy)
    with (copy / "pois.parquet").open("r+b") as stream:
        stream.seek(40)
        stream.write(b"XX")
    (copy / "dialogues" / "test.parquet").unlink()
    with pytest.raises(BundleError, match=r"test.parquet is missing.*pois.parquet differs"):
        open_release(copy)


def _edited(bundle: Path, release: object, tmp_path: Path) -> Path:
    """Copy a bundle with one letter changed in one quoted review."""
    [first, *_] = [quote for row in release.dialogues("test") for turn in row.turns for quote in turn.quotes]
    target = tmp_path / "edited"
    target.mkdir()
    for path in bundle.glob("*.json"):
        lines = path.read_text().splitlines(keepends=True)
        if "review" in path.name:
            for index, line in enumerate(lines):
                row = orjson.loads(line)
                if row["review_id"] == first.review_id:
                    text = row["text"]
                    row["text"] = text[: first.start] + "#" + text[first.start + 1 :]
                    lines[index] = orjson.dumps(row).decode() + "\n"
        (target / path.name).write_text("".join(lines))
    return target


def _strings(value: object):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
