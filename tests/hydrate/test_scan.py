"""The scan finds what a plain loop over `json` finds, whatever the lines look like."""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hydrate
from hydrate import scanner
from hydrate.scan import scan_range
from hydrate.scanner import Scanner, Search, pack, scan_chunk, unpack
from hydrate.streams import FileRange
from tests.hydrate.helpers import ALPHABET, identifier, line, lines, review

ODD = (
    "spaces",
    "other order",
    "crlf",
    "blank",
    "escaped id",
    "quote in id",
    "short id",
    "long id",
    "key first",
    "indented",
    "id is null",
    "id is a number",
    "no id",
    "no place",
    "escaped key",
    "backslash ends id",
    "nested",
    "not an object",
)
FINDERS = {"numpy": scanner._proven_by_numpy, "slices": scanner._proven_by_slices}


def odd_line(kind: str, row: dict[str, Any], draw: random.Random) -> str:
    """Return a review line that does not look like Yelp's."""
    plain = line(row, ensure_ascii=draw.random() < 0.5)
    key, place = row["review_id"], row["business_id"]
    if kind == "spaces":
        return json.dumps(row)
    if kind == "other order":
        return line(dict(draw.sample(list(row.items()), len(row))))
    if kind == "escaped id":
        return plain.replace(key, f"\\u{ord(key[0]):04x}{key[1:]}").replace(place, f"\\u{ord(place[0]):04x}{place[1:]}")
    if kind == "quote in id":
        return plain.replace(f'"{key}"', '"abc","x":"defghijkl"')
    if kind == "escaped key":
        return plain.replace('"review_id"', '"review\\u005fid"').replace('"business_id"', '"business\\u005fid"')
    if kind == "backslash ends id":
        return line({**row, "review_id": key[:20] + "\\", "business_id": place[:20] + "\\"})
    if kind == "nested":
        return line(
            {"review_id": key[:5], "x": {"business_id": place}, **{k: v for k, v in row.items() if k != "review_id"}}
        )
    changes: dict[str, Any] = {
        "short id": {"review_id": key[:21], "business_id": place[:21]},
        "long id": {"review_id": key + "x"},
        "id is null": {"review_id": None, "business_id": None},
        "id is a number": {"review_id": 7, "business_id": 7},
    }
    if kind in changes:
        return line({**row, **changes[kind]})
    dropped = {"no id": "review_id", "no place": "business_id"}.get(kind)
    if dropped:
        return line({k: v for k, v in row.items() if k != dropped})
    return {
        "crlf": plain + "\r",
        "blank": draw.choice(["", "  ", "\t"]),
        "indented": "  " + plain,
        "key first": line({"version": 1, **row}),
    }.get(kind, plain)


def generated(seed: int) -> tuple[bytes, list[str], list[str]]:
    """Return a file with odd lines mixed in, and review and place ids to look for."""
    draw = random.Random(seed)
    reviews = ["".join(draw.choices(ALPHABET, k=22)) for _ in range(30)]
    places = ["".join(draw.choices(ALPHABET, k=22)) for _ in range(12)]
    texts = ["ok", 'say "hi"\nx', "café 東京 \U0001f600", "\\", f'fake "review_id":"{reviews[0]}"', "z" * 700, " ", ""]
    rows = []
    for number in range(draw.randint(1, 60)):
        row = review(number, draw.choice(texts), review_id=reviews[number % 30], business_id=draw.choice(places))
        kinds = [kind for kind in ODD if kind != "not an object"]
        rows.append(odd_line(draw.choice(["usual"] * 8 + kinds), row, draw))
    data = "\n".join(rows) + ("\n" if draw.random() < 0.7 else "")
    return data.encode(), draw.sample(reviews, 8), draw.sample(places, 3)


def plain_loop(data: bytes, key: str, wanted: list[str]) -> list[dict[str, Any]]:
    """Return the rows that a loop over `json` finds."""
    rows = [json.loads(each) for each in data.split(b"\n") if each.strip()]
    return [row for row in rows if row.get(key) in wanted]


def scanned(data: bytes, key: str, wanted: list[str], buffer: int) -> list[dict[str, Any]]:
    """Return the rows that the scan finds."""
    batches = Scanner(Search(key, frozenset(each.encode() for each in wanted)), buffer).scan(io.BytesIO(data).readinto)
    found = [json.loads(each) for batch in batches for each in batch if isinstance(each, bytes) and each.strip()]
    return [row for row in found if row.get(key) in wanted]


@pytest.fixture(params=sorted(FINDERS))
def finder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with and without NumPy."""
    monkeypatch.setattr(scanner, "_proven_by_numpy", FINDERS[request.param])
    return str(request.param)


@pytest.mark.parametrize("key", ["review_id", "business_id"])
def test_the_scan_equals_a_json_loop(finder: str, key: str) -> None:
    for seed in range(150):
        data, reviews, places = generated(seed)
        wanted = reviews if key == "review_id" else places
        for buffer in (300, 4096, 1 << 16):
            assert scanned(data, key, wanted, buffer) == plain_loop(data, key, wanted), (seed, buffer)


def test_usual_lines_are_decided_without_parsing(finder: str) -> None:
    data = lines(line(review(number)) for number in range(500))
    search = Search("review_id", frozenset([identifier("review 3").encode(), identifier("absent").encode()]))
    found = [each for batch in Scanner(search).scan(io.BytesIO(data).readinto) for each in batch]
    assert found == [line(review(3)).encode()]
    keys = Search("business_id", frozenset([identifier("place 3").encode()]), keys_only=True)
    found = [each for batch in Scanner(keys).scan(io.BytesIO(data).readinto) for each in batch]
    assert len(found) == 71
    assert all(isinstance(each, tuple) for each in found)


def test_of_repeated_keys_the_last_wins_where_a_line_is_parsed(tmp_path: Path) -> None:
    twice = line(review(1))[:-1] + f',"review_id":"{identifier("other")}"}}'
    (tmp_path / "review.json").write_bytes(lines([twice, line(review(2))]))
    bundle = hydrate.open_bundle(tmp_path)
    assert list(bundle.reviews(review_ids=[review(1)["review_id"]])) == []
    assert [row["review_id"] for row in bundle.rows("review")] == [identifier("other"), review(2)["review_id"]]


@pytest.mark.parametrize("chunk", [64, 1000, 40_000])
def test_chunks_share_out_every_line_once(chunk: int, tmp_path: Path, finder: str) -> None:
    path = tmp_path / "review.json"
    for seed in range(6):
        data, reviews, _ = generated(seed)
        path.write_bytes(b"junk before" + data + b"junk after")
        where = FileRange(path, 11, 11 + len(data))
        search = Search("review_id", frozenset(each.encode() for each in reviews))
        found = [each for batch in scan_range(where, search, chunk=chunk) for each in batch]
        rows = [json.loads(each) for each in found if isinstance(each, bytes) and each.strip()]
        assert [row for row in rows if row.get("review_id") in reviews] == plain_loop(data, "review_id", reviews)


def big_file(path: Path) -> tuple[FileRange, Search, list[bytes]]:
    data = lines(line(review(number)) for number in range(4000)) + b"\0\0\n"
    path.write_bytes(data)
    wanted = [line(review(number)).encode() for number in range(0, 4000, 9)]
    search = Search("review_id", frozenset(review(number)["review_id"].encode() for number in range(0, 4000, 9)))
    return FileRange(path, 0, len(data)), search, [*wanted, b"\0\0"]


def test_the_helper_process_takes_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, search, wanted = big_file(tmp_path / "a file.json")
    scanned_here = []

    def slow(*arguments: Any) -> Any:
        scanned_here.append(1)
        return scan_chunk(*arguments)

    monkeypatch.setattr("hydrate.scan.scan_chunk", slow)
    seen: list[tuple[int, int]] = []
    batches = scan_range(where, search, lambda *done: seen.append(done), chunk=2000, helper_pays=0)
    assert [each for batch in _slowly(batches) for each in batch] == wanted
    assert seen[-1] == (where.end, where.end)
    assert seen == sorted(seen)
    assert len(scanned_here) < len(seen)


def _slowly(batches: Iterator[scanner.Batch]) -> Iterator[scanner.Batch]:
    """Give the helper time to start."""
    for number, batch in enumerate(batches):
        time.sleep(0.02 if number < 50 else 0)
        yield batch


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit",
        "import sys; sys.stdout.buffer.write(b'R'); raise SystemExit",
        "import sys; sys.stdout.buffer.write(b'Rxyz'); sys.stdin.buffer.read()",
        None,
    ],
)
def test_a_helper_that_fails_costs_nothing_but_time(
    program: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, search, wanted = big_file(tmp_path / "review.json")
    if program is None:
        monkeypatch.setattr("sys.executable", "/nowhere/python")
    else:
        (tmp_path / "helper.py").write_text(program)
        monkeypatch.setattr("hydrate.scan.scanner.__file__", str(tmp_path / "helper.py"))
    batches = scan_range(where, search, chunk=20_000, helper_pays=0)
    if program and "read()" in program:  # it never answers: killed from outside, as a machine short of memory would
        monkeypatch.setattr("hydrate.scan._Helper.feed", _kill_after(3))
    assert [each for batch in _slowly(batches) for each in batch] == wanted


def _kill_after(calls: int) -> Callable[..., None]:
    from hydrate.scan import _Helper

    feed, count = _Helper.feed, []

    def counting(helper: Any, chunks: Any) -> None:
        feed(helper, chunks)
        count.append(1)
        if len(count) == calls:
            helper._process.kill()

    return counting


def test_a_batch_survives_packing() -> None:
    for batch in ([], [b""], [b"", b"\0", (b"a" * 22, b"b" * 22), b"I", b"L"], [(b"a" * 22, b"b" * 22)]):
        assert unpack(io.BytesIO(pack(batch)).read) == batch
    assert unpack(io.BytesIO(pack([b"abc"])[:-1]).read) is None
    assert unpack(io.BytesIO(b"").read) is None
