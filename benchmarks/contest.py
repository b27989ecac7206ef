"""What the benchmarks share: contestants take turns on the same job, and medians and ratios are printed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def contest(title: str, ours: str, contestants: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Any]:
    """Run every contestant once a round, in turn, and print seconds and ratios to ours.

    Returns:
        The last result of each contestant, for comparison.
    """
    wall: dict[str, list[float]] = {name: [] for name in contestants}
    cpu: dict[str, list[float]] = {name: [] for name in contestants}
    results: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            results[name] = run()
            wall[name].append(time.perf_counter() - start)
            cpu[name].append(time.process_time() - start_cpu)
    own_wall, own_cpu = statistics.median(wall[ours]), statistics.median(cpu[ours])
    print(f"\n## {title} ({rounds} rounds, medians)\n")
    print("| contestant | seconds | CPU seconds | times ours | times ours, CPU |\n| --- | --- | --- | --- | --- |")
    for name in sorted(contestants, key=lambda name: statistics.median(wall[name])):
        seconds, cpu_seconds = statistics.median(wall[name]), statistics.median(cpu[name])
        print(
            f"| {name} | {seconds:.2f} | {cpu_seconds:.2f} | {seconds / own_wall:.2f} | {cpu_seconds / own_cpu:.2f} |"
        )
    return results
