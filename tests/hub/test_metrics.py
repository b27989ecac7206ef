"""A metric is pushed by one person and loaded by another who has nothing of this project."""

from __future__ import annotations

import json

from .conftest import Person
from .standin import Hub

USE = """
import sys, json
for name in ("trace_dataset", "hydrate"):
    sys.modules[name] = None
import evaluate
metric = evaluate.load(sys.argv[1])
rows = [{"text": 'Go: "so quiet" [R1].', "recommends": True}]
print(json.dumps(metric.compute(predictions=rows, references=[[{"label": "R1", "text": "It is so quiet."}]])))
"""
PUSH = """
import sys, trace_dataset
print(trace_dataset.push_metric(sys.argv[1], sys.argv[2]))
"""


def test_a_pushed_metric_loads_where_the_project_never_was(hub: Hub, pusher: Person, loader: Person) -> None:
    shown = pusher.python_code(PUSH, "cgs", "trace/cgs").stdout
    assert "pushed" in shown
    assert hub.commits("spaces", "trace/cgs") == 1
    scores = json.loads(loader.python_code(USE, "trace/cgs").stdout.splitlines()[-1])
    assert scores["gs"] == 1.0
