"""The wheel carries everything: installed in an empty environment, away from the checkout, the whole way works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy of the tracked files, so that a stale `build/` cannot put a deleted folder back."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    names = [
        name
        for name in subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if (ROOT / name).is_file()
    ]
    for name in names:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", out, source, cwd=out)
    [path] = out.glob("*.whl")
    return path


def test_the_wheel_holds_the_three_collections_and_no_stray_top_level_name(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"hydrate", "trace_dataset"}
    for kind in ("metrics", "baselines"):
        for folder in (ROOT / kind).iterdir():
            if (folder / f"{folder.name}.py").exists():
                assert f"trace_dataset/_hub/{kind}/{folder.name}/{folder.name}.py" in names
    assert "trace_dataset/_hub/cards/dataset_card.md.jinja" in names
    assert not [name for name in names if "__pycache__" in name]


def test_every_package_of_the_tree_is_listed(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = [
        path.relative_to(ROOT).as_posix()
        for room in ("hydrate", "trace_dataset")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".json", ".typed")
    ]
    assert [name for name in tracked if name not in names] == []


def test_away_from_the_checkout_the_demo_and_the_metric_work(wheel: Path, tmp_path: Path):
    environment, away = tmp_path / "venv", tmp_path / "away"
    away.mkdir()
    run(sys.executable, "-m", "venv", environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=away)
    home = {"HF_HOME": str(tmp_path / "hf"), "TRACE_CACHE": str(tmp_path / "cache")}
    shown = run(environment / "bin" / "trace-dataset", "demo", "--out", "demo", cwd=away, **home)
    assert "oracle *" in shown
    assert (away / "demo" / "competencies.png").stat().st_size > 10_000
    code = """
import evaluate, sys
import trace_dataset
metric = evaluate.load("trace/cgs")
rows = [{"text": 'Go: "so quiet" [R1].', "recommends": True}]
print(metric.compute(predictions=rows, references=[[{"label": "R1", "text": "It is so quiet."}]])["gs"], "torch" in sys.modules)
"""
    assert run(python, "-c", code, cwd=away, **home).split()[-2:] == ["1.0", "False"]
