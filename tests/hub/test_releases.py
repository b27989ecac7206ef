"""A release is pushed by one person and hydrated by another with a bundle of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Person
from .standin import Hub

NAME = "org/trace-sample"
LOAD = """
import json, sys, datasets, trace_dataset
ds = datasets.load_dataset("trace", release=sys.argv[1], yelp_path=sys.argv[2] or None, revision=sys.argv[3] or None)
first = ds["test"][0]
print(json.dumps([ds["test"].num_rows, "[Q:" in json.dumps(first["turns"]), ds["test"].info.description]))
"""
PLAIN = """
import json, sys, datasets
ds = datasets.load_dataset(sys.argv[1])
pois = datasets.load_dataset(sys.argv[1], "pois", split="train")
print(json.dumps([ds["test"].num_rows, set(pois["name"]) == {""}, pois[0]["city"] != ""]))
"""


@pytest.fixture(scope="module")
def release(sample_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from trace_dataset.release import build_release

    folder = tmp_path_factory.mktemp("built") / "release"
    build_release(sample_bundle, folder, n_dialogues=240)
    return folder


def last(text: str):
    return json.loads(text.splitlines()[-1])


def test_push_then_hydrate_elsewhere(hub: Hub, pusher: Person, loader: Person, release: Path, sample_bundle: Path):
    shown = pusher.trace("push", "dataset", str(release), NAME).stdout
    assert "places: ids, cities and types only" in shown
    assert hub.commits("datasets", NAME) == 1
    card = hub.store.read("datasets", NAME, "README.md").decode()
    assert f'load_dataset("trace", release="{NAME}", yelp_path=' in card
    assert "`pois.parquet` holds ids, cities and types" in card
    assert "holds names" not in hub.store.read("datasets", NAME, "DATASHEET.md").decode()
    digest = json.loads((release / "manifest.json").read_bytes())["content_digest"]

    rows, placeholders, told = last(loader.python_code(LOAD, NAME, str(sample_bundle), "").stdout)
    assert rows > 0
    assert not placeholders
    assert f"content digest {digest}" in told

    # the viewer's way, without a word of our code, shows placeholders and no detail of a place
    other = Person(hub, loader.home.parent / "third")
    assert last(other.python_code(PLAIN, NAME).stdout) == [rows, True, True]


def test_a_revision_is_the_one_asked_for(hub: Hub, pusher: Person, loader: Person, release: Path, sample_bundle: Path):
    pusher.trace("push", "dataset", str(release), NAME)
    commit = hub.store.history("datasets", NAME)[0]
    hub.store.commit("datasets", NAME, "main", "a later one", {}, ["manifest.json"], "me")
    assert last(loader.python_code(LOAD, NAME, str(sample_bundle), commit).stdout)[0] > 0
    newest = loader.python_code(LOAD, NAME, str(sample_bundle), "", check=False)
    assert newest.returncode
    assert "manifest.json" in newest.stderr
    unknown = loader.python_code(LOAD, NAME, str(sample_bundle), "v9", check=False)
    assert "there is no such revision" in unknown.stderr


def test_a_changed_byte_is_an_error_that_names_the_file(
    hub: Hub, pusher: Person, loader: Person, release: Path, sample_bundle: Path
):
    pusher.trace("push", "dataset", str(release), NAME)
    content = bytearray(hub.store.read("datasets", NAME, "dialogues/test.parquet"))
    content[len(content) // 2] ^= 1
    changed = hub.store.add(bytes(content), lfs=True)
    hub.store.commit("datasets", NAME, "main", "a flipped bit", {"dialogues/test.parquet": changed}, [], "someone")
    done = loader.python_code(LOAD, NAME, str(sample_bundle), "", check=False)
    assert done.returncode
    assert "dialogues/test.parquet differs from its SHA256 in manifest.json" in done.stderr


def test_the_bundle_must_be_the_one_the_release_was_made_from(
    hub: Hub, pusher: Person, loader: Person, release: Path, tmp_path: Path
):
    from trace_dataset.sample import write_sample

    pusher.trace("push", "dataset", str(release), NAME)
    other = write_sample(tmp_path / "other", places=240, seed=7)
    done = loader.python_code(LOAD, NAME, str(other), "", check=False)
    assert done.returncode
    assert "are not in the bundle" in done.stderr
