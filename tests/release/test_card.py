"""What a release says of itself: Table 3 beside the paper's from one source, a card and a datasheet with real counts."""

from __future__ import annotations

import re

import pytest
from huggingface_hub import DatasetCard

from trace_dataset.cli import bundles, main
from trace_dataset.evaluation.sanity import Check
from trace_dataset.release import build_release
from trace_dataset.release.card import describe, effort_text, table3_text
from trace_dataset.schema import TIERS

LABELS = [
    "places",
    "cities",
    "reviews",
    "mean stars",
    "categories",
    "dialogues",
    "turns a dialogue",
    "persona archetypes",
]


@pytest.fixture(scope="module")
def release(sample_bundle, tmp_path_factory):
    return build_release(sample_bundle, tmp_path_factory.mktemp("out") / "release", n_dialogues=240)


@pytest.fixture(scope="module")
def card(release):
    return (release.folder / "README.md").read_text(encoding="utf-8")


def test_the_card_parses_and_names_licence_configs_and_size(release, card):
    data = DatasetCard(card).data
    assert data.license == "cc-by-4.0"
    assert data.size_categories == ["n<1K"]
    assert "trace-template" in data.tags
    configs = {item["config_name"]: item["data_files"] for item in data.configs}
    paths = [item["path"] for item in configs["dialogues"]] + [configs["pois"], configs["reviews"]]
    assert all((release.folder / path).is_file() for path in paths)


def test_table_3_counts_what_is_in_the_files(release):
    rows = {row.label: row for row in release.report["table3"]}
    assert set(LABELS) <= set(rows)
    dialogues = [item for split in release.manifest.splits for item in release.dialogues(split)]
    pois, reviews = release.pois(), release.reviews()
    assert rows["places"].here.startswith("240 (80 restaurants, 80 hotels, 80 attractions)")
    assert rows["reviews"].here == f"{len(reviews):,} ({len(reviews) / len(pois):.1f} a place)"
    assert rows["categories"].here == str(len({name for poi in pois for name in poi.categories}))
    mean = sum(len(item.turns) for item in dialogues) / len(dialogues)
    assert rows["turns a dialogue"].here.startswith(f"{mean:.2f} (sd ")
    for tier in TIERS:
        assert f"({sum(item.difficulty == tier for item in dialogues):,})" in rows[f"difficulty: {tier}"].here
    assert [row for row in release.report["table3"] if not row.paper] == []


def test_differences_that_the_bundle_causes_are_explained(release):
    rows = {row.label: row for row in release.report["table3"]}
    assert rows["places"].why == "24 cells have fewer than 100 usable places"
    assert rows["reviews"].why == "the places have no more"
    assert rows["cities"].why == rows["cells of city and type"].why == ""


def test_missing_cells_are_named(benchmark):
    pois = [poi for poi in benchmark.kb.pois.values() if (poi.city, poi.poi_type) != ("Reno", "hotel")]
    kb = {"left_out": {"Reno / hotel": 5}, "short_cells": {}, "parameters": {"max_places": 100}}
    found = describe({"kb": kb, "tier_falls": 40}, benchmark.dialogues[:20], pois, list(benchmark.kb.reviews.values()))
    rows = {row.label: row for row in found["table3"]}
    assert "Reno / hotel (5 usable)" in rows["cells of city and type"].why
    assert rows["persona archetypes"].why == "fewer dialogues than archetypes"
    assert any("40 plans" in rows[f"difficulty: {tier}"].why for tier in TIERS)


def test_a_release_without_a_report_still_has_its_counts():
    found = describe({}, [], [], [])
    assert {row.here for row in found["table3"]} >= {"0", "0.00 (sd 0.00)", "none"}
    assert "asked for 0" in effort_text(found)


def test_card_and_command_line_show_the_same_rows(release, card):
    text = table3_text(release.report["table3"])
    for row in release.report["table3"]:
        assert f"| {row.label} | {row.here} | {row.paper} | {row.why} |" in card
        assert re.search(rf"{re.escape(row.label)} +{re.escape(row.here)} +{re.escape(row.paper)}", text)


def test_the_datasheet_answers_with_real_counts(release):
    sheet = (release.folder / "DATASHEET.md").read_text(encoding="utf-8")
    for part in ("Motivation", "Composition", "Collection", "Preprocessing", "Uses", "Distribution", "Maintenance"):
        assert f"## {part}" in sheet
    assert f"{release.manifest.counts['turns']:,} turns" in sheet
    assert f"{release.report['rejections']:,} rejections" in sheet
    assert release.manifest.bundle_fingerprint in sheet
    assert "{{" not in sheet
    assert "  " not in re.sub(r"^ +", "", sheet, flags=re.MULTILINE)


@pytest.mark.parametrize(("passed", "status", "says"), [(True, 0, "no check fails"), (False, 1, "1 of 1 checks fail")])
def test_build_prints_the_table_and_its_status_follows_the_checks(
    sample_bundle, tmp_path, capsys, monkeypatch, passed, status, says
):
    monkeypatch.setattr(bundles, "check_benchmark", lambda benchmark, progress: [Check("a", "1", "= 1", passed, 3)])
    assert main(["build", str(tmp_path / "r"), "--yelp", str(sample_bundle), "--dialogues", "240", "--check"]) == status
    shown = capsys.readouterr().out
    assert says in shown
    assert all(label in shown for label in LABELS)
    assert "asked for 240 dialogues" in shown
