"""A baseline is pushed by one person, and loaded, run and compared by another."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from huggingface_hub.repocard_data import model_index_to_eval_results

from trace_dataset.hub.cards import split_card
from trace_dataset.hub.wheel import own_wheel

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
    """Run, push with the scores on the card, load elsewhere, run there; and the same content makes no second commit."""
    source = ("--yelp", str(sample_bundle), "--dialogues", "240")
    pusher.trace("run", str(idea), *source, "--limit", "4", "--out", str(idea.parent / "runs"))
    pusher.trace("score", str(idea.parent / "runs" / "my_idea-closed"), *source)
    shown = pusher.trace(
        "push", "baseline", str(idea), "me/my-idea", "--results", str(idea.parent / "runs" / "my_idea-closed")
    )
    assert "loads and answers" in shown.stdout
    commit = hub.store.history("spaces", "me/my-idea")[0]
    files = hub.store.files("spaces", "me/my-idea", commit)
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
    assert (
        f"trace-dataset[app] @ {hub.url}/spaces/me/my-idea/resolve/main/{wheel}#sha256={files[wheel].sha256}"
        in requirements
    )

    card, _ = split_card(hub.store.read("spaces", "me/my-idea", "README.md").decode())
    scores = {item.metric_type: item for item in model_index_to_eval_results(card["model-index"])[1]}
    assert card["title"] == "My idea"
    assert 0 <= scores["recall_at_1"].metric_value <= 1
    assert scores["recall_at_1"].dataset_args["dialogues"] == 4

    done = loader.python_code(LOAD, "me/my-idea", "", str(sample_bundle))
    assert json.loads(done.stdout.splitlines()[-1]) == ["my_idea", f"me/my-idea@{commit}", 0]
    assert f"commit {commit}" in done.stderr

    again = pusher.trace(
        "push", "baseline", str(idea), "me/my-idea", "--results", str(idea.parent / "runs" / "my_idea-closed")
    )
    assert "nothing to do" in again.stdout
    assert hub.commits("spaces", "me/my-idea") == 1


def test_a_released_version_takes_the_place_of_the_wheel(hub: Hub, pusher: Person, idea: Path):
    command = ("push", "baseline", str(idea), "me/my-idea", "--from-index", "0.1.0", "--dry-run", "--json")
    [shown] = json.loads(pusher.trace(*command).stdout)
    assert not [file for file in shown["files"] if file["path"].endswith(".whl")]
    assert hub.log == []


def test_the_wheel_is_this_package_and_always_the_same_bytes():
    wheel = own_wheel()
    assert own_wheel.__wrapped__().sha256 == wheel.sha256
    names = zipfile.ZipFile(io.BytesIO(wheel.read())).namelist()
    assert "trace_dataset/hub/wheel.py" in names
    assert "trace_dataset/_hub/cards/baseline_card.md.jinja" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
