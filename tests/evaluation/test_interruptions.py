"""Runs that are killed, run twice, or disturbed: the same bytes in the end, and no finished answer asked for twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from hydrate import BundleError, StorageError, TraceError, UsageError
from tests.disks import fill, tmpfs
from trace_dataset.baseline import Baseline, load_folder
from trace_dataset.evaluation import RunFolder, run_baseline
from trace_dataset.lm import UNAVAILABLE, LmStopped
from trace_dataset.turns import Response

ROOT = Path(__file__).resolve().parents[2]
SLOW = """
import os, time
from trace_dataset.baseline import Baseline

class Slow(Baseline):
    def rank(self, turn):
        if "TURN_LOG" in os.environ:
            with open(os.environ["TURN_LOG"], "a") as log:
                log.write(f"{turn.dialogue_id}/{len(turn.history)}\\n")
            time.sleep(0.01)
        return sorted(turn.pool)
"""
REMEMBERS = """
import os, time
from trace_dataset.baseline import Baseline
from trace_dataset.turns import Response

class Remembers(Baseline):
    session_isolated = False

    def prepare(self, kb):
        super().prepare(kb)
        self.seen = []

    def observe(self, turn):
        if turn.role == "user":
            self.seen.append(turn.text)

    def rank(self, turn):
        self.seen.append(turn.persona_description)
        return sorted(turn.pool)

    def respond(self, turn, ranking):
        if "TURN_LOG" in os.environ:
            with open(os.environ["TURN_LOG"], "a") as log:
                log.write(f"{turn.dialogue_id}/{len(turn.history)}\\n")
            time.sleep(0.01)
        return Response(f"I have heard {len(self.seen)} things, the last of {len(self.seen[-1])} characters.")
"""


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr("trace_dataset.evaluation.runner.DIALOGUES_PER_SHARD", 20)
    monkeypatch.setattr("trace_dataset.evaluation.runner.DIALOGUES_PER_PAID_SHARD", 2)


def written(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / f"{folder.name}.py").write_text(text)
    return folder


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "responses").iterdir())}


def killed_in_the_middle(baseline: Path, bundle: Path, out: Path, log: Path, workers: int, after: int) -> None:
    """Run in a process of its own, and kill it without warning once so many turns were asked for."""
    script = (
        "from pathlib import Path; import trace_dataset.evaluation.runner as runner; runner.DIALOGUES_PER_SHARD = 20\n"
        "from trace_dataset.baseline import load_folder; from trace_dataset.release import Source, open_benchmark\n"
        f"benchmark = open_benchmark(Source(yelp_path={str(bundle)!r}, n_dialogues=240))\n"
        f"runner.run_baseline(load_folder(Path({str(baseline)!r})), benchmark, Path({str(out)!r}), workers={workers})\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TURN_LOG": str(log)}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment)
    until = time.monotonic() + 60
    while (len(log.read_text().splitlines()) if log.exists() else 0) < after:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize(("text", "workers"), [(SLOW, 1), (SLOW, 2), (REMEMBERS, 2)])
def test_a_killed_run_goes_on_behind_its_last_answer(benchmark, sample_bundle, tmp_path, text, workers, monkeypatch):
    baseline = written(tmp_path / "base", text)
    log, out = tmp_path / "turns.log", tmp_path / "killed"
    killed_in_the_middle(baseline, sample_bundle, out, log, workers, after=150)
    with pytest.raises(BundleError, match="unfinished"):
        RunFolder.open(out).responses()
    monkeypatch.setenv("TURN_LOG", str(log))
    run_baseline(load_folder(baseline), benchmark, out, workers=2)
    monkeypatch.delenv("TURN_LOG")
    run_baseline(load_folder(baseline), benchmark, tmp_path / "whole")
    assert shards(out) == shards(tmp_path / "whole")
    asked = Counter(log.read_text().splitlines())
    turns = sum(turn.role == "system" for item in benchmark.dialogues for turn in item.turns)
    assert len(asked) == turns
    assert sum(asked.values()) - turns <= workers, "only what was under way when the kill came is asked for again"


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_run_and_its_workers_and_the_same_command_goes_on(sample_bundle, tmp_path, workers):
    baseline, log = written(tmp_path / "base", SLOW), tmp_path / "turns.log"

    def command(out: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "trace_dataset.cli", "run", str(baseline), "--yelp", str(sample_bundle)),
                *("--dialogues", "240", "--workers", str(workers), "--out", str(tmp_path / out)),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            start_new_session=True,  # a terminal sends Ctrl-C to every process of the group
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    process = command("run", TURN_LOG=str(log))
    until = time.monotonic() + 60
    while (len(log.read_text().splitlines()) if log.exists() else 0) < 150:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command goes on" in told
    assert "Traceback" not in told
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # no worker is left
    for out in ("run", "whole"):
        _, told = command(out).communicate(timeout=60)
        assert "Error" not in told
    assert shards(tmp_path / "run" / "base-closed") == shards(tmp_path / "whole" / "base-closed")


def test_a_torn_answer_is_cut_off_and_foreign_ones_are_not_taken(benchmark, tmp_path):
    baseline = load_folder(written(tmp_path / "base", SLOW))
    run = run_baseline(baseline, benchmark, tmp_path / "run", limit=20)
    whole = shards(tmp_path / "run")
    other = run_baseline(baseline, benchmark, tmp_path / "other", limit=20, pool=16)
    run.reopen(0, run.shard_responses(0)[:7])
    with run.part(0).open("ab") as part:
        part.write(b'{"dialogue_id": "torn')
    (tmp_path / "run" / "responses" / ".half-00000.parquet-x").write_bytes(b"killed while it was renamed")
    run_baseline(baseline, benchmark, tmp_path / "run", limit=20)
    assert shards(tmp_path / "run") == whole
    run.shard(0).write_bytes(other.shard(0).read_bytes())
    assert not run.has_shard(0), "a shard of another run"
    other.reopen(0, other.shard_responses(0)[:7])
    run.part(0).write_bytes(other.part(0).read_bytes())
    run_baseline(baseline, benchmark, tmp_path / "run", limit=20)
    assert shards(tmp_path / "run") == whole


def test_a_shard_with_a_flipped_byte_is_told(benchmark, tmp_path):
    run = run_baseline(load_folder(written(tmp_path / "base", SLOW)), benchmark, tmp_path / "run", limit=20)
    data = bytearray(run.shard(0).read_bytes())
    data[len(data) // 3] ^= 0xFF
    run.shard(0).write_bytes(bytes(data))
    with pytest.raises(BundleError, match=r"00000\.parquet is missing or damaged"):
        run.responses()


def test_responses_without_the_description_of_their_run_are_not_taken_for_this_one(benchmark, tmp_path):
    baseline = load_folder(written(tmp_path / "base", SLOW))
    run_baseline(baseline, benchmark, tmp_path / "run", limit=20)
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(UsageError, match=r"run\.json is missing or damaged"):
        run_baseline(baseline, benchmark, tmp_path / "run", limit=20)


def test_two_runs_do_not_share_a_folder(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr("trace_dataset.evaluation.run_folder.LOCK_WAIT", 0.1)
    baseline = load_folder(written(tmp_path / "base", SLOW))
    run = run_baseline(baseline, benchmark, tmp_path / "run", limit=20)
    with run.locked(), pytest.raises(UsageError, match="another process is writing"):
        run_baseline(baseline, benchmark, tmp_path / "run", limit=20)


def test_a_worker_that_dies_ends_the_run_with_one_error_and_the_run_goes_on(benchmark, tmp_path):
    text = SLOW.replace('if "TURN_LOG"', 'if os.path.exists(os.environ["DEADLY"]): os._exit(9)\n        if "TURN_LOG"')
    deadly = tmp_path / "deadly"
    deadly.touch()
    os.environ["DEADLY"] = str(deadly)
    baseline = written(tmp_path / "base", text)
    with pytest.raises(TraceError, match="a worker process died"):
        run_baseline(load_folder(baseline), benchmark, tmp_path / "run", workers=2)
    deadly.unlink()
    run = run_baseline(load_folder(baseline), benchmark, tmp_path / "run", workers=2)
    assert len({answer.dialogue_id for answer in run.responses()}) == len(benchmark.dialogues)


def test_a_full_disk_is_one_error_and_the_run_goes_on_when_there_is_room(benchmark, tmp_path):
    baseline = load_folder(written(tmp_path / "base", SLOW))
    with tmpfs(tmp_path / "disk", "1m") as disk:
        fill(disk, leave=120_000)
        with pytest.raises(StorageError, match="cannot be written"):
            run_baseline(baseline, benchmark, disk / "run")
        assert not list((disk / "run" / "responses").glob(".half-*"))
        (disk / "filler").unlink()
        run_baseline(baseline, benchmark, disk / "run")
        run_baseline(baseline, benchmark, tmp_path / "whole")
        assert shards(disk / "run") == shards(tmp_path / "whole")


class Paid(Baseline):
    """Asks a service whose budget ends after some turns, or that fails for some."""

    name = "paid"
    uses_lm = True
    left = 10**9
    failing = frozenset()

    def __init__(self):
        self.asked = []

    def rank(self, turn):
        return sorted(turn.pool)

    def respond(self, turn, ranking):
        key = turn.dialogue_id, len(turn.history)
        if len(self.asked) >= self.left:
            raise LmStopped("the budget is spent", do="give more")
        self.asked.append(key)
        if key in self.failing:
            return Response("", error=f"{UNAVAILABLE}timeout")
        return Response(f"An answer to {key}.", usage={"calls": 1, "prompt_tokens": 10, "cost": 0.5})


@pytest.mark.parametrize("workers", [1, 3])
def test_a_spent_budget_stops_cleanly_and_no_paid_answer_is_lost(benchmark, tmp_path, workers):
    first, second, states = Paid(), Paid(), []
    first.left = 33
    with pytest.raises(LmStopped, match="budget"):
        run_baseline(first, benchmark, tmp_path / "run", limit=20, workers=workers)
    run_baseline(second, benchmark, tmp_path / "run", limit=20, workers=workers, progress=states.append)
    turns = sum(turn.role == "system" for item in benchmark.dialogues[:20] for turn in item.turns)
    assert len(set(first.asked)) == 33
    assert not set(first.asked) & set(second.asked)
    assert len(first.asked) + len(second.asked) == turns
    run_baseline(Paid(), benchmark, tmp_path / "whole", limit=20)
    assert shards(tmp_path / "run") == shards(tmp_path / "whole")
    assert states[-1].usage == {"calls": turns, "prompt_tokens": 10 * turns, "cost": 0.5 * turns}
    assert (states[-1].done, states[-1].total) == (20, 20)


def test_turns_that_no_service_answered_are_asked_again(benchmark, tmp_path):
    first, second = Paid(), Paid()
    dialogue = benchmark.dialogues[1]
    first.failing = {(dialogue.dialogue_id, turn.index) for turn in dialogue.turns}
    run = run_baseline(first, benchmark, tmp_path / "run", limit=4)
    assert sum(answer.error is not None for answer in run.responses()) == len(
        second.asked or first.failing & set(first.asked)
    )
    run_baseline(second, benchmark, tmp_path / "run", limit=4)
    assert set(second.asked) == first.failing & set(first.asked)
    assert not any(answer.error for answer in run.responses())
