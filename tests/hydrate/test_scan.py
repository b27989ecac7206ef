"""The scan finds what a plain loop over `json` finds, whatever the lines look like."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hydrate
from hydrate import scan, scanner
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
FIELDS = ("review_id", "business_id", "text", "stars")
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
    return [{name: row.get(name) for name in FIELDS} for row in rows if row.get(key) in wanted]


def searched(key: str, wanted: Iterable[str], keys_only: bool = False) -> Search:
    return Search(key, frozenset(wanted), keys_only)


def scanned(data: bytes, search: Search, buffer: int) -> list[dict[str, Any]]:
    """Return the rows that the scan finds, as far as the scan gives them."""
    found = []
    for items in Scanner(search, buffer).scan(io.BytesIO(data).readinto):
        for item in items:
            row = json.loads(item) if isinstance(item, bytes) else dict(zip(FIELDS, item, strict=True))
            if row.get(search.key) in search.wanted:
                found.append({name: row.get(name) for name in FIELDS})
    return found


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
            assert scanned(data, searched(key, wanted), buffer) == plain_loop(data, key, wanted), (seed, buffer)


def test_without_orjson_the_caller_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "loads", None)
    for seed in range(30):
        data, reviews, _ = generated(seed)
        assert scanned(data, searched("review_id", reviews), 4096) == plain_loop(data, "review_id", reviews)


def test_usual_lines_are_decided_without_parsing(finder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = lines(line(review(number)) for number in range(500))
    parsed = []
    monkeypatch.setattr(scanner, "loads", lambda each: parsed.append(bytes(each)) or json.loads(bytes(each)))
    row = review(3)
    search = searched("review_id", [row["review_id"], identifier("absent")])
    assert scanned(data, search, 4096) == [{name: row[name] for name in FIELDS}]
    assert parsed == [line(row).encode()]
    parsed.clear()
    keys = searched("business_id", [identifier("place 3")], keys_only=True)
    found = [item for items in Scanner(keys).scan(io.BytesIO(data).readinto) for item in items]
    assert found == [(row["review_id"], row["business_id"]) for row in map(review, range(3, 500, 7))]
    assert parsed == []


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
        search = searched("review_id", reviews)
        items = [
            item for items in scan_range(FileRange(path, 11, 11 + len(data)), search, chunk=chunk) for item in items
        ]
        rows = [json.loads(item) if isinstance(item, bytes) else dict(zip(FIELDS, item, strict=True)) for item in items]
        assert [row["text"] for row in rows if row.get("review_id") in reviews] == [
            row["text"] for row in plain_loop(data, "review_id", reviews)
        ]


def big_file(path: Path) -> tuple[FileRange, Search, list[Any]]:
    data = lines(line(review(number)) for number in range(4000)) + b"\0\0\n"
    path.write_bytes(data)
    wanted = [review(number) for number in range(0, 4000, 9)]
    items = [*(tuple(row[name] for name in FIELDS) for row in wanted), b"\0\0"]
    return FileRange(path, 0, len(data)), searched("review_id", [row["review_id"] for row in wanted]), items


def test_the_helper_process_takes_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, search, wanted = big_file(tmp_path / "a file.json")
    scanned_here = []

    def counting(*arguments: Any) -> Any:
        scanned_here.append(1)
        return scan_chunk(*arguments)

    monkeypatch.setattr("hydrate.scan.scan_chunk", counting)
    seen: list[tuple[int, int]] = []
    batches = scan_range(where, search, lambda *done: seen.append(done), chunk=2000, helper_pays=0)
    assert [item for items in slowly(batches) for item in items] == wanted
    assert seen[-1] == (where.end, where.end)
    assert seen == sorted(seen)
    assert len(scanned_here) < len(seen)


def slowly(batches: Iterator[list[scanner.Item]]) -> Iterator[list[scanner.Item]]:
    """Give the helper time to start."""
    for number, items in enumerate(batches):
        time.sleep(0.02 if number < 50 else 0)
        yield items


def no_fork() -> int:
    raise OSError("no more processes")


def hanging(*_: Any) -> None:
    time.sleep(600)


def ready_and_gone(_where: Any, _scanner: Any, _source: Any, target: Any) -> None:
    target.write(b"R")


def ready_and_mad(_where: Any, _scanner: Any, source: Any, target: Any) -> None:
    target.write(b"Rxyz")
    target.flush()
    source.readline()


@pytest.mark.parametrize("serve", [hanging, ready_and_gone, ready_and_mad, None, "killed"])
def test_a_helper_that_fails_costs_nothing_but_time(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, search, wanted = big_file(tmp_path / "review.json")
    if callable(serve):
        monkeypatch.setattr("hydrate.scan._serve", serve)
    elif serve is None:
        monkeypatch.setattr("os.fork", no_fork)
    else:  # as a machine short of memory would
        monkeypatch.setattr("hydrate.scan._Helper.feed", killing_after(3))
    batches = scan_range(where, search, chunk=20_000, helper_pays=0)
    assert [item for items in slowly(batches) for item in items] == wanted


def killing_after(calls: int) -> Callable[..., None]:
    feed, count = scan._Helper.feed, []

    def counting(helper: Any, chunks: Any) -> None:
        feed(helper, chunks)
        count.append(1)
        if len(count) == calls:
            os.kill(helper._process, signal.SIGKILL)

    return counting


def test_a_scan_that_is_left_early_leaves_no_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, search, _ = big_file(tmp_path / "review.json")
    fork, started = os.fork, []

    def noting() -> int:
        process = fork()
        started.append(process)
        return process

    monkeypatch.setattr("os.fork", noting)
    threads = threading.active_count()
    early = scan_range(where, search, chunk=2000, helper_pays=0)
    next(early)
    assert threading.active_count() == threads + 1
    early.close()
    assert threading.active_count() == threads
    assert len(started) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(started[0], os.WNOHANG)


@pytest.mark.parametrize("key", ["review_id", "business_id"])
def test_the_sample_tries_what_a_scan_does(key: str) -> None:
    row = json.loads(scanner.SAMPLE.split(b"\n")[0])
    for keys_only in (False, True):
        search = searched(key, [row[key]], keys_only)
        items = [item for items in Scanner(search).scan(io.BytesIO(scanner.SAMPLE).readinto) for item in items]
        assert items == [(row["review_id"], row["business_id"], row["text"], 3.0)[: 2 if keys_only else 4], b"{}"]


def test_items_survive_packing() -> None:
    for items in ([], [b""], [("a", "b"), ("r", "p", "caf\u00e9 \U0001f600", 3.5), b"\0"]):
        assert unpack(io.BytesIO(pack(items)).read) == items
    assert unpack(io.BytesIO(pack([b"abc"])[:-1]).read) is None
    assert unpack(io.BytesIO(b"").read) is None


def test_a_file_that_shrinks_is_an_error_and_not_a_short_result(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    path.write_bytes(lines(line(review(number)) for number in range(1000)))
    where = FileRange(path, 0, path.stat().st_size + 5)
    with pytest.raises(EOFError, match="instead of"):
        list(scan_range(where, searched("review_id", ["x" * 22]), chunk=20_000))
