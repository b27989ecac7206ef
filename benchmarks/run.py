"""Runs: how long each baseline takes over a benchmark, scores included, and what share of it is the runner's own.

    python -m benchmarks.run [--dialogues 10000] [--places 2400] [--workers 2] [--halves] [--own popularity] [baseline …]

Prints seconds of the run and of scoring and the peak memory; with `--halves` also half as many dialogues, and the ratio.
Seconds are the clock's, and with `--cpu` those of the processor, which a busy machine disturbs less. `--own` runs one baseline
in this process, and says where the time went.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.evaluation import job as jobs
from trace_dataset.evaluation import run_baseline, score_run
from trace_dataset.installed import hub_names
from trace_dataset.release import Benchmark, Source, open_benchmark
from trace_dataset.sample import write_sample

on_cpu = False


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--places", type=int, default=2400)
    parser.add_argument("--yelp", help="a bundle instead of the invented sample")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--halves", action="store_true")
    parser.add_argument("--own")
    parser.add_argument("baseline", nargs="*", help="default: all that ask no language model")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--keep", help="a folder for the bundle and the runs, instead of one that is removed")
    options = parser.parse_args()
    global on_cpu
    on_cpu = options.cpu
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as scratch:
        bundle = options.yelp or str(write_sample(Path(scratch) / "yelp", places=options.places))
        benchmark = open_benchmark(Source(yelp_path=bundle, n_dialogues=options.dialogues))
        if options.own:
            own_share(options.own, benchmark, Path(scratch))
            return
        names = options.baseline or [name for name in hub_names("baselines") if not load_baseline(name).uses_lm]
        table(names, benchmark, Path(scratch), options.workers, options.halves)


def table(names: list[str], benchmark: Benchmark, scratch: Path, workers: int, halves: bool) -> None:
    """Print one row a baseline, and the sum."""
    total = len(benchmark.dialogues)
    print(
        f"{total:,} dialogues, pool closed, {workers} workers\n\n| baseline | run s | score s | half s | whole / half |"
    )
    print("| --- | --- | --- | --- | --- |")
    sums = [0.0, 0.0]
    for name in names:
        half = sum(timed(name, benchmark, scratch / "half", workers, total // 2)) if halves else 0.0
        run, score = timed(name, benchmark, scratch / "whole", workers, None)
        sums = [sums[0] + run, sums[1] + score]
        compared = f"{half:.1f} | {(run + score) / half:.2f}" if halves else "- | -"
        print(f"| {name} | {run:.1f} | {score:.1f} | {compared} |", flush=True)
    print(f"\nall: {sum(sums):.0f} s ({sums[0]:.0f} s running, {sums[1]:.0f} s scoring)")
    print(
        f"peak memory: {peak(resource.RUSAGE_SELF):.0f} MB, and {peak(resource.RUSAGE_CHILDREN):.0f} MB in the largest worker"
    )


def clock() -> float:
    """Return the seconds that are measured."""
    if not on_cpu:
        return time.perf_counter()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def timed(name: str, benchmark: Benchmark, folder: Path, workers: int, limit: int | None) -> tuple[float, float]:
    """Return the seconds that a run takes, and its scoring; the embeddings of halves and wholes are remembered apart."""
    if (folder / name).exists():
        raise SystemExit(f"{folder / name} holds a run, which would only be read again; give an empty folder to --keep")
    os.environ["TRACE_CACHE"] = str(folder / "cache")
    started = clock()
    run = run_baseline(load_baseline(name), benchmark, folder / name, workers=workers, limit=limit, strict=True)
    ran = clock()
    score_run(run, benchmark, workers)
    return ran - started, clock() - ran


def own_share(name: str, benchmark: Benchmark, scratch: Path) -> None:
    """Print how the time of a run in this process divides between the baseline, taking review text out, and the runner."""
    baseline = load_baseline(name)
    spent: dict[str, float] = {"baseline": 0.0, "text": 0.0}

    def clocked(call: Callable[..., Any], key: str) -> Callable[..., Any]:
        def timed_call(*arguments: Any) -> Any:
            started = clock()
            try:
                return call(*arguments)
            finally:
                spent[key] += clock() - started

        return timed_call

    many = type(baseline).rank_many is not Baseline.rank_many
    for method in ("prepare", "rank_many" if many else "rank", "respond"):
        setattr(baseline, method, clocked(getattr(baseline, method), "baseline"))
    jobs.store_text = clocked(jobs.store_text, "text")
    benchmark.finder.prepare()
    started = clock()
    run = run_baseline(baseline, benchmark, scratch / "own")
    wall = clock() - started
    started = clock()
    score_run(run, benchmark)
    scored = clock() - started
    own = wall - sum(spent.values())
    print(f"{name}, {len(benchmark.dialogues):,} dialogues, one process: run {wall:.1f} s, scores {scored:.1f} s")
    for what, seconds in (
        ("the baseline's own code", spent["baseline"]),
        ("taking review text out", spent["text"]),
        ("the runner", own),
    ):
        print(
            f"  {what:<24} {seconds:6.1f} s, {seconds / wall:4.0%} of the run, {seconds / (wall + scored):4.0%} with scores"
        )


def peak(who: int) -> float:
    """Return a peak of memory in MB."""
    return resource.getrusage(who).ru_maxrss / 1024


if __name__ == "__main__":
    main()
