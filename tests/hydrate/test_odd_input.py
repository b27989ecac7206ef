"""Records, files and options that are not what they should be: one clear error, never a traceback and never `verified`."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hydrate
from hydrate import BundleError, HydrationError, TraceError, UsageError, hydrate_path
from hydrate.__main__ import main
from hydrate.tables import read_rows, write_rows
from tests.hydrate import releases
from tests.hydrate.helpers import write_bundle

POEM = "The brown fog rolls over the harbour walls before the ferries wake and call."
TEXTS = {"p1": POEM}
SPAN = {"field": "answer", "n": 0, "text_id": "p1", "start": 4, "end": 13, "sha256": hydrate.span_sha256(POEM[4:13])}
ODD: list[Any] = [
    *(None, 0, -1, 2**70, 1.5, "", "0", True, [], {}, [1], {"a": 1}, [None], "[Q:1]", "\\", "\ud800", "0" * 64)
]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "bundle", "folder")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything inside a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(row: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return a record in which one thing is gone, or is something else."""
    row = copy.deepcopy(row)
    *way, last = draw.choice(list(places(row)))
    inside: Any = row
    for key in way:
        inside = inside[key]
    if draw.random() < 0.2:
        del inside[last]
    else:
        inside[last] = copy.deepcopy(draw.choice(ODD))
    return row


def refused_or_done(action: Callable[[], Any]) -> bool:
    """Run something that may only raise an error of ours; return whether it did."""
    try:
        action()
    except TraceError:
        return True
    return False


def test_whatever_stands_in_a_record_the_error_is_ours(bundle: Path, tmp_path: Path) -> None:
    opened = hydrate.open_bundle(bundle)
    texts = {record.review_id: record.text for record in opened.reviews()}
    flat = {"id": 1, "answer": 'It reads "[Q:0]".', "quotes": [SPAN]}
    refused = 0
    for seed in range(250):
        draw = random.Random(seed)
        rows = [releases.dialogue(0), changed(releases.dialogue(1), draw)]
        (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
        flats, reviews = [flat, changed(flat, draw)], [changed(releases.review_row(1), draw), releases.review_row(2)]
        (tmp_path / "reviews.jsonl").write_text("\n".join(map(json.dumps, reviews)))
        refused += refused_or_done(lambda rows=rows: hydrate.hydrate(rows, texts, "placeholder"))
        refused_or_done(lambda rows=rows: hydrate.dehydrate(rows, texts))
        refused_or_done(lambda flats=flats: hydrate.hydrate(flats, TEXTS, fields="answer"))
        refused_or_done(lambda flats=flats: hydrate.dehydrate(flats, TEXTS, fields="answer"))
        for name in ("rows", "reviews"):
            out = tmp_path / f"{name}-{seed}.jsonl"
            refused_or_done(lambda name=name, out=out: hydrate_path(tmp_path / f"{name}.jsonl", opened, out))
    assert 50 < refused < 250


def test_a_field_that_no_record_has_is_not_taken_for_text_without_quotes() -> None:
    rows = [{"id": 1, "answer": '"[Q:0]"', "quotes": [SPAN]}, {"id": 2, "other": "none"}]
    with pytest.raises(UsageError, match="no record has a field 'answr'; the first has id, answer, quotes"):
        hydrate.hydrate(rows, TEXTS, fields=["answer", "answr"])
    with pytest.raises(UsageError, match="no record has a field 'text'"):
        hydrate.dehydrate(rows, TEXTS, fields="text")
    with pytest.raises(HydrationError, match="record 1: a quote belongs to field 'answer', which was not named"):
        hydrate.hydrate(rows, TEXTS, fields="other")
    with pytest.raises(HydrationError, match="holds no text"):
        hydrate.hydrate([{**rows[0], "answer": None}, rows[0]], TEXTS, fields="answer")
    with pytest.raises(HydrationError, match="turns is missing"):
        hydrate.dehydrate(rows, TEXTS)


def test_arguments_of_the_wrong_kind(bundle: Path) -> None:
    for path in (None, 5, "", "a\0b", "\ud800", "~nobody-of-this-name/x"):
        with pytest.raises(UsageError, match="is no path"):
            hydrate.open_bundle(path)  # type: ignore[arg-type]
    opened = hydrate.open_bundle(bundle)
    with pytest.raises(UsageError, match="one id was given"):
        list(opened.reviews(review_ids="MlOW6CfpRM-7Ni-nS9N7_H"))
    with pytest.raises(UsageError, match="an id is of type int"):
        list(opened.review_keys([7]))  # type: ignore[list-item]
    with pytest.raises(UsageError, match="source of texts is of type str"):
        hydrate.hydrate([], str(bundle))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no field was named"):
        hydrate.hydrate([{"a": "x"}], {}, fields=[])


def test_nothing_does_not_pass_for_verified(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    with pytest.raises(BundleError, match=r"empty\.jsonl holds no records"):
        hydrate_path(tmp_path / "empty.jsonl", bundle)
    with pytest.raises(BundleError, match=r"empty\.jsonl holds no texts"):
        hydrate.read_texts(tmp_path / "empty.jsonl")


def test_a_release_is_not_hydrated_twice_nor_into_itself(bundle: Path, tmp_path: Path) -> None:
    release = releases.write_release(tmp_path / "release")
    with pytest.raises(UsageError, match="lies inside the release"):
        hydrate_path(release, bundle, release / "sub" / "out")
    hydrate_path(release, bundle, tmp_path / "out")
    with pytest.raises(UsageError, match="is hydrated already"):
        hydrate_path(tmp_path / "out", bundle)


def test_a_pipe_in_the_place_of_a_table_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "review.json")
    with pytest.raises(BundleError, match=r"review\.json is a pipe or a device"):
        hydrate.open_bundle(tmp_path)


def test_a_manifest_that_is_none(bundle: Path, tmp_path: Path) -> None:
    release = releases.write_release(tmp_path / "release")
    for content in ("[1]", '{"files": [1], "bundle_fingerprint": 7}', '{"files": null}'):
        (release / "manifest.json").write_text(content)
        assert hydrate_path(release, bundle).ok


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--bundle", "", "--check"], "'' is no path"),
        (["--bundle", "~nobody-of-this-name/x", "--check"], "is no path"),
        (["--texts", "poems.jsonl", "--fields", "answr", "--check"], "no record has a field 'answr'"),
        (["--texts", "poems.jsonl", "--fields", "", "--check"], "no record has a field ''"),
        (["--texts", "poems.jsonl", "--fields", "answer", "--dehydrate", "--out", "x", "--check"], "has no --check"),
        (["--texts", "poems.jsonl", "--check", "--fields", "answer", "--report", "poems.jsonl"], "that is read"),
        (["--texts", "poems.jsonl", "--check", "--fields", "answer", "--report", "."], "is a folder"),
        (["--texts", "poems.jsonl", "--check", "--fields", "answer", "--report", "poems.jsonl/x"], "cannot be written"),
    ],
)
def test_options_that_cannot_be_meant(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "poems.jsonl", [{"id": "p1", "text": POEM}])
    write_rows(tmp_path / "answers.jsonl", [{"id": 1, "answer": '"[Q:0]"', "quotes": [SPAN]}])
    assert main(["answers.jsonl", *arguments]) == (1 if message == "cannot be written" else 2)
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "poems.jsonl"]
    assert main(["answers.jsonl", "--texts", "poems.jsonl", "--fields", " answer", "--out", "new/a.jsonl"]) == 0
    assert read_rows(tmp_path / "new/a.jsonl")[0]["answer"] == '"brown fog"'
