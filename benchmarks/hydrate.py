"""Finding reviews in a bundle: our scan beside what a researcher would run instead, alternating in one run.

Writes a bundle of invented text of the asked size, then times, for 34,208 reviews by id and for all reviews of 2,400
places, our scan and its peers, each in a process of its own, in rounds; prints medians, ratios to ours and peak memory,
and checks that all found the same records. Peers (not dependencies of the project): pip install duckdb polars pyarrow.

There is no index of byte offsets for a second hydration, since it was tried and does not pay: of the 7.3 s that hydrating
10,000 dialogues (32,932 reviews) from a plain bundle of 5.4 GB took in this process, the scan was 1.9 s, and reading
the same reviews by offset 0.1 s; with nothing in the page cache the two took 4.6 s and 1.9 s. `load_dataset` keeps what
it hydrated and reads no bundle the second time.

    python benchmarks/hydrate.py --gb 1 --rounds 3
    python benchmarks/hydrate.py --gb 5 --forms plain tar --dir /data/bench
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path[:] = [each for each in sys.path if Path(each or ".").resolve() != Path(__file__).parent.resolve()]

REVIEWS_WANTED, PLACES_WANTED, PLACES = 34_208, 2_400, 150_000
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
REVIEW = "yelp_academic_dataset_review.json"
FORMS = ("plain", "tar", "tgz", "zip")
COLUMNS = {
    "review_id": "VARCHAR",
    "user_id": "VARCHAR",
    "business_id": "VARCHAR",
    "stars": "DOUBLE",
    "useful": "BIGINT",
    "funny": "BIGINT",
    "cool": "BIGINT",
    "text": "VARCHAR",
    "date": "VARCHAR",
}
Found = list[tuple[str, str, str, float]]  # review id, place id, text, stars


# The bundle -----------------------------------------------------------------------------------------------------------


def write_bundle(folder: Path, gigabytes: float, forms: Iterable[str]) -> None:
    """Write what is not there yet: the tables, the lists of ids to look for, and the archives."""
    plain = folder / "plain"
    plain.mkdir(parents=True, exist_ok=True)
    if not (folder / "wanted.json").exists():
        draw = random.Random(7)
        places = [identifier(draw) for _ in range(PLACES)]
        with (plain / "yelp_academic_dataset_business.json").open("w") as file:
            file.writelines(
                json.dumps(
                    {
                        "business_id": place,
                        "name": f"Place {n}",
                        "city": "Reno",
                        "attributes": None,
                        "categories": "Food",
                    }
                )
                + "\n"
                for n, place in enumerate(places)
            )
        count = write_reviews(plain / REVIEW, int(gigabytes * 1e9), places, draw)
        (folder / "wanted.json").write_text(json.dumps(wanted_ids(count, places)))
    if "tar" in forms or "tgz" in forms:
        write_tar(folder / "bundle.tar", plain)
    if "tgz" in forms and not (folder / "bundle.tgz").exists():
        with (folder / "part").open("wb") as file:
            subprocess.run(["gzip", "-6", "-c", str(folder / "bundle.tar")], stdout=file, check=True)
        (folder / "part").rename(folder / "bundle.tgz")
    if "zip" in forms and not (folder / "bundle.zip").exists():
        with zipfile.ZipFile(folder / "part", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for table in sorted(plain.iterdir()):
                archive.write(table, table.name)
        (folder / "part").rename(folder / "bundle.zip")


def wanted_ids(count: int, places: list[str]) -> dict[str, list[str]]:
    """Draw what is looked for: places with about 63 reviews each at full size, so the rarest third is left out."""
    draw = random.Random("wanted")
    reviews = draw.sample(range(count), min(REVIEWS_WANTED, count))
    return {
        "review_id": sorted(identifier(random.Random(f"review {number}")) for number in reviews),
        "business_id": sorted(draw.sample(places[: PLACES * 2 // 3], PLACES_WANTED)),
    }


def identifier(draw: random.Random) -> str:
    """Return 22 random characters."""
    return "".join(draw.choices(ALPHABET, k=22))


def write_reviews(path: Path, size: int, places: list[str], draw: random.Random) -> int:
    """Write review lines in the layout of the real file and return how many."""
    syllables = "ba ce di fo gu la me ni po ra se ti vo wa ter ing er ly est al ous".split()
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(9000)] + [
        "caf\u00e9",
        "na\u00efve",
    ] * 20
    sentences = [json.dumps(" ".join(draw.choices(words, k=draw.randint(5, 14))) + ".")[1:-1] for _ in range(40_000)]
    popular = [1.0 / (rank + 30) ** 0.8 for rank in range(len(places))]
    users, count = [identifier(draw) for _ in range(50_000)], 0
    with path.open("w") as file:
        while file.tell() < size:
            block = draw.choices(places, popular, k=5000)
            for place in block:
                text = (" " if draw.random() < 0.7 else "\\n\\n").join(
                    draw.choices(sentences, k=1 + int(draw.expovariate(0.13)))
                )
                file.write(
                    f'{{"review_id":"{identifier(random.Random(f"review {count}"))}","user_id":"{draw.choice(users)}",'
                    f'"business_id":"{place}","stars":{draw.randint(1, 5)}.0,"useful":{draw.randint(0, 9)},"funny":0,'
                    f'"cool":0,"text":"{text}","date":"2018-07-07 22:09:11"}}\n'
                )
                count += 1
    return count


def write_tar(path: Path, plain: Path) -> None:
    """Write a tar of the tables, unless it is there."""
    if not path.exists():
        with tarfile.open(path.with_name("part"), "w") as archive:
            for table in sorted(plain.iterdir()):
                archive.add(table, table.name)
        path.with_name("part").rename(path)


# Contestants ----------------------------------------------------------------------------------------------------------


def ours(path: Path, key: str, ids: list[str]) -> Found:
    import hydrate

    wanted = {"review_ids": ids} if key == "review_id" else {"business_ids": ids}
    return list(hydrate.open_bundle(path).reviews(**wanted))


def loop_over(lines: Iterable[bytes], key: str, ids: list[str], loads: Callable[[bytes], Any]) -> Found:
    wanted = set(ids)
    rows = (loads(line) for line in lines)
    return [(row["review_id"], row["business_id"], row["text"], row["stars"]) for row in rows if row[key] in wanted]


def orjson_loop(path: Path, key: str, ids: list[str]) -> Found:
    import orjson

    with opened(path) as lines:
        return loop_over(lines, key, ids, orjson.loads)


def json_loop(path: Path, key: str, ids: list[str]) -> Found:
    with opened(path) as lines:
        return loop_over(lines, key, ids, json.loads)


def opened(path: Path) -> Any:
    """Open the review table as the standard library does."""
    if path.is_dir():
        return (path / REVIEW).open("rb")
    if zipfile.is_zipfile(path):
        return zipfile.ZipFile(path).open(REVIEW)
    return tarfile.open(path).extractfile(REVIEW)


def duckdb_scan(path: Path, key: str, ids: list[str]) -> Found:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    connection.execute("set threads=2")
    connection.register("wanted", pa.table({"id": ids}))
    columns = ",".join(f"{name}:'{kind}'" for name, kind in COLUMNS.items())
    return list(
        connection.execute(
            f"select r.review_id, r.business_id, r.text, r.stars from read_ndjson('{path / REVIEW}', columns={{{columns}}}) r "
            f"semi join wanted on r.{key} = wanted.id"
        ).fetchall()
    )


def polars_scan(path: Path, key: str, ids: list[str]) -> Found:
    import polars as pl

    kinds = {"VARCHAR": pl.String, "DOUBLE": pl.Float64, "BIGINT": pl.Int64}
    frame = pl.scan_ndjson(path / REVIEW, schema={name: kinds[kind] for name, kind in COLUMNS.items()})
    found = (
        frame.filter(pl.col(key).is_in(ids))
        .select("review_id", "business_id", "text", "stars")
        .collect(engine="streaming")
    )
    return list(found.iter_rows())


def pyarrow_scan(path: Path, key: str, ids: list[str]) -> Found:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json as pj

    wanted, found = pa.array(ids), []
    for batch in pj.open_json(path / REVIEW, read_options=pj.ReadOptions(block_size=16 << 20)):
        hits = batch.filter(pc.is_in(batch[key], value_set=wanted))
        found += zip(*(hits[name].to_pylist() for name in ("review_id", "business_id", "text", "stars")), strict=True)
    return found


def bare_zipfile(path: Path, key: str, ids: list[str]) -> Found:
    """No search at all: only what it takes the standard library to read the member."""
    buffer = bytearray(1 << 20)
    with opened(path) as stream:
        while stream.readinto(buffer):
            pass
    return []


CONTESTANTS: dict[str, tuple[Callable[[Path, str, list[str]], Found], tuple[str, ...]]] = {
    "ours": (ours, ("numpy", "orjson", "hydrate")),
    "orjson loop": (orjson_loop, ("orjson",)),
    "json loop": (json_loop, ()),
    "DuckDB read_ndjson": (duckdb_scan, ("duckdb", "pyarrow")),
    "Polars scan_ndjson": (polars_scan, ("polars",)),
    "PyArrow open_json": (pyarrow_scan, ("pyarrow.json", "pyarrow.compute")),
    "bare zipfile read": (bare_zipfile, ()),
}
FLOORS = {"cat": "cat {} > /dev/null", "wc -l": "wc -l {} > /dev/null", "gzip -dc": "gzip -dc {} > /dev/null"}
ENTRIES = {
    "plain": (
        "ours",
        "DuckDB read_ndjson",
        "Polars scan_ndjson",
        "PyArrow open_json",
        "orjson loop",
        "json loop",
        "cat",
        "wc -l",
    ),
    "tar": ("ours", "orjson loop", "cat"),
    "tgz": ("ours", "gzip -dc"),
    "zip": ("ours", "bare zipfile read"),
}
BARS = {
    ("plain", "best of DuckDB and Polars"): 3.0,
    ("plain", "orjson loop"): 4.5,
    ("tar", "orjson loop"): 4.5,
    ("tgz", "gzip -dc"): 2.2,
    ("zip", "bare zipfile read"): 1.8,
}


# Measuring ------------------------------------------------------------------------------------------------------------


def run_once(folder: Path, name: str, form: str, key: str) -> dict[str, Any]:
    """Run one contestant in a process of its own."""
    path = folder / ("plain" if form == "plain" else f"bundle.{form}")
    if name in FLOORS:
        file = path / REVIEW if form == "plain" else path
        start = time.perf_counter()
        subprocess.run(FLOORS[name].format(file), shell=True, check=True)
        return {"seconds": time.perf_counter() - start, "found": None, "memory": None}
    command = [sys.executable, __file__, "--worker", name, str(path), key, str(folder / "wanted.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["failed"])[-1]}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def work(name: str, path: Path, key: str, wanted: Path) -> None:
    """Time one contestant, imports not counted, and print the result as JSON."""
    function, modules = CONTESTANTS[name]
    for module in modules:
        importlib.import_module(module)
    ids = json.loads(wanted.read_text())[key]
    start = time.perf_counter()
    found = function(path, key, ids)
    seconds = time.perf_counter() - start
    own, helper = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    digest = hashlib.sha256(repr(sorted(map(tuple, found))).encode()).hexdigest()[:12] if found else None
    print(json.dumps({"seconds": seconds, "found": len(found), "digest": digest, "memory": own + helper}))


def rounds_of(folder: Path, form: str, key: str, rounds: int, without: Collection[str]) -> Iterator[str]:
    """Run the contestants of a form in turn, several times, and yield the lines of a table."""
    entries = [name for name in ENTRIES[form] if name not in without]
    times: dict[str, list[float]] = {}
    last: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name in entries:
            result = run_once(folder, name, form, key)
            last[name] = result
            if "seconds" in result:
                times.setdefault(name, []).append(result["seconds"])
    medians = {name: statistics.median(each) for name, each in times.items()}
    mine = medians["ours"]
    yield f"\n{form}, by {key}: {last['ours']['found']:,} records, {rounds} rounds"
    yield f"  {'contestant':<22}{'median s':>10}{'min s':>9}{'times ours':>12}{'peak MB':>9}"
    for name in sorted(entries, key=lambda each: medians.get(each, 0)):
        if name not in medians:
            yield f"  {name:<22} not run: {last[name]['error']}"
            continue
        memory = f"{last[name]['memory']:9.0f}" if last[name]["memory"] else f"{'':9}"
        yield f"  {name:<22}{medians[name]:10.3f}{min(times[name]):9.3f}{medians[name] / mine:12.2f}{memory}"
    digests = {result.get("digest") for result in last.values()} - {None}
    yield f"  all found the same records: {len(digests) == 1}"
    peers = [medians[name] for name in ("DuckDB read_ndjson", "Polars scan_ndjson") if name in medians]
    medians |= {"best of DuckDB and Polars": min(peers)} if peers else {}
    for (of, name), bar in BARS.items():
        if of == form and name in medians:
            yield f"  {name}: {medians[name] / mine:.2f} times ours (asked: {bar})"
    if form in ("plain", "tar") and "cat" in medians:
        yield f"  ours is {mine / medians['cat']:.2f} times cat (asked: at most 5)"


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=1.0, help="gigabytes of reviews (default 1; the real file has 5.3)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--keys", nargs="+", choices=("review_id", "business_id"), default=["review_id", "business_id"])
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="contestants to leave out")
    parser.add_argument("--dir", type=Path, help="where to keep the bundle (default: a temporary folder, removed)")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, path, key, wanted = options.worker
        work(name, Path(path), key, Path(wanted))
        return
    folder = options.dir / f"{options.gb}gb" if options.dir else Path(tempfile.mkdtemp(prefix="bench-hydrate-"))
    try:
        start = time.perf_counter()
        write_bundle(folder, options.gb, options.forms)
        size = (folder / "plain" / REVIEW).stat().st_size
        print(
            f"bundle with {size / 1e9:.2f} GB of reviews in {folder}, written in {time.perf_counter() - start:.0f} s; "
            f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        for form in options.forms:
            for key in options.keys:
                for line in rounds_of(folder, form, key, options.rounds, options.without):
                    print(line, flush=True)
        print(f"\nload at the end {os.getloadavg()[0]:.1f}")
    finally:
        if not options.dir:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
