"""The guard finds a planted run in every column of every table, and says where without saying the words."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hydrate.errors import BundleError, LicensedTextError
from trace_dataset.cli import main
from trace_dataset.leaks import RunFinder
from trace_dataset.release import build_release
from trace_dataset.release.leak_check import find_leaks, refuse_leaks

PLANTED = "we Sat by the river; for two hours -- and nobody rushed us"
FINDER = RunFinder(
    {"r1": "We sat by the river for two hours and nobody rushed us, which is rare.", "r2": "Too short to matter."}
)


@pytest.fixture(scope="module")
def release(sample_bundle, tmp_path_factory):
    return build_release(sample_bundle, tmp_path_factory.mktemp("leaks") / "release", n_dialogues=240).folder


def paths(value, prefix=()):
    """Yield the path of every string in a nested row."""
    if isinstance(value, str):
        yield prefix
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*prefix, key))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*prefix, 0))


def plant(row, path):
    *way, last = path
    for step in way:
        row = row[step]
    row[last] = f"well, {PLANTED} indeed"


@pytest.mark.parametrize("name", ["dialogues/test.parquet", "pois.parquet", "reviews.parquet"])
def test_a_planted_run_is_found_in_every_column(release, tmp_path, name):
    table = pq.read_table(release / name)
    rows = table.to_pylist()
    columns = sorted({path for row in rows[:20] for path in paths(row)}, key=str)
    assert len(columns) >= 3
    for path in columns:
        where = next(index for index, row in enumerate(rows[:20]) if path in set(paths(row)))
        changed = table.slice(0, 20).to_pylist()
        plant(changed[where], path)
        target = tmp_path / "folder" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), target)
        [leak] = find_leaks(tmp_path / "folder", FINDER)
        assert (leak.file, leak.row, leak.review_id) == (name, where, "r1")
        assert "rushed" not in str(leak)


@pytest.mark.parametrize("name", ["README.md", "notes.txt", "manifest.json", "rows.jsonl"])
def test_a_planted_run_is_found_in_every_kind_of_file(tmp_path, name):
    text = (
        f'{{"a": ["{PLANTED}"]}}'
        if "json" in name
        else f"# Card\n\nHere: {PLANTED.replace('river', chr(10) + 'river')}\n"
    )
    (tmp_path / name).write_text(text)
    assert [leak.file for leak in find_leaks(tmp_path, FINDER)] == [name]


@pytest.mark.parametrize("text", ['They say "nobody rushes us" there.', "They say “by the river for 2 hours”."])
def test_a_short_or_altered_quote_is_found_too(tmp_path, text):
    (tmp_path / "x.md").write_text(text)
    assert find_leaks(tmp_path, FINDER)


def test_a_file_that_cannot_be_read_is_not_cleared(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BundleError, match="cannot be cleared"):
        find_leaks(tmp_path, FINDER)


def test_a_refusal_counts_and_names_places(tmp_path):
    (tmp_path / "x.md").write_text(PLANTED)
    with pytest.raises(LicensedTextError, match=r"1 places.*x\.md"):
        refuse_leaks(find_leaks(tmp_path, FINDER))


def test_a_release_is_clean_and_a_hydrated_one_is_not(release, sample_bundle, tmp_path, capsys):
    assert main(["check-leaks", str(release), "--yelp", str(sample_bundle)]) == 0
    assert "no text of" in capsys.readouterr().out
    copy = tmp_path / "copy"
    shutil.copytree(release, copy)
    import hydrate

    rows = pq.read_table(copy / "dialogues" / "test.parquet").to_pylist()
    filled, _ = hydrate.hydrate(rows, hydrate.open_bundle(sample_bundle))
    schema = pq.read_schema(copy / "dialogues" / "test.parquet")
    pq.write_table(pa.Table.from_pylist(filled, schema=schema), copy / "dialogues" / "test.parquet")
    assert main(["check-leaks", str(copy), "--yelp", str(sample_bundle)]) == 1
    assert "LicensedTextError" in capsys.readouterr().err
