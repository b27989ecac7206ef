"""From a baseline to stored responses: teacher-forced, in shards, resumable, with any number of workers.

A baseline that raises, ranks a place outside the pool, or answers with nothing costs the turn, never the run: the turn is
recorded as failed with the reason, scored as a miss, and counted.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.errors import TraceError, UsageError
from trace_dataset.baseline import Baseline
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.evaluation.engines import Tally, in_order, in_processes, in_threads, one_after_the_other
from trace_dataset.evaluation.identity import baseline_digest, parameters_of, run_version
from trace_dataset.evaluation.job import SEED, Job, is_unavailable
from trace_dataset.evaluation.limits import check_alarms
from trace_dataset.evaluation.ray_engine import on_ray
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.pools import pool_name
from trace_dataset.release import Benchmark
from trace_dataset.schema import Dialogue

LONGEST_TURN = 86_400.0  # seconds
DIALOGUES_PER_SHARD = 100
DIALOGUES_PER_PAID_SHARD = 5  # of a language model: threads share the work in smaller pieces


@dataclass(frozen=True)
class Progress:
    """How far a run is. `usage` holds the sums of what its responses took: `calls`, `prompt_tokens`, `cost`, `fallback`, …."""

    done: int
    total: int
    failed: int
    usage: Mapping[str, float] = field(default_factory=dict)


def run_baseline(
    baseline: Baseline,
    benchmark: Benchmark,
    folder: Path,
    *,
    pool: str | int = "closed",
    split: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    ray: str | None = None,
    strict: bool = False,
    turn_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RunFolder:
    """Run a baseline over a benchmark and store its responses; a run that was interrupted continues.

    Args:
        folder: where the run is kept; one process at a time.
        pool: `closed` (8), 16, 32 or `open`.
        split: `train`, `validation`, `test`, or None for all dialogues (the paper's protocol).
        limit: only the first dialogues.
        workers: local processes, or threads for a baseline that asks a language model; the result is the same for any number.
            A baseline that remembers earlier dialogues (`session_isolated = False`) runs in their order, whatever is given.
        ray: the address of a Ray cluster, or `local`; instead of local processes.
        strict: stop at the first failed turn.
        turn_seconds: the longest that a turn may take, else it has failed; None for no limit.
        progress: called as dialogues are done.

    Raises:
        UsageError: the folder holds another run, or another process is writing it.
        TraceError: the baseline could not be prepared, a worker died, or a turn failed in a strict run.
        LmStopped: the budget is spent, or the service does not answer; the same call goes on where this one stopped.
        StorageError: the disk is full.

    Example:
        >>> run_baseline(load_baseline("tfidf"), benchmark, Path("runs/tfidf"), workers=2)  # doctest: +SKIP
    """
    _check(benchmark, limit, workers, turn_seconds)
    dialogues = benchmark.split(split)[:limit]
    per_shard = DIALOGUES_PER_PAID_SHARD if baseline.uses_lm else DIALOGUES_PER_SHARD
    settings = run_settings(baseline, benchmark, dialogues, pool_name(pool), split, limit, per_shard, turn_seconds)
    run = RunFolder.create(folder, settings)
    job = Job(baseline, benchmark, dialogues, pool_name(pool), per_shard, strict, turn_seconds)
    with run.locked():
        tally = _so_far(run, strict)
        left = run.missing()
        if left:
            benchmark.finder.prepare()  # before processes are forked, so that they share it
            shown = sys.stdout
            try:
                with contextlib.redirect_stdout(sys.stderr):  # what a baseline prints is not the command's output
                    for _ in _engine(job, run, left, tally, workers, ray):
                        if progress is not None:
                            with contextlib.redirect_stdout(shown):
                                progress(Progress(tally.dialogues, len(dialogues), tally.failed, dict(tally.usage)))
            finally:
                job.close()
    return run


def run_settings(
    baseline: Baseline,
    benchmark: Benchmark,
    dialogues: Sequence[Dialogue],
    pool: str,
    split: str | None,
    limit: int | None,
    per_shard: int,
    turn_seconds: float | None,
) -> dict[str, Any]:
    """Return everything that the responses of a run depend on, and what a table says about it."""
    manifest = benchmark.release.manifest
    return {
        "baseline": baseline.name,
        "code": baseline_digest(baseline),
        "parameters": parameters_of(baseline),
        "pool": pool,
        "split": split or "all",
        "limit": limit,
        "dialogues": len(dialogues),
        "shards": -(-len(dialogues) // per_shard),
        "turn_seconds": turn_seconds,
        "seed": SEED,
        "version": run_version(),
        "content_digest": manifest.content_digest,
        "generator": manifest.generator,
        "bundle_fingerprint": manifest.bundle_fingerprint,
        "session_isolated": baseline.session_isolated,
        "control": baseline.name in CONTROLS,
        **({"origin": baseline.origin} if baseline.origin else {}),
    }


def _check(benchmark: Benchmark, limit: int | None, workers: int, turn_seconds: float | None) -> None:
    if not benchmark.texts:
        raise UsageError(
            "a benchmark without review text cannot be run", do="name your Yelp bundle with yelp_path=… (--yelp)"
        )
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit} leaves nothing to run", do="give 1 or more, or leave it out for all dialogues")
    if workers < 1:
        raise UsageError(f"workers={workers} is no number of workers", do="give 1 or more")
    if turn_seconds is not None:
        if not 0 < turn_seconds <= LONGEST_TURN:
            raise UsageError(
                f"turn_seconds={turn_seconds} is no time for a turn",
                do="give more than 0, at most a day, or leave it out",
            )
        check_alarms()


def _so_far(run: RunFolder, strict: bool) -> Tally:
    """Count what earlier calls have answered; a shard in which a service gave no answer is taken up again."""
    tally = Tally()
    for number in range(int(run.settings["shards"])):
        if not run.has_shard(number):
            continue
        answers = run.shard_responses(number)
        failed = next((answer for answer in answers if answer.error and not is_unavailable(answer)), None)
        if strict and failed is not None:
            raise TraceError(
                f"dialogue {failed.dialogue_id}, turn {failed.turn_index} had failed before: {failed.error}",
                do=f"mend the baseline, or run without --strict; the run is in {run.folder}",
            )
        if any(is_unavailable(answer) for answer in answers):
            run.reopen(number, [answer for answer in answers if not is_unavailable(answer)])
        else:
            tally.count(answers, dialogues=len({answer.dialogue_id for answer in answers}))
    return tally


def _engine(
    job: Job, run: RunFolder, numbers: Sequence[int], tally: Tally, workers: int, ray: str | None
) -> Iterator[None]:
    if not job.baseline.session_isolated:
        return in_order(job, run, numbers, tally)
    if job.baseline.uses_lm:
        if ray is not None:
            raise UsageError(
                "a run with a language model waits for a service, not for processors, and its budget is kept in one process",
                do="leave --ray out and give --workers",
            )
        return in_threads(job, run, numbers, tally, workers)
    if ray is not None:
        return on_ray(job, run, numbers, tally, ray)
    if workers == 1 or len(numbers) == 1:
        return one_after_the_other(job, run, numbers, tally)
    return in_processes(job, run, numbers, tally, min(workers, len(numbers)))
