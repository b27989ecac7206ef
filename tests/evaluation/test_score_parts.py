"""Scores are the same however many processes make them."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from hydrate import BundleError, TraceError
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import RunFolder, run_baseline, score_run
from trace_dataset.evaluation.score import SCORES, columns_of_scores
from trace_dataset.evaluation.score_parts import parts_of, score_in_parts


@pytest.fixture(scope="module")
def run(benchmark, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trace_dataset.evaluation.runner.DIALOGUES_PER_SHARD", 7)
        return run_baseline(load_baseline("tfidf"), benchmark, tmp_path_factory.mktemp("run"), limit=60)


@pytest.mark.parametrize("workers", [2, 3, 50])
def test_any_number_of_processes_gives_the_same_bytes(run, benchmark, workers):
    score_run(run, benchmark)
    alone = (run.folder / SCORES).read_bytes()
    (run.folder / SCORES).unlink()
    score_run(run, benchmark, workers)
    assert (run.folder / SCORES).read_bytes() == alone


def test_parts_hold_every_shard_and_every_dialogue_once(run, benchmark):
    dialogues = benchmark.dialogues[:60]
    for wanted in range(2, 12):
        parts = parts_of(run, dialogues, wanted)
        assert [number for shards, _ in parts for number in shards] == list(range(9))
        assert [item.dialogue_id for _, part in parts for item in part] == [item.dialogue_id for item in dialogues]
        assert 1 < len(parts) <= wanted


def test_a_damaged_shard_and_foreign_dialogues_are_told_by_any_number_of_processes(run, benchmark, tmp_path):
    settings = RunFolder.open(run.folder).settings
    copy = RunFolder.create(tmp_path / "copy", settings)
    for number in range(9):
        copy.shard(number).write_bytes(run.shard(number).read_bytes())
    copy.shard(8).write_bytes(b"PAR1")
    for workers in (1, 2):
        with pytest.raises(BundleError, match="missing or damaged"):
            score_run(copy, benchmark, workers)
        with pytest.raises(BundleError, match="no response"):
            score_in_parts(run, benchmark.dialogues[60:120], score(benchmark), workers)


def test_a_process_that_is_killed_is_one_error(run, benchmark):
    def killed(dialogues, responses):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(TraceError, match="--workers 1"):
        score_in_parts(run, benchmark.dialogues[:60], killed, 2)


def score(benchmark):
    return partial(columns_of_scores, benchmark=benchmark)
