"""A baseline is pushed by one person, and loaded, run and compared by another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Person
from .standin import Hub

IDEA = '''"""Longest name first."""

from trace_dataset.baseline import Baseline


class MyIdea(Baseline):
    """Ranks by the length of the name."""

    def rank(self, turn):
        return sorted(turn.pool, key=lambda place: (-len(self.kb.pois[place].name), place))
'''
LOAD = """
import json, sys, trace_dataset
from trace_dataset.release import Source, open_benchmark
baseline = trace_dataset.load_baseline(sys.argv[1], trust_remote_code=True, revision=sys.argv[2] or None)
results = trace_dataset.evaluate_baseline(baseline, open_benchmark(Source(yelp_path=sys.argv[3], n_dialogues=240)), limit=4)
print(json.dumps([baseline.name, results.settings["origin"], results.n_failed]))
"""


@pytest.fixture
def idea(tmp_path: Path) -> Path:
    folder = tmp_path / "my_idea"
    folder.mkdir()
    (folder / "my_idea.py").write_text(IDEA)
    (folder / "README.md").write_text("# My idea\n\nLonger names first.\n")
    return folder


def test_push_then_load_run_and_score_elsewhere(
    hub: Hub, pusher: Person, loader: Person, idea: Path, sample_bundle: Path
):
    shown = pusher.trace("push", "baseline", str(idea), "me/my-idea").stdout
    assert "loads and answers" in shown
    files = hub.store.files("spaces", "me/my-idea", hub.store.history("spaces", "me/my-idea")[0])
    wheel = "trace_dataset-0.1.0-py3-none-any.whl"
    assert set(files) == {
        ".gitattributes",
        "README.md",
        "app.py",
        "my_idea.py",
        "requirements.txt",
        "trace.json",
        wheel,
    }
    requirements = hub.store.read("spaces", "me/my-idea", "requirements.txt").decode()
    assert f"@ {hub.url}/spaces/me/my-idea/resolve/main/{wheel}#sha256={files[wheel].sha256}" in requirements

    done = loader.python_code(LOAD, "me/my-idea", "", str(sample_bundle))
    commit = hub.store.history("spaces", "me/my-idea")[0]
    assert json.loads(done.stdout.splitlines()[-1]) == ["my_idea", f"me/my-idea@{commit}", 0]
    assert f"commit {commit}" in done.stderr


def test_the_same_content_makes_no_second_commit(hub: Hub, pusher: Person, idea: Path):
    first = pusher.trace("push", "baseline", str(idea), "me/my-idea").stdout
    again = pusher.trace("push", "baseline", str(idea), "me/my-idea").stdout
    assert "pushed" in first
    assert "nothing to do" in again
    assert hub.commits("spaces", "me/my-idea") == 1
