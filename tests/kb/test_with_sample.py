"""The knowledge base and its evidence over the sample bundle, read as a user's bundle is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import hydrate
from trace_dataset.kb import Evidence, KnowledgeBase, build_knowledge_base, collect_evidence, survey
from trace_dataset.sample import write_sample
from trace_dataset.schema import POI_TYPES


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[KnowledgeBase, Evidence]:
    folder = tmp_path_factory.mktemp("sample")
    kb, report = build_knowledge_base(hydrate.open_bundle(write_sample(folder, places=240, seed=1)))
    assert not report.left_out
    return kb, collect_evidence(kb)


def test_all_cells_are_there(built: tuple[KnowledgeBase, Evidence]) -> None:
    kb, _ = built
    assert len(kb.cities) == 8
    assert {kind for _, kind in kb.cells} == set(POI_TYPES)
    assert len(kb.cells) == 24
    assert all(len(ids) >= 8 for ids in kb.cells.values())
    assert all(3 <= len(ids) <= 15 for ids in kb.reviews_of.values())


def test_the_form_of_a_bundle_changes_nothing(built: tuple[KnowledgeBase, Evidence], tmp_path: Path) -> None:
    archive = write_sample(tmp_path, places=240, seed=1, form="tgz")
    bundle = hydrate.open_bundle(archive)
    assert build_knowledge_base(bundle)[0] == built[0]
    found = survey(bundle)
    assert {city.name for city in found.chosen} == set(built[0].cities)


def test_there_is_something_to_ask_for_and_to_quote(built: tuple[KnowledgeBase, Evidence]) -> None:
    kb, evidence = built
    for city, kind in kb.cells:
        assert len(evidence.values(city, kind, "aspect")) >= 8
        assert len(evidence.values(city, kind, "category")) >= 1
    quotable = [business for business in kb.pois if evidence.any_spans(business)]
    assert len(quotable) >= 0.95 * len(kb.pois)
    for business in kb.pois:
        for wish in evidence.wishes(business):
            assert evidence.satisfaction(business, wish) == "supported"
            for span in evidence.spans(business, wish):
                assert kb.reviews[span.review_id].business_id == business
