"""A new baseline runs as it is written, and the tutorial in `baselines/README.md` works command by command."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hydrate import StorageError, UsageError
from tests.disks import make_read_only, tmpfs
from trace_dataset.baseline import load_baseline
from trace_dataset.cli import main
from trace_dataset.cli.new_baseline import write_baseline
from trace_dataset.evaluation import evaluate_baseline
from trace_dataset.installed import hub_names

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "baselines" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(<!-- push[^\n]*\n)?```(bash|python)\n(.*?)```", README, re.DOTALL)
OURS = [(kind, body) for pushed, kind, body in BLOCKS if not pushed]
SHELL = [line for kind, body in OURS if kind == "bash" for line in body.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("empty")


def run(words: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{words}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_tutorial_works_from_an_empty_folder(folder):
    """The set-up line is that of the README, whose parts test_packaging runs; the push commands are run in tests/hub."""
    assert SHELL[0].startswith("python3 -m venv .venv")
    program = {"trace-dataset": [sys.executable, "-m", "trace_dataset.cli"], "python": [sys.executable]}
    (change,) = [body for kind, body in OURS if kind == "python"]
    shown = {}
    for line in SHELL[1:]:
        words = shlex.split(line)
        if line.startswith("trace-dataset run"):
            (folder / "my_idea" / "my_idea.py").write_text(change)
        shown[line] = run([*program.get(words[0], [words[0]]), *words[1:]], folder)
    compared = shown["grep RejRec report/tables/table-21-closed.md"]
    assert re.search(r"\| my\\_idea \| tfidf \| RejRec \| \+0\.\d{3} \[\+0\.\d{3}, \+0\.\d{3}\] \| yes ", compared)


def test_the_table_names_every_baseline_and_those_that_ask_a_model():
    rows = re.findall(r"^\| \[(\w+)\]\(\1\) \| .+ \| B\d+ \| (yes)? ?\|$", README, re.MULTILINE)
    assert sorted(name for name, _ in rows) == hub_names("baselines")
    for name, asks in rows:
        tree = ast.parse((ROOT / "baselines" / name / f"{name}.py").read_text(encoding="utf-8"))
        (kind,) = [item for item in tree.body if isinstance(item, ast.ClassDef) and item.bases]
        assert bool(asks) == ("LmBaseline" in ast.dump(kind.bases[0])), name


def test_a_new_baseline_is_a_card_a_module_and_a_test(tmp_path, capsys):
    assert main(["new-baseline", "quiet_places", "--into", str(tmp_path)]) == 0
    assert "python -m pytest" in capsys.readouterr().out
    made = tmp_path / "quiet_places"
    assert sorted(path.name for path in made.iterdir()) == ["README.md", "quiet_places.py", "test_quiet_places.py"]
    assert (made / "README.md").read_text().startswith("# Quiet places\n")
    assert type(load_baseline(str(made))).__name__ == "QuietPlaces"


def test_it_runs_at_once_and_takes_no_for_an_answer(benchmark, tmp_path):
    mine = evaluate_baseline(str(write_baseline("my_idea", tmp_path)), benchmark, strict=True)
    theirs = evaluate_baseline("tfidf", benchmark, strict=True)
    assert mine.n_failed == 0
    assert mine.estimates()["gs"].value == 1.0
    assert mine.estimates()["rejection_recovery"].value > theirs.estimates()["rejection_recovery"].value


@pytest.mark.parametrize("name", ["My-Idea", "1st", "a", "class", "../up", "tfidf", "oracle", "ünder", "json", "numpy"])
def test_a_name_that_will_not_do(tmp_path, name):
    with pytest.raises(UsageError, match="name"):
        write_baseline(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_that_is_there_is_touched(tmp_path):
    made = write_baseline("my_idea", tmp_path)
    (made / "my_idea.py").write_text("a week's work")
    with pytest.raises(UsageError, match="exists already"):
        write_baseline("my_idea", tmp_path)
    assert (made / "my_idea.py").read_text() == "a week's work"


def test_a_disk_that_cannot_be_written(tmp_path):
    with tmpfs(tmp_path / "disk") as disk:
        make_read_only(disk)
        with pytest.raises(StorageError, match="--into"):
            write_baseline("my_idea", disk)
