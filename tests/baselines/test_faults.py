"""Baselines against a service that misbehaves: each fault is tried again, reported, never fatal, never taken for an answer."""

from __future__ import annotations

import pytest

from tests.lm.misbehaving import KEY, Misbehaving, cut_off, dropped, fields, not_json, reply, slow, status
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import run_baseline
from trace_dataset.lm import UNAVAILABLE, Budget, LmSettings, LmStopped, open_lm

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytestmark = pytest.mark.llm

LM_BASELINES = ("dst", "itinerary_llm", "llm_zero_shot", "memory_augmented", "multi_review_synthesis", "rag_citation")
NOTHING_NEW = {
    "price": "unstated",
    "noise": "unstated",
    "cuisine_like": [],
    "cuisine_avoid": [],
    "ambience": [],
    "features": [],
    "location": [],
}
GOOD = fields(response="What matters to you?", **NOTHING_NEW)  # serves both questions of dst; other fields are not read


def answered(server, contexts, name, benchmark, action="greet", **options):
    """Return the response to one turn, asking the server."""
    settings = {"timeout": 2.0, "retries": 2, "sleep": lambda seconds: None, **options}
    with open_lm("openai/fake-1", server.api_base, api_key=KEY, **settings) as lm:
        baseline = load_baseline(name, lm=lm)
        baseline.prepare(benchmark.kb)
        context = contexts(action)[0]
        return baseline.respond(context, baseline.rank(context))


FAULTS = {
    "429": status(429),
    "500": status(500),
    "503": status(503),
    "cut off": cut_off,
    "not JSON": not_json,
    "dropped": dropped,
    "late": slow(3),
}


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for name in LM_BASELINES for fault in FAULTS if fault != "late" or name == "dst"]
)
def test_what_passes_is_tried_again_and_what_stays_is_reported(contexts, benchmark, name, fault):
    with Misbehaving(FAULTS[fault], GOOD) as server:
        response = answered(server, contexts, name, benchmark)
    assert response.error is None
    assert response.text == "What matters to you?"
    assert response.usage["retries"] == 1
    with Misbehaving(FAULTS[fault]) as server:
        response = answered(server, contexts, name, benchmark, retries=1)
        assert len(server.requests) == 2
    assert response.error.startswith(UNAVAILABLE)
    assert (response.text, response.poi_ids) == ("", ())


@pytest.mark.parametrize("name", LM_BASELINES)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("certainly!", "parse"),
        ('{"response": "Hel', "parse"),
        ('{"response": "{response}"}', "parse"),
        ("I'm sorry, but I can't help with that.", "refusal"),
    ],
)
def test_a_reply_that_is_none_is_asked_for_again_and_then_popularity_answers(contexts, benchmark, name, text, reason):
    with Misbehaving(reply(text)) as server:
        response = answered(server, contexts, name, benchmark, "recommend")
        told = [str(request["messages"]) for request in server.requests]
    assert response.error is None
    assert response.usage["fallback"] == response.usage[f"fallback_{reason}"] == 1.0
    assert response.usage["calls"] == len(told)
    assert len(response.poi_ids) == 1
    assert sum("what_was_wrong_before" in each for each in told) == len(told) * 2 // 3


def test_a_reply_cut_off_at_its_longest_is_none(contexts, benchmark):
    with Misbehaving(reply('{"response": "Go to"}', finish="length")) as server:
        assert answered(server, contexts, "llm_zero_shot", benchmark).usage["fallback_truncated"] == 1.0


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_stops_at_once_and_is_not_told(contexts, benchmark, code):
    with Misbehaving(status(code, message=f"bad key {KEY}")) as server:
        with pytest.raises(LmStopped) as caught:
            answered(server, contexts, "llm_zero_shot", benchmark)
        assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_a_request_that_is_refused_costs_the_turn(contexts, benchmark):
    with Misbehaving(status(400, message="too long")) as server:
        response = answered(server, contexts, "llm_zero_shot", benchmark)
    assert response.error == f"{UNAVAILABLE}rejected (HTTP 400: too long)"


def test_a_spent_budget_stops(contexts, benchmark):
    with Misbehaving(GOOD) as server, pytest.raises(LmStopped, match="budget"):
        answered(server, contexts, "llm_zero_shot", benchmark, budget=Budget(tokens=0))


def test_a_run_over_a_service_with_every_fault_is_whole_and_counts_them(benchmark, tmp_path):
    faults = [
        status(500),
        GOOD,
        reply("certainly!"),
        reply("certainly!"),
        reply("certainly!"),
        status(400),
        GOOD,
        dropped,
        GOOD,
    ]
    with Misbehaving(*faults) as server:
        settings = LmSettings("openai/fake-1", server.api_base, timeout=2.0, retries=1, options={"api_key": KEY})
        run = run_baseline(load_baseline("llm_zero_shot", lm=settings), benchmark, tmp_path / "run", limit=2)
    answers = run.responses()
    assert [bool(item.error) for item in answers[:4]] == [False, False, True, False]
    assert answers[0].usage["retries"] == 1
    assert answers[1].usage["fallback_parse"] == 1.0
    assert "HTTP 400" in answers[2].error
    assert all(item.error is None for item in answers[3:])
    stored = "".join(path.read_bytes().decode("latin-1") for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert KEY not in stored
