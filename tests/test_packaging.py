"""The wheel carries everything: installed in an empty environment, away from the checkout, the whole way works."""

from __future__ import annotations

import hashlib
import json
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


def test_hydrate_alone_works_from_the_wheel_with_the_standard_library(wheel: Path, tmp_path: Path):
    release, bundle = tmp_path / "release.jsonl", tmp_path / "review.json"
    quote = {"n": 0, "review_id": "r1", "start": 3, "end": 11, "sha256": hashlib.sha256(b"so quiet").hexdigest()}
    release.write_text(json.dumps({"dialogue_id": "d", "turns": [{"text": '"[Q:0]"', "quotes": [quote]}]}))
    bundle.write_text(json.dumps({"review_id": "r1", "business_id": "b", "stars": 3.0, "text": "So so quiet."}))
    code = f"import sys; sys.path.insert(0, {str(wheel)!r}); from hydrate.__main__ import main; sys.exit(main(sys.argv[1:]))"
    options = [release, "--bundle", bundle, "--out", tmp_path / "out.jsonl"]
    shown = run(sys.executable, "-I", "-S", "-c", code, *options, cwd=tmp_path)
    assert "1 of 1 reviews found" in shown
    assert json.loads((tmp_path / "out.jsonl").read_text())["turns"][0]["text"] == '"so quiet"'


def test_away_from_the_checkout_the_demo_and_every_metric_work(wheel: Path, tmp_path: Path):
    environment, away = tmp_path / "venv", tmp_path / "away"
    away.mkdir()
    run(sys.executable, "-m", "venv", environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=away)
    home = {"HF_HOME": str(tmp_path / "hf"), "TRACE_CACHE": str(tmp_path / "cache")}
    shown = run(environment / "bin" / "trace-dataset", "demo", "--out", "demo", cwd=away, **home)
    assert "oracle †" in shown
    assert (away / "demo" / "competencies.png").stat().st_size > 10_000
    (away / "metric_examples.py").write_bytes((ROOT / "tests" / "metric_examples.py").read_bytes())
    code = """
import json, sys
import evaluate
import trace_dataset
from trace_dataset.installed import hub_names
from metric_examples import CALLS
for name in hub_names("metrics"):
    call = CALLS[name]
    metric = evaluate.load("trace/" + name)
    inputs = {"predictions": [call["prediction"]]}
    if call["reference"] is not None:
        inputs["references"] = [call["reference"]]
    scores = metric.compute(**inputs, **call["options"])
    print(json.dumps([name, scores["n"], sys.modules[type(metric).__module__].__file__]))
print("torch" in sys.modules)
"""
    *lines, torch_was_imported = run(python, "-c", code, cwd=away, **home).splitlines()
    assert torch_was_imported == "False"
    scored = {name: (n, file) for name, n, file in map(json.loads, lines)}
    assert sorted(scored) == sorted(folder.name for folder in (ROOT / "metrics").iterdir() if folder.is_dir())
    for n, file in scored.values():
        assert n == 1
        assert str(ROOT) not in file
