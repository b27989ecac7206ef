"""The same shards on a Ray cluster: byte for byte what one process writes, even when a node is killed in the middle."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hydrate import TraceError, UsageError
from trace_dataset.baseline import load_folder
from trace_dataset.evaluation import run_baseline

ray = pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.ray

ROOT = Path(__file__).resolve().parents[2]
STORE = 150_000_000  # bytes of a node's object store
WANDERER = """
import os, time
from pathlib import Path
from trace_dataset.baseline import Baseline

class Wanderer(Baseline):
    def rank(self, turn):
        if "NODES_SEEN" in os.environ:
            import ray
            (Path(os.environ["NODES_SEEN"]) / ray.get_runtime_context().get_node_id()).touch()
            time.sleep(0.02)
        order = sorted(turn.pool)
        turn.rng.shuffle(order)
        return order
"""


def shards(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "responses").iterdir())}


@pytest.fixture
def wanderer(tmp_path, monkeypatch):
    monkeypatch.setattr("trace_dataset.evaluation.runner.DIALOGUES_PER_SHARD", 5)
    folder = tmp_path / "wanderer"
    folder.mkdir()
    (folder / "wanderer.py").write_text(WANDERER)
    return lambda: load_folder(folder)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Two nodes of one processor each, on this machine; their workers see this checkout."""
    from ray.cluster_utils import Cluster

    (tmp_path / "nodes").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("NODES_SEEN", str(tmp_path / "nodes"))
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE})
    try:
        ray.init(address=made.address, log_to_driver=False)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def test_a_node_that_is_killed_in_the_middle_changes_no_byte(benchmark, wanderer, cluster, tmp_path, monkeypatch):
    second = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    cluster.wait_for_nodes()
    states = []

    def kill_second(state):
        states.append(state)
        deadline = time.monotonic() + 60
        while len(states) == 1 and len(list((tmp_path / "nodes").iterdir())) < 2:
            assert time.monotonic() < deadline, "the second node was given no shard"
            time.sleep(0.05)
        if len(states) == 1:
            cluster.remove_node(second, allow_graceful=False)

    run_baseline(wanderer(), benchmark, tmp_path / "ray", ray=cluster.address, progress=kill_second)
    assert len(list((tmp_path / "nodes").iterdir())) == 2, "both nodes had a hand in it"
    assert states[0].done < states[-1].done == len(benchmark.dialogues)
    monkeypatch.delenv("NODES_SEEN")
    run_baseline(wanderer(), benchmark, tmp_path / "one")
    assert shards(tmp_path / "ray") == shards(tmp_path / "one")


def test_a_strict_run_and_a_broken_baseline_are_told_as_they_are(benchmark, wanderer, cluster, tmp_path):
    folder = tmp_path / "wanderer"
    (folder / "wanderer.py").write_text(WANDERER.replace("order = sorted(turn.pool)", "return ['nowhere']"))
    with pytest.raises(TraceError, match="not in the pool"):
        run_baseline(load_folder(folder), benchmark, tmp_path / "strict", ray=cluster.address, limit=10, strict=True)
    (folder / "wanderer.py").write_text(
        WANDERER + "\n    def prepare(self, kb):\n        raise OSError('no model here')\n"
    )
    with pytest.raises(TraceError, match="could not be prepared: OSError: no model here"):
        run_baseline(load_folder(folder), benchmark, tmp_path / "broken", ray=cluster.address, limit=10)


def test_a_cluster_that_is_not_there(benchmark, wanderer, tmp_path):
    assert not ray.is_initialized()
    with pytest.raises(UsageError, match="no Ray cluster answers"):
        run_baseline(wanderer(), benchmark, tmp_path / "run", ray="127.0.0.1:1", limit=10)
