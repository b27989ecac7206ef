"""A metric is pushed by one person and loaded by another who has nothing of this project."""

from __future__ import annotations

import json
import re
import venv
from pathlib import Path

import pytest

from trace_dataset.hub.cards import split_card

from .conftest import ROOT, Person
from .standin import Hub

USE = """
import sys, json
for name in ("trace_dataset", "hydrate"):
    sys.modules[name] = None
import evaluate
metric = evaluate.load(sys.argv[1])
rows = [{"text": 'Go: "so quiet" [R1].', "recommends": True}]
print(json.dumps(metric.compute(predictions=rows, references=[[{"label": "R1", "text": "It is so quiet."}]])))
print(json.dumps([space for space in evaluate.list_evaluation_modules("metric", include_community=True)]))
"""
TRUST = """
import json, sys, trace_dataset
rows = [{"text": 'Go: "so quiet" [R1].', "recommends": True}]
try:
    trace_dataset.load_metric("me/cgs")
except trace_dataset.UsageError as error:
    print(json.dumps(str(error)))
metric = trace_dataset.load_metric("me/cgs", trust_remote_code=True, revision=sys.argv[1] or None)
print(json.dumps(metric.compute(predictions=rows, references=[[{"label": "R1", "text": "It is so quiet."}]])))
"""


def test_what_a_dry_run_shows_is_what_goes_up_and_loads_without_the_project(hub: Hub, pusher: Person, loader: Person):
    shown = json.loads(pusher.trace("push", "metric", "cgs", "trace/cgs", "--dry-run", "--json").stdout)
    assert hub.log == []
    assert [shown[0][key] for key in ("repo_type", "commit", "changed")] == ["space", None, False]
    assert "loads without trace_dataset and runs its" in " ".join(shown[0]["checks"])

    told = pusher.trace("push", "metric", "cgs", "trace/cgs").stdout
    assert hub.commits("spaces", "trace/cgs") == 1
    commit = hub.store.history("spaces", "trace/cgs")[0]
    assert f"pushed {hub.url}/spaces/trace/cgs at commit {commit}" in told
    there = hub.store.files("spaces", "trace/cgs", commit)
    assert {file["path"]: file["sha256"] for file in shown[0]["files"]} == {
        path: entry.sha256 for path, entry in there.items() if path != ".gitattributes"
    }

    scores, spaces = map(json.loads, loader.python_code(USE, "trace/cgs").stdout.splitlines()[-2:])
    assert scores["gs"] == 1.0
    assert spaces == ["trace/cgs"]

    card, body = split_card(hub.store.read("spaces", "trace/cgs", "README.md").decode())
    assert card["title"] == "CGS: composite grounding score"
    assert card["description"].startswith("CGS, the composite grounding score of the TRACE benchmark")
    assert 'evaluate.load("trace/cgs")' in body
    requirements = hub.store.read("spaces", "trace/cgs", "requirements.txt").decode()
    assert re.findall(r"^\w+", requirements, flags=re.M) == ["evaluate", "numpy", "rapidfuzz", "gradio"]


def test_load_metric_asks_pins_and_signs(hub: Hub, pusher: Person, loader: Person):
    pusher.trace("push", "metric", "cgs", "me/cgs")
    commit = hub.store.history("spaces", "me/cgs")[0]
    entry = hub.store.add(b"raise SystemExit('a later version')", lfs=False)
    hub.store.commit("spaces", "me/cgs", "main", "broken", {"cgs.py": entry}, [], "me")
    done = loader.python_code(TRUST, commit)
    refusal, scores = map(json.loads, done.stdout.splitlines()[-2:])
    assert "would run code from the Hub" in refusal
    assert (scores["gs"], scores["origin"]) == (1.0, f"me/cgs@{commit}")
    assert f"commit {commit}" in done.stderr


def test_versions_in_templates_are_those_that_were_tested():
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    from trace_dataset.hub.metrics import GRADIO, MODELS

    assert pins["gradio"] == GRADIO
    setup = (ROOT / "setup.cfg").read_text()
    for line in MODELS:
        assert f"\n    {line}\n" in setup


@pytest.mark.slow
def test_every_metric_in_an_environment_that_has_only_what_is_published(hub: Hub, pusher: Person, tmp_path: Path):
    """All twelve, each pushed, then loaded and run by a Python whose packages are those of requirements.txt (no page)."""
    pusher.trace("push", "metrics", "trace")
    names = sorted(name.split("/")[1] for name in hub.store.names("spaces"))
    assert len(names) >= 12
    lines = {
        line
        for name in names
        for line in hub.store.read("spaces", f"trace/{name}", "requirements.txt").decode().splitlines()
        if line.split(">")[0] in ("evaluate", "numpy", "rapidfuzz")
    }
    assert len(lines) == 3
    venv.create(tmp_path / "venv", with_pip=True)
    bare = Person(hub, tmp_path / "bare", python=str(tmp_path / "venv" / "bin" / "python"))
    bare.run("-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *sorted(lines))
    code = """
import importlib.util, json, sys
assert importlib.util.find_spec("trace_dataset") is None
import evaluate
sys.path.append(sys.argv[1])
from metric_examples import CALLS, inputs
def score(name):
    return evaluate.load("trace/" + name).compute(**inputs(name), **CALLS[name]["options"])
print(json.dumps({name: score(name) for name in sys.argv[2:]}))
"""
    scores = json.loads(bare.python_code(code, str(ROOT / "tests"), *names).stdout.splitlines()[-1])
    assert sorted(scores) == names
    assert scores["cgs"]["cgs"] == 1.0
