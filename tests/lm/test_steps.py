"""A question with typed fields: asked again with what was wrong; the last answer is kept; a failed service is not the model."""

from __future__ import annotations

import pickle

import pytest

from hydrate import UsageError
from tests.baselines.conftest import Played
from trace_dataset.lm import Budget, Failed, Items, LmSettings, LmStopped, Step, Text, take_step
from trace_dataset.lm.fields import fault, json_schema
from trace_dataset.lm.settings import open_given, signature_of

STEP = Step("greet", "Greet.", {"greeting": Text("a greeting")})


def wants_hello(values):
    return None if "hello" in values["greeting"] else "Say hello."


def test_the_first_answer_that_passes_is_taken():
    model = Played(lambda number, *_: {"greeting": "hello" if number == 2 else "good day"})
    result = take_step(model, STEP, {"name": "Ada"}, wants_hello)
    assert (result.values, result.complaint, result.asked_again) == ({"greeting": "hello"}, None, 1)
    assert [inputs.get("what_was_wrong_before") for _, inputs, _ in model.asked] == [None, "Say hello."]
    assert result.usage.calls == 2


def test_the_last_answer_is_kept_with_its_complaint():
    model = Played(lambda number, *_: Failed("parse") if number == 3 else {"greeting": f"good day {number}"})
    result = take_step(model, STEP, {}, wants_hello)
    assert (result.values, result.complaint, result.reason) == ({"greeting": "good day 2"}, "Say hello.", None)


def test_without_any_answer_there_is_a_reason_and_a_small_model_is_not_told_what_was_wrong():
    model = Played(lambda *_: Failed("truncated"))
    result = take_step(model, STEP, {}, feedback=False)
    assert (result.values, result.reason, result.unavailable, result.asked_again) == (None, "truncated", False, 2)
    assert all("what_was_wrong_before" not in inputs for _, inputs, _ in model.asked)


def test_a_failed_service_ends_the_step_and_a_spent_budget_the_run():
    result = take_step(Played(lambda *_: Failed("timeout", "HTTP 504")), STEP, {})
    assert (result.unavailable, result.detail, result.usage.calls) == (True, "HTTP 504", 1)
    with pytest.raises(LmStopped, match="5 of 5 tokens"):
        take_step(Played(lambda *_: Failed("budget", "5 of 5 tokens")), STEP, {})


@pytest.mark.parametrize(("value", "wrong"), [
    ([], None), (["a", "b"], None), (["a"] * 3, "has 3 entries, not up to 2"), ("a", "is not a list of texts"),
    (["abcdef"], "has an entry of more than 5 characters"), ([1], "is not a list of texts")])  # fmt: skip
def test_lists_of_short_texts(value, wrong):
    kind = Items("kinds", most=2, each=5)
    assert fault(kind, value) == wrong
    bounded = json_schema({"kinds": kind}, bounded=True)["properties"]["kinds"]
    assert bounded == {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 2}
    assert json_schema({"kinds": kind}, bounded=False)["properties"]["kinds"] == {
        "type": "array",
        "items": {"type": "string"},
    }


def test_a_copied_placeholder_is_no_text():
    assert fault(Text("a"), "{response}") == fault(Text("a"), " <text> ") == "is a placeholder"
    assert fault(Text("a"), "{response} and more") is None


def test_settings_are_a_value_that_travels_and_their_signature_holds_no_key():
    settings = LmSettings("openai/a", "http://x/v1", Budget(tokens=5), options={"api_key": "sk-1", "seed": 3})
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.signature == {
        "name": "openai/a",
        "api_base": "http://x/v1",
        "bounded": True,
        "options": {"seed": 3},
    }
    assert signature_of("openai/a")["bounded"] is False
    assert signature_of("local:/models/other.gguf")["name"] == "local/other"
    with pytest.raises(UsageError, match="int is no language model"):
        signature_of(3)


@pytest.mark.llm
def test_settings_and_the_model_that_they_open_have_one_signature():
    pytest.importorskip("dspy", reason="the extra llm is not installed")
    settings = LmSettings("openai/a", "http://127.0.0.1:9/v1", options={"api_key": "sk-1", "temperature": 0.5})
    lm, ours = open_given(settings)
    assert ours
    assert lm.signature == settings.signature
    assert open_given(lm) == (lm, False)
