"""A metric as the Hub gets it: a script with the scoring files it needs beside it, and none of our packages installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from metric_examples import METRICS, NAMES

from trace_dataset.hub.metrics import lay_out

SCORING = METRICS.parent / "trace_dataset" / "scoring"


def test_scoring_files_name_only_siblings_and_light_libraries() -> None:
    allowed = {"numpy", "rapidfuzz", "hydrate", "__future__", *sys.stdlib_module_names}
    for path in SCORING.glob("*.py"):
        if path.name == "__init__.py":
            continue
        for line in re.findall(r"^\s*(?:from|import)\s+([.\w]+)", path.read_text(encoding="utf-8"), flags=re.M):
            assert line.startswith(".") or line.split(".")[0] in allowed, (path.name, line)


def test_every_metric_works_without_the_project(tmp_path: Path) -> None:
    for name in NAMES:
        folder = tmp_path / "spaces" / name
        folder.mkdir(parents=True)
        for path, content in lay_out(name, METRICS / name).items():
            (folder / path).write_bytes(content)
    code = """
import json, sys
sys.path = [entry for entry in sys.path if "-packages" in entry or (entry and not entry.startswith(sys.argv[2]))]
for name in ("trace_dataset", "hydrate"):
    sys.modules[name] = None
import evaluate
sys.path.append(sys.argv[3])
from metric_examples import CALLS, NAMES, inputs
scores = {}
for name in NAMES:
    metric = evaluate.load(sys.argv[1] + "/" + name)
    scores[name] = metric.compute(**inputs(name), **CALLS[name]["options"])
    try:
        metric.compute(**{**inputs(name), "predictions": [5]}, **CALLS[name]["options"])
    except ValueError as error:
        assert "right shape" in str(error)
print(json.dumps(scores))
"""
    arguments = [str(tmp_path / "spaces"), str(METRICS.parent), str(Path(__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
    )
    if done.returncode:
        pytest.fail(done.stderr[-3000:])
    scores = json.loads(done.stdout.splitlines()[-1])
    assert scores["cgs"]["cgs"] == 1.0
    assert scores["rejection_recovery"]["rejection_recovery"] == 1.0
