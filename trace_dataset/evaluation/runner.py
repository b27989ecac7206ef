"""From a baseline to stored responses: teacher-forced, in shards, resumable, with any number of workers.

A baseline that raises, ranks a place outside the pool, or answers with nothing costs the turn, never the run: the turn is
recorded as failed with the reason, scored as a miss, and counted.
"""

from __future__ import annotations

import hashlib
import inspect
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from hydrate.errors import TraceError, UsageError
from trace_dataset.baseline import Baseline
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.evaluation.mentions import scored_places
from trace_dataset.evaluation.run_folder import RunFolder, StoredResponse
from trace_dataset.evaluation.stored import store_text
from trace_dataset.installed import code_digest
from trace_dataset.pools import pool_name
from trace_dataset.release import Benchmark
from trace_dataset.schema import Dialogue
from trace_dataset.turns import PastTurn, Response, TurnContext

DIALOGUES_PER_SHARD = 100
SEED = 42
Progress = Callable[[int, int, int], None]  # dialogues done, all of them, failed turns so far


class _Job:
    """Everything a worker needs; made once a process."""

    def __init__(
        self, baseline: Baseline, benchmark: Benchmark, dialogues: Sequence[Dialogue], pool: str, strict: bool
    ) -> None:
        self.baseline, self.benchmark, self.dialogues, self.pool, self.strict = (
            baseline,
            benchmark,
            dialogues,
            pool,
            strict,
        )
        baseline.prepare(benchmark.kb)

    def shard(self, number: int) -> list[StoredResponse]:
        """Answer every system turn of one shard of dialogues."""
        start = number * DIALOGUES_PER_SHARD
        return [
            answer
            for dialogue in self.dialogues[start : start + DIALOGUES_PER_SHARD]
            for answer in self._dialogue(dialogue)
        ]

    def _dialogue(self, dialogue: Dialogue) -> list[StoredResponse]:
        kb = self.benchmark.kb
        contexts = list(turn_contexts(dialogue, kb.cells, self.pool, SEED, self.baseline.name))
        self.baseline.reset(dialogue.dialogue_id)
        answers, seen = [], 0
        for index, context in contexts:
            for turn in dialogue.turns[seen:index]:
                self.baseline.observe(PastTurn.of(turn))
            seen = index
            response = self._answer(context)
            named, dropped = scored_places(
                response.text, response.poi_ids, {place: kb.pois[place].name for place in response.poi_ids}
            )
            reviews = [review for place in context.pool for review in kb.reviews_of[place]]
            answers.append(
                StoredResponse(
                    dialogue.dialogue_id,
                    index,
                    context.action,
                    store_text(response, reviews, self.benchmark.finder),
                    named,
                    dropped,
                    response.citations,
                    response.ranking,
                    response.usage,
                    response.error,
                )
            )
        return answers

    def _answer(self, context: TurnContext) -> Response:
        try:
            ranking = self.baseline.rank(context)
            fault = ranking_fault(ranking, context.pool)
            response = self.baseline.respond(context, ranking) if fault is None else None
            fault = fault or response_fault(response, context)
        except (
            Exception,
            SystemExit,
        ) as error:  # a stranger's code: whatever it raises is recorded, or stops a strict run
            if self.strict:
                raise UsageError(
                    f"{self.baseline.name}, dialogue {context.dialogue_id}: {type(error).__name__}: {error}",
                    do="mend the baseline, or run without --strict",
                ) from error
            return Response("", error=f"{type(error).__name__}: {error}"[:500])
        if fault is not None or response is None:
            if self.strict:
                raise UsageError(
                    f"{self.baseline.name}, dialogue {context.dialogue_id}: {fault}",
                    do="mend the baseline, or run without --strict",
                )
            return Response("", error=fault)
        return response


def run_baseline(
    baseline: Baseline,
    benchmark: Benchmark,
    folder: Path,
    *,
    pool: str | int = "closed",
    split: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    strict: bool = False,
    progress: Progress | None = None,
) -> RunFolder:
    """Run a baseline over a benchmark and store its responses; a run that was interrupted continues.

    Args:
        folder: where the run is kept.
        pool: `closed` (8), 16, 32 or `open`.
        split: `train`, `validation`, `test`, or None for all dialogues (the paper's protocol).
        limit: only the first dialogues.
        workers: local processes; the result is the same for any number.
        strict: stop at the first failed turn.

    Raises:
        UsageError: the folder holds another run.
    """
    if not benchmark.texts:
        raise UsageError(
            "a benchmark without review text cannot be run", do="name your Yelp bundle with yelp_path=… (--yelp)"
        )
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit} leaves nothing to run", do="give 1 or more, or leave it out for all dialogues")
    name = pool_name(pool)
    dialogues = benchmark.split(split)[:limit]
    shards = -(-len(dialogues) // DIALOGUES_PER_SHARD)
    run = RunFolder.create(
        folder,
        {
            "baseline": baseline.name,
            "code": baseline_digest(baseline),
            "pool": name,
            "split": split or "all",
            "limit": limit,
            "dialogues": len(dialogues),
            "shards": shards,
            "seed": SEED,
            "version": code_digest()[:16],
            "content_digest": benchmark.release.manifest.content_digest,
            "bundle_fingerprint": benchmark.release.manifest.bundle_fingerprint,
            "session_isolated": getattr(baseline, "session_isolated", True),
            "control": baseline.name in CONTROLS,
            **({"origin": baseline.origin} if baseline.origin else {}),
        },
    )
    left = [number for number in range(shards) if not run.has_shard(number)]
    done, failed = len(dialogues) - sum(_size(number, dialogues) for number in left), 0
    arguments = (baseline, benchmark, dialogues, name, strict)
    if left:
        benchmark.finder.prepare()  # before processes are forked, so that they share it
    for number, answers in _answers(arguments, left, workers):
        run.write_shard(number, answers)
        done += _size(number, dialogues)
        failed += sum(1 for answer in answers if answer.error)
        if progress is not None:
            progress(done, len(dialogues), failed)
    return run


def ranking_fault(ranking: Any, pool: Sequence[str]) -> str | None:
    """Return what is wrong with a ranking, or None."""
    if not isinstance(ranking, (list, tuple)):
        return f"rank returned {type(ranking).__name__}, not a list of business ids"
    if not ranking:
        return "rank returned no place"
    outside = [place for place in ranking if place not in pool]
    if outside:
        return f"rank returned {outside[0]!r}, which is not in the pool"
    if len(set(ranking)) != len(ranking):
        return "rank returned a place twice"
    return None


def response_fault(response: Any, context: TurnContext) -> str | None:
    """Return what is wrong with a response, or None."""
    if not isinstance(response, Response):
        return f"respond returned {type(response).__name__}, not a Response"
    if response.error is None and not response.text.strip():
        return "respond returned an empty text"
    outside = [place for place in response.poi_ids if place not in context.pool]
    if outside:
        return f"respond named {outside[0]!r}, which is not in the pool"
    return None


def baseline_digest(baseline: Baseline) -> str:
    """Return a digest of the file that defines a baseline."""
    try:
        return hashlib.sha256(Path(inspect.getfile(type(baseline))).read_bytes()).hexdigest()[:16]
    except (TypeError, OSError):  # defined in a notebook or at a prompt: there is no file
        return "interactive"


def _size(number: int, dialogues: Sequence[Dialogue]) -> int:
    return min(DIALOGUES_PER_SHARD, len(dialogues) - number * DIALOGUES_PER_SHARD)


_worker: _Job | None = None


def _start(arguments: tuple[Any, ...]) -> None:
    global _worker
    _worker = _Job(*arguments)


def _work(number: int) -> tuple[int, list[StoredResponse]]:
    assert _worker is not None
    return number, _worker.shard(number)


def _answers(arguments: tuple[Any, ...], shards: Sequence[int], workers: int) -> Any:
    if workers <= 1 or len(shards) <= 1:
        if shards:
            job = _Job(*arguments)
            yield from ((number, job.shard(number)) for number in shards)
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=(arguments,)) as executor:
        futures = [executor.submit(_work, number) for number in shards]
        try:
            for future in as_completed(futures):
                yield future.result()
        except TraceError:
            executor.shutdown(cancel_futures=True)
            raise
