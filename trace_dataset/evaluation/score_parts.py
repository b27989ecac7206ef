"""Scoring side by side: a run's shards in several processes, joined in the order of the run."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from hydrate.errors import TraceError
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.schema import Dialogue

Columns = dict[str, list[Any]]
Scored = tuple[Columns, Columns]  # of system turns, and of dialogues
Score = Callable[[Sequence[Dialogue], Sequence[StoredResponse]], Scored]
Part = tuple[Sequence[int], Sequence[Dialogue]]  # shards, and the dialogues that stand in them


def score_in_parts(run: RunFolder, dialogues: Sequence[Dialogue], score: Score, workers: int) -> Scored:
    """Score a run in so many processes; the result does not depend on their number.

    Args:
        score: scores dialogues and their responses; a value must depend on its own dialogue alone.

    Raises:
        BundleError: a shard is missing or damaged, or a system turn has no response.
        TraceError: a process died.
    """
    parts = parts_of(run, dialogues, workers) if "fork" in multiprocessing.get_all_start_methods() else []
    if len(parts) < 2:
        return score(dialogues, run.responses())
    context = multiprocessing.get_context("fork")
    try:
        with ProcessPoolExecutor(len(parts), context, initializer=_start, initargs=(run, parts, score)) as executor:
            found = list(executor.map(_work, range(len(parts))))
    except BrokenProcessPool:
        raise TraceError(
            "a process that scored died: it was killed, or ran out of memory",
            do="run the same command with --workers 1",
        ) from None
    return _joined([turns for turns, _ in found]), _joined([rows for _, rows in found])


def parts_of(run: RunFolder, dialogues: Sequence[Dialogue], wanted: int) -> list[Part]:
    """Divide a run at the borders of shards; every dialogue stands in one part. Empty where the run is not over these."""
    total = int(run.settings["shards"])
    size = -(-total // max(1, min(wanted, total)))
    place: dict[str | None, int] = {dialogue.dialogue_id: at for at, dialogue in enumerate(dialogues)}
    first = [run.first_dialogue(number) for number in range(0, total, size)]
    starts = [0, *(place.get(name, -1) for name in first[1:]), len(dialogues)]
    if starts != sorted(set(starts)):
        return []
    return [
        (range(number, min(number + size, total)), dialogues[start:end])
        for number, start, end in zip(range(0, total, size), starts, starts[1:], strict=False)
    ]


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


_task: tuple[RunFolder, list[Part], Score] | None = None


def _start(run: RunFolder, parts: list[Part], score: Score) -> None:
    global _task
    _task = run, parts, score


def _work(number: int) -> Scored:
    assert _task is not None
    run, parts, score = _task
    shards, dialogues = parts[number]
    return score(dialogues, [answer for shard in shards for answer in run.shard_responses(shard)])
