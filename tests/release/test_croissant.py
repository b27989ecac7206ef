"""Croissant metadata: every file with its hash, every column described, and valid for `mlcroissant` where it is installed."""

from __future__ import annotations

import hashlib
import itertools
import re

import orjson
import pytest

from trace_dataset import schema
from trace_dataset.release import build_release
from trace_dataset.release.croissant import TABLES


@pytest.fixture(scope="module")
def release(sample_bundle, tmp_path_factory):
    return build_release(sample_bundle, tmp_path_factory.mktemp("out") / "release", n_dialogues=240)


@pytest.fixture(scope="module")
def found(release):
    return orjson.loads((release.folder / "croissant.json").read_bytes())


def test_every_data_file_is_there_with_its_hash_and_size(release, found):
    files = {item["@id"]: item for item in found["distribution"]}
    assert sorted(files) == sorted(
        name for name in release.manifest.files if name.endswith((".parquet", "schema.json"))
    )
    for name, item in files.items():
        content = (release.folder / name).read_bytes()
        assert item["sha256"] == hashlib.sha256(content).hexdigest() == release.manifest.files[name]
        assert item["contentSize"] == f"{len(content)} B"
        assert item["contentUrl"] == name


def test_every_column_of_every_table_is_described(found):
    records = {item["@id"]: item for item in found["recordSet"]}
    assert list(records) == list(TABLES)
    for table, (config, _) in TABLES.items():
        names = [field["@id"].removeprefix(f"{table}/") for field in records[table]["field"]]
        assert names == list(schema.features(config))
    [turns] = [field for field in records["dialogues/test"]["field"] if field["name"].endswith("/turns")]
    [quotes] = [field for field in turns["subField"] if field["name"].endswith("/quotes")]
    assert {field["name"].rsplit("/", 1)[1] for field in quotes["subField"]} >= {"review_id", "start", "end", "sha256"}


def test_ids_are_unique_and_sources_exist(found):
    text = orjson.dumps(found).decode()
    ids = re.findall(r'"@type":"cr:\w+","@id":"([^"]+)"', text)
    assert len(ids) == len(set(ids))
    files = {item["@id"] for item in found["distribution"]}
    assert set(re.findall(r'"fileObject":\{"@id":"([^"]+)"\}', text)) <= files


def test_mlcroissant_validates_it_and_reads_the_tables_by_it(release):
    mlcroissant = pytest.importorskip(
        "mlcroissant", reason="pip install mlcroissant to validate with the reference reader"
    )
    dataset = mlcroissant.Dataset(jsonld=str(release.folder / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    place = next(iter(dataset.records(record_set="pois")))
    first = release.pois()[0]
    assert place["pois/business_id"].decode() == first.business_id
    assert [name.decode() for name in place["pois/categories"]] == list(first.categories)
    read = itertools.islice(dataset.records(record_set="dialogues/test"), 5)
    for row, dialogue in zip(read, release.dialogues("test"), strict=False):
        assert row["dialogues/test/dialogue_id"].decode() == dialogue.dialogue_id
        turns = row["dialogues/test/turns"]
        assert [turn["dialogues/test/turns/text"].decode() for turn in turns] == [turn.text for turn in dialogue.turns]
