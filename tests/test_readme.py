"""Every command and every line of code in the README is run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(bash|python)\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for kind, body in BLOCKS if kind == "bash" for line in body.splitlines() if line.strip()]
VERBS = [line for line in COMMANDS if line.startswith("trace-dataset")]
SET_UP = [line for line in COMMANDS if line.startswith("python3 -m venv")]


def test_the_set_up_is_two_commands():
    """Run for real by test_packaging (the first one's parts) and by .ci/run (the second, word for word)."""
    assert len(SET_UP) == 2
    assert SET_UP[0].endswith("trace-dataset demo")
    assert "pytest" in SET_UP[1]
    assert set(COMMANDS) == {*SET_UP, *VERBS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_the_commands_work_in_their_order_and_then_the_code_does(folder: Path):
    for line in VERBS:
        assert run([sys.executable, "-m", "trace_dataset.cli", *shlex.split(line)[1:]], folder)
    code = "\n".join(body for kind, body in BLOCKS if kind == "python")
    shown = run([sys.executable, "-c", code], folder).splitlines()
    assert re.fullmatch(r"\S.* (restaurant|hotel|attraction) \d+", shown[-3])
    assert float(shown[-2]) == 1.0
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", shown[-1])


def test_the_paths_it_names_exist():
    for name in re.findall(r"`((?:metrics|baselines|trace_dataset|hydrate)/[^`<]*)`", README):
        assert (ROOT / name).exists(), name
