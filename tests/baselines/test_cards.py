"""The cards: one a baseline, in one form, with the paper's figures; ours are written from runs."""

from __future__ import annotations

import ast
import json

import pytest

from benchmarks.cards import ROWS, rewritten, scored
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import evaluate_baseline
from trace_dataset.installed import hub_names, hub_path

TABLES = {"recall_at_1": "R@1", "cgs": "CGS, product of means", "citation_density": "CD", "tsr": "TSR"}
PAPER_NAMES = {
    "popularity": "Popularity",
    "tfidf": "TF-IDF",
    "aspect": "Aspect",
    "dense": "Dense",
    "spatial": "Spatial",
    "hybrid_rrf": "Hybrid-RRF",
    "itinerary": "Itinerary",
    "knowledge_enhanced": "Knowledge-Enh.",
    "persona_grounded": "Persona-Ground.",
    "llm_zero_shot": "LLM Zero-Shot",
    "dst": "DST",
    "rag_citation": "RAG-Citation",
    "multi_review_synthesis": "Multi-Rev. Synth.",
}


def card(name):
    return (hub_path("baselines", name) / "README.md").read_text(encoding="utf-8")


def figures(text):
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): (cells[1].strip(), cells[2].strip()) for cells in rows}


@pytest.mark.parametrize("name", hub_names("baselines"))
def test_a_card_says_what_its_module_says(name):
    text = card(name)
    module = (hub_path("baselines", name) / f"{name}.py").read_text(encoding="utf-8")
    said = " ".join((ast.get_docstring(ast.parse(module)) or "").split())
    for part in ("What it does:", "Good at:", "Bad at:", "Paper:"):
        assert part in said
    for part in ("What it does:", "Good at:", "Bad at:", "## Use", "## Parameters", "## Figures"):
        assert part in text
    assert f'load_baseline("{name}"' in text
    assert {*ROWS, "R@1, open pool"} <= figures(text).keys()


def test_the_papers_figures_are_the_papers(shared):
    tables = json.loads((shared / "cases" / "paper_tables.json").read_text(encoding="utf-8"))["tables"]
    main = next(table for table in tables if table["id"] == "TRACE.T5")
    rows = {row[0]: dict(zip(main["columns"], row, strict=True)) for row in main["rows"]}
    for name, printed in PAPER_NAMES.items():
        found = figures(card(name))
        for column, label in TABLES.items():
            assert found[label][1] == f"{rows[printed][column]:.3f}", (name, label)


def test_figures_are_written_from_scored_runs(benchmark, tmp_path):
    for name in ("popularity", "random", "random_unseen"):
        evaluate_baseline(name, benchmark, limit=30, out=tmp_path / f"{name}-closed")
    evaluate_baseline("popularity", benchmark, pool="open", limit=10, out=tmp_path / "popularity-open")
    runs = scored(tmp_path)
    text = rewritten(card("popularity"), "popularity", runs, "240 places")
    before, after = figures(card("popularity")), figures(text)
    assert [paper for _, paper in after.values()] == [paper for _, paper in before.values()]
    wanted = runs["popularity", "closed"].estimates()
    assert after["R@1"][0] == f"{wanted['recall_at_1'].value:.3f}"
    assert after["R@1, open pool"][0] == f"{runs['popularity', 'open'].estimates()['recall_at_1'].value:.3f}"
    assert "30 dialogues over 240 places" in text
    assert "first 10 of them" in text
    assert text.startswith(card("popularity").partition("## Figures")[0])
    assert rewritten(text, "popularity", runs, "240 places") == text
    assert load_baseline("popularity").parameters == {}
