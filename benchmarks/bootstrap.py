"""The paired cluster bootstrap against `scipy.stats.bootstrap`, a gather a resample and a plain loop, on the same draws.

    python -m benchmarks.bootstrap [--dialogues 10000] [--resamples 10000] [--metrics 12] [--systems 9] [--rounds 3]

First one pair of systems, then all pairs. The others run a part of the resamples, and their time is scaled up; the first
resamples are the same for all, so results are compared number by number. Then Krippendorff's alpha with an interval against a
loop over the `krippendorff` package (90 items, 5 annotators).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from itertools import combinations

import krippendorff
import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from trace_dataset.analysis.agreement import alpha_replicates
from trace_dataset.analysis.comparisons import differences_of
from trace_dataset.evaluation.bootstrap import SEED

Array = NDArray[np.float64]
Systems = list[tuple[Array, Array]]


def make(dialogues: int, metrics: int, systems: int, seed: int = 1) -> Systems:
    """Return for each system sums and counts by dialogue and metric; half of the metrics are defined on some turns only.

    Which turns those are is the same for all systems, as it is for metrics of one reference.
    """
    draw = np.random.default_rng(seed)
    turns = draw.integers(3, 9, dialogues)
    counts = np.repeat(turns[:, None], metrics, 1).astype(float)
    for metric in range(metrics // 2, metrics):
        counts[:, metric] = draw.binomial(turns, 0.7)
    hard = draw.normal(0, 0.8, (dialogues, 1))
    made = []
    for at in range(systems):
        chance = 1 / (1 + np.exp(-(hard - 0.03 * at + draw.normal(0, 0.4, (dialogues, metrics)))))
        made.append((draw.binomial(counts.astype(int), chance).astype(float), counts))
    return made


def ours(systems: Systems, pairs: list[tuple[int, int]], resamples: int) -> Array:
    """Return differences by resample, pair and metric."""
    wanted = [
        (systems[a][0][:, metric], systems[b][0][:, metric], systems[a][1][:, metric])
        for a, b in pairs
        for metric in range(systems[a][0].shape[1])
    ]
    return differences_of(wanted, resamples, SEED)


def gather(systems: Systems, pairs: list[tuple[int, int]], resamples: int) -> Array:
    """The same by picking the drawn rows of each resample, all metrics at once."""
    stream, size = np.random.default_rng(SEED), len(systems[0][0])
    both = [np.hstack(system) for system in systems]
    found = []
    for _ in range(resamples):
        drawn = stream.integers(0, size, size=size)
        means = [np.divide(*np.split(table[drawn].sum(axis=0), 2)) for table in both]
        found.append(np.concatenate([means[a] - means[b] for a, b in pairs]))
    return np.array(found)


def loop(systems: Systems, pairs: list[tuple[int, int]], resamples: int) -> Array:
    """The same as a script does it: pair by pair and metric by metric."""
    stream, size = np.random.default_rng(SEED), len(systems[0][0])
    found = []
    for _ in range(resamples):
        drawn = stream.integers(0, size, size=size)
        row = []
        for a, b in pairs:
            for metric in range(systems[a][0].shape[1]):
                (x, m), (y, n) = ((side[drawn, metric] for side in systems[at]) for at in (a, b))
                row.append(x.sum() / m.sum() - y.sum() / n.sum())
        found.append(row)
    return np.array(found)


def scipy_bootstrap(systems: Systems, pairs: list[tuple[int, int]], resamples: int) -> Array:
    """The same through SciPy, paired, one call a pair and metric; it draws the same dialogues from the same seed."""

    def difference(x: Array, m: Array, y: Array, n: Array, axis: int = -1) -> Array:
        return x.sum(axis) / m.sum(axis) - y.sum(axis) / n.sum(axis)

    found = []
    for a, b in pairs:
        for metric in range(systems[a][0].shape[1]):
            data = [side[:, metric] for at in (a, b) for side in systems[at]]
            result = bootstrap(
                data, difference, paired=True, vectorized=True, n_resamples=resamples, batch=64,
                method="percentile", rng=np.random.default_rng(SEED),
            )  # fmt: skip
            found.append(result.bootstrap_distribution)
    return np.stack(found, axis=1)


def race(systems: Systems, pairs: list[tuple[int, int]], resamples: int, parts: dict[str, int], rounds: int) -> None:
    """Time all contestants in turn, print seconds for all resamples, ratios to ours, and the largest difference."""
    contestants: dict[str, Callable[[Systems, list[tuple[int, int]], int], Array]] = {
        "ours": ours,
        "scipy.stats.bootstrap": scipy_bootstrap,
        "gather a resample": gather,
        "plain loop": loop,
    }
    ours(systems, pairs, 64)  # libraries loaded, threads started
    times: dict[str, list[float]] = {name: [] for name in contestants}
    cpu: dict[str, list[float]] = {name: [] for name in contestants}
    results: dict[str, Array] = {}
    for turn in range(rounds):
        for name, run in contestants.items():
            part = parts.get(name, resamples)
            start, start_cpu = time.perf_counter(), time.process_time()
            results[name] = run(systems, pairs, part)
            times[name].append((time.perf_counter() - start) * resamples / part)
            cpu[name].append((time.process_time() - start_cpu) * resamples / part)
            if turn == 0 and name == "ours":
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"peak memory of the process after ours: {peak:.0f} MB\n")
    own, own_cpu = statistics.median(times["ours"]), statistics.median(cpu["ours"])
    print("| contestant | seconds | times ours | CPU seconds | times ours | resamples run | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in contestants:
        apart = np.abs(results[name] - results["ours"][: len(results[name])]).max()
        wall, own_time = statistics.median(times[name]), statistics.median(cpu[name])
        ratios = f"{wall:.2f} | {wall / own:.1f} | {own_time:.2f} | {own_time / own_cpu:.1f}"
        print(f"| {name} | {ratios} | {parts.get(name, resamples):,} | {apart:.1e} |")


def alpha(resamples: int, rounds: int) -> None:
    """Time the interval of alpha against a loop over the package, on the same draws."""
    draw = np.random.default_rng(2)
    truth = draw.integers(0, 3, 90)
    table = np.where(draw.random((5, 90)) < 0.6, truth, draw.integers(0, 3, (5, 90))).astype(float)
    rows = table.tolist()
    print(f"\n## Krippendorff's alpha, 90 items, 5 annotators, {resamples:,} resamples\n")
    print("| level | ours, s | package loop, s | ratio | largest difference |\n| --- | --- | --- | --- | --- |")
    few = 200
    for level in ("nominal", "ordinal", "interval"):
        own, other = [], []
        for _ in range(rounds):
            start = time.perf_counter()
            found = alpha_replicates(rows, level, resamples, SEED)
            own.append(time.perf_counter() - start)
            draws = np.random.default_rng(SEED).integers(0, 90, size=(few, 90))
            start = time.perf_counter()
            wanted = [krippendorff.alpha(reliability_data=table[:, at], level_of_measurement=level) for at in draws]
            other.append((time.perf_counter() - start) * resamples / few)
        mine, theirs = statistics.median(own), statistics.median(other)
        apart = np.abs(found[:few] - np.array(wanted)).max()
        print(f"| {level} | {mine:.3f} | {theirs:.2f} | {theirs / mine:.0f} | {apart:.1e} |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--metrics", type=int, default=12)
    parser.add_argument("--systems", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    systems = make(options.dialogues, options.metrics, options.systems)
    shape = f"{options.dialogues:,} dialogues, {options.resamples:,} resamples, {options.metrics} metrics"
    print(f"## One pair: {shape}\n")
    some = max(1, options.resamples // 100)
    race(
        systems[:2],
        [(0, 1)],
        options.resamples,
        {"scipy.stats.bootstrap": some, "gather a resample": some, "plain loop": some},
        options.rounds,
    )
    pairs = list(combinations(range(options.systems), 2))
    print(f"\n## All {len(pairs)} pairs of {options.systems} systems: {shape}\n")
    few = max(1, options.resamples // 1000)
    race(
        systems,
        pairs,
        options.resamples,
        {"scipy.stats.bootstrap": few, "gather a resample": 5 * few, "plain loop": few},
        options.rounds,
    )
    alpha(options.resamples, options.rounds)


if __name__ == "__main__":
    main()
