"""Where shards are answered: in this process, in threads (language models), or in local processes.

Whichever it is, the same shards hold the same bytes. Every answer is journalled as soon as it is there, so a run that is killed
goes on behind its last finished answer.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from hydrate.errors import TraceError
from trace_dataset.evaluation.job import Job, Known, Stopped, is_unavailable
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.run_folder import Part, RunFolder

LOOK_EVERY = 0.2  # seconds between looks at what other threads and processes have done


@dataclass
class Tally:
    """What a run has come to so far; threads may add to one.

    Attributes:
        usage: the sum of the responses' numbers: `calls`, `prompt_tokens`, `completion_tokens`, `cost`, `fallback`, ….
    """

    dialogues: int = 0
    turns: int = 0
    failed: int = 0
    usage: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, dialogues: int, turns: int, failed: int, usage: Mapping[str, float]) -> None:
        """Add counts."""
        with self._lock:
            self.dialogues += dialogues
            self.turns += turns
            self.failed += failed
            for key, value in usage.items():
                self.usage[key] += value  # type: ignore[assignment]

    def count(self, answers: Sequence[StoredResponse], dialogues: int = 0) -> None:
        """Add answers."""
        usage: Counter[str] = Counter()
        for answer in answers:
            for key, value in answer.usage.items():
                usage[key] += value  # type: ignore[assignment]
        self.add(dialogues, len(answers), sum(1 for answer in answers if answer.error), usage)


def one_after_the_other(job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally) -> Iterator[None]:
    """Answer shards in this process, in order."""
    job.prepare()
    for number in numbers:
        yield from answer_shard(job, run, number, tally)


def in_order(job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally) -> Iterator[None]:
    """Answer shards of a baseline that remembers earlier dialogues: those already answered go by again, without an answer."""
    job.prepare()
    missing = set(numbers)
    for number in range(max(missing) + 1):
        if number in missing:
            yield from answer_shard(job, run, number, tally)
        else:
            for _ in job.shard(number, by_turn(run.shard_responses(number))):
                pass


def in_threads(job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally, workers: int) -> Iterator[None]:
    """Answer shards in threads over one prepared baseline: one meter, one budget, one local server."""
    stop = threading.Event()
    job.stopped = stop.is_set
    job.prepare()

    def work(number: int) -> None:
        for _ in answer_shard(job, run, number, tally):
            pass

    with ThreadPoolExecutor(workers) as executor:
        futures = [executor.submit(work, number) for number in numbers]
        try:
            yield from _results(futures)
        finally:  # Ctrl-C, a spent budget, a strict run: the turns under way are finished, no other is begun
            stop.set()
            executor.shutdown(cancel_futures=True)


def in_processes(job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally, workers: int) -> Iterator[None]:
    """Answer shards in processes, each with a baseline of its own.

    Raises:
        TraceError: a process died: it was killed, or ran out of memory.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    stop = context.RawValue("b", 0)  # no Event: one whose waiting process has died blocks for ever
    executor = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start, initargs=(job, run, stop, os.getpid(), workers)
    )
    futures = [executor.submit(_work, number) for number in numbers]
    try:
        for done in _results(futures):
            if done is not None:
                tally.add(*done)
            yield
    except BrokenProcessPool:
        raise TraceError(
            "a worker process died: it was killed, ran out of memory, or the baseline ended it",
            do="run the same command again, it goes on where it stopped; with --workers 1 to see the turn",
        ) from None
    finally:
        stop.value = 1
        executor.shutdown(cancel_futures=True)


def answer_shard(job: Job, run: RunFolder, number: int, tally: Tally) -> Iterator[None]:
    """Answer what is left of a shard and write it; yields after each dialogue."""
    answers: list[StoredResponse] = []
    counted = 0
    with Part(run, number) as part:
        if run.has_shard(number):  # a worker that outlived a killed run has finished it meanwhile
            answers = run.shard_responses(number)
            tally.count(answers, dialogues=len({answer.dialogue_id for answer in answers}))
            run.part(number).unlink(missing_ok=True)
            return
        known = by_turn(part.answers)
        for answer in job.shard(number, known):
            if answers and answers[-1].dialogue_id != answer.dialogue_id:
                tally.count(answers[counted:], dialogues=1)
                counted = len(answers)
                yield
            if (answer.dialogue_id, answer.turn_index) not in known:
                part.append(answer)
            answers.append(answer)
    run.write_shard(number, answers)
    tally.count(answers[counted:], dialogues=1)
    yield


def by_turn(answers: Sequence[StoredResponse]) -> Known:
    """Return answers by dialogue and turn; a turn that no service answered is to be asked again."""
    return {(answer.dialogue_id, answer.turn_index): answer for answer in answers if not is_unavailable(answer)}


def _results(futures: Sequence[Future[Any]]) -> Iterator[Any]:
    """Yield results as they come, and None now and then in between; raises what the first that failed raised."""
    left = set(futures)
    while left:
        done, left = wait(left, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
        if not done:
            yield None
        for future in done:
            try:
                yield future.result()
            except Stopped:  # another one has failed, and is among these
                continue


def share_processors(workers: int) -> None:
    """Give this worker its part of the processors: libraries that would start a thread on each get in each other's way."""
    share = max(1, len(os.sched_getaffinity(0)) // workers) if hasattr(os, "sched_getaffinity") else 1
    os.environ.setdefault("OMP_NUM_THREADS", str(share))  # for libraries that are not loaded yet
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(min(share, sys.modules["torch"].get_num_threads()))


_job: tuple[Job, RunFolder] | None = None
_fault: TraceError | None = None


def _start(job: Job, run: RunFolder, stop: Any, parent: int, workers: int) -> None:
    """Begin a worker process: no Ctrl-C of its own, and an end when the run ends, however that ends."""
    global _job, _fault
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr
    share_processors(workers)
    threading.Thread(target=_end_with, args=(stop, parent), daemon=True).start()
    try:
        job.prepare()
    except TraceError as error:
        _fault = error
    _job = job, run


def _end_with(stop: Any, parent: int) -> None:
    while not stop.value and os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


def _work(number: int) -> tuple[int, int, int, Mapping[str, float]]:
    if _fault is not None:
        raise _fault
    assert _job is not None
    tally = Tally()
    for _ in answer_shard(*_job, number, tally):
        pass
    return tally.dialogues, tally.turns, tally.failed, dict(tally.usage)
