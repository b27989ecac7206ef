"""Building the benchmark at the paper's scale: seconds, processor time, peak memory and growth with the number of dialogues.

Writes a sample bundle of 2,400 places (about 34,000 reviews are kept of them) where there is none, then builds a release of
each size in a process of its own, cold, and prints what each stage took. The target is 60 s on two cores and 2 GB for
10,000 dialogues, on a machine that does nothing else: the load average is printed beside the figures, and processor
seconds, which depend on it less. Memory is the peak of the process and of each worker added up, so an upper bound.

    python benchmarks/build.py
    python benchmarks/build.py --sizes 1000 10000 --workers 1 --dir /data/bench
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path[:] = [each for each in sys.path if Path(each or ".").resolve() != Path(__file__).parent.resolve()]

SIZES, PLACES, REVIEWS_PER_PLACE, WORKERS = (1_000, 4_000, 10_000), 2_400, 75, 2
TARGET_SECONDS, TARGET_MEGABYTES = 60, 2_000


def main() -> None:
    """Write the bundle, build each size, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="dialogues (default: %(default)s)")
    parser.add_argument("--places", type=int, default=PLACES, help="in the bundle (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=WORKERS, help="processes (default: %(default)s)")
    parser.add_argument("--dir", type=Path, help="keep the bundle here; default: a temporary folder")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one, options.sizes[0], options.workers)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        bundle = (options.dir or Path(scratch)) / f"sample-{options.places}"
        if not bundle.exists():
            from trace_dataset.sample import write_sample

            write_sample(bundle, places=options.places, reviews_per_place=REVIEWS_PER_PLACE)
        print(f"{os.cpu_count()} cores, {options.workers} workers, Python {sys.version.split()[0]}")
        show([build(bundle, size, options.workers) for size in options.sizes])


def build(bundle: Path, size: int, workers: int) -> dict[str, Any]:
    """Build one size in a fresh process with an empty cache; return its figures."""
    command = [sys.executable, __file__, "--one", str(bundle), "--sizes", str(size), "--workers", str(workers)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRACE_CACHE": cache, "HF_HOME": cache, "HF_HUB_OFFLINE": "1"}
        before = os.getloadavg()[0]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return {**json.loads(done.stdout.splitlines()[-1]), "load": before}


def measure(bundle: Path, size: int, workers: int) -> dict[str, Any]:
    """Build a release here and return seconds by stage, processor seconds and peak megabytes."""
    from trace_dataset.release import build_release  # the import's second is not the build's

    marks: list[tuple[str, float]] = []

    def progress(stage: str, done: int, total: int) -> None:
        if not marks or marks[-1][0] != stage:
            marks.append((stage, time.perf_counter()))
        if done == total and stage == "writing dialogues":
            marks.append(("splitting and writing files", time.perf_counter()))

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        release = build_release(bundle, Path(scratch) / "release", n_dialogues=size, workers=workers, progress=progress)
    end = time.perf_counter()
    stages: dict[str, float] = {}
    for (stage, since), (_, until) in pairwise([*marks, ("", end)]):
        stages[stage] = stages.get(stage, 0.0) + until - since
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "dialogues": release.manifest.counts["dialogues"],
        "places": release.manifest.counts["pois"],
        "reviews": release.manifest.counts["reviews"],
        "seconds": end - start,
        "processor": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        "megabytes": (own.ru_maxrss + (workers if workers > 1 else 0) * children.ru_maxrss) * 1024 / 1e6,
        "stages": stages,
        "digest": release.manifest.content_digest,
    }


def show(rows: list[dict[str, Any]]) -> None:
    """Print the figures, the growth between sizes, and the target beside the largest."""
    print(f"{rows[0]['places']:,} places, {rows[0]['reviews']:,} reviews")
    print(f"{'dialogues':>10}{'seconds':>10}{'processor s':>13}{'peak MB':>10}{'load before':>13}")
    for row in rows:
        print(
            f"{row['dialogues']:>10,}{row['seconds']:>10.1f}{row['processor']:>13.1f}{row['megabytes']:>10,.0f}"
            f"{row['load']:>13.1f}"
        )
    for row in rows:
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["stages"].items())
        print(f"  {row['dialogues']:,}: {stages}  (digest {row['digest'][:12]})")
    for small, large in pairwise(rows):
        more = (large["dialogues"] - small["dialogues"]) / 1_000
        print(
            f"  from {small['dialogues']:,} to {large['dialogues']:,}: {(large['seconds'] - small['seconds']) / more:.2f} s "
            f"and {(large['processor'] - small['processor']) / more:.2f} processor s for each 1,000 more"
        )
    print(f"target at 10,000: {TARGET_SECONDS} s on two idle cores, {TARGET_MEGABYTES:,} MB")


if __name__ == "__main__":
    main()
