"""Whole builds against a server that misbehaves: never fatal, always reported, nothing unsound let through."""

import json

import pytest

import hydrate
from tests.lm.echo import echoed
from tests.lm.misbehaving import KEY, Misbehaving, computed, cut_off, dropped, not_json, reply, slow, status
from trace_dataset.dialogues import build_dialogues, validate_dialogue
from trace_dataset.dialogues.lm_writer import open_lm_writer
from trace_dataset.lm import Budget
from trace_dataset.schema import dialogue_row

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytestmark = pytest.mark.llm


def told(request):
    """Return the inputs that DSPy wrote into a request, and the fields that it asks for."""
    user = request["messages"][-1]["content"].rpartition("\n\nRespond with")[0]
    parts = user.split("[[ ## ")[1:]
    inputs = {name: text.strip() for name, _, text in (part.partition(" ## ]]") for part in parts)}
    return inputs, list(request["response_format"]["json_schema"]["schema"]["properties"])


def sound(request):
    return echoed(*told(request))


def inventing(request):
    return {
        name: text + ' As a guest wrote: "the finest rooms in all of Tucson".' for name, text in sound(request).items()
    }


GOOD = computed(sound)
TOO_LATE = slow(1.5)


@pytest.fixture
def place(town):
    return town([["quiet", "parking", "wifi"]] * 4 + [["quiet", "wifi"]] * 4)


def build(place, server, n=4, **options):
    kb, evidence = place
    waits = []
    options = {"api_key": KEY, "sleep": waits.append, "threads": 1, "timeout": 5.0, **options}
    with open_lm_writer("openai/fake-1", server.api_base, **options) as writer:
        dialogues, report = build_dialogues(kb, evidence, n_dialogues=n, writer=writer)
    reviews = {key: review.text for key, review in kb.reviews.items()}
    for dialogue in dialogues:  # whatever happened, what comes out keeps the rules
        (row,), _ = hydrate.hydrate([dialogue_row(dialogue)], reviews)
        labels = {label[1:]: reviews[key] for key, label in kb.labels(dialogue.candidates).items()}
        turns = [{**turn, "pred": turn["poi_ids"]} for turn in row["turns"]]
        assert validate_dialogue(turns, dialogue.candidates, labels) == []
    return dialogues, report, writer.report(), waits


def test_a_good_server(place):
    with Misbehaving(GOOD) as server:
        dialogues, report, found, waits = build(place, server)
    assert {(item.generator, item.attempts, item.fallback) for item in dialogues} == {("lm:openai/fake-1", 1, False)}
    assert (found.calls, found.written, found.retries, waits) == (4, 4, 0, [])
    assert report.generators == {"lm:openai/fake-1": 4}


@pytest.mark.parametrize(
    ("fault", "waits"),
    [
        (status(429, [("Retry-After", "9")]), [9.0]),
        (status(500), [1.0]),
        (cut_off, [1.0]),
        (not_json, [1.0]),
        (dropped, [1.0]),
    ],
    ids=["429", "500", "cut off", "not JSON", "dropped"],
)
def test_what_passes_is_waited_out(place, fault, waits):
    with Misbehaving(fault, GOOD) as server:
        dialogues, _, found, waited = build(place, server)
    assert not any(item.fallback for item in dialogues)
    assert [int(wait) for wait in waited] == waits
    assert (found.retries, found.failures) == (1, {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("no JSON here", "parse"),
        ('{"turn_1": "Hello, I am look', "parse"),
    ],
    ids=["empty", "refusal", "text", "half"],
)
def test_what_is_no_answer_is_asked_for_again_with_a_complaint(place, text, reason):
    with Misbehaving(reply(text), GOOD) as server:
        dialogues, _, found, _ = build(place, server)
    assert [item.attempts for item in dialogues] == [2, 1, 1, 1]
    assert found.failures == {reason: 1}
    assert "The last reply was no use" in json.dumps(server.requests[1]["messages"])


def test_quotes_that_do_not_exist_are_sent_back_and_never_taken(place):
    with Misbehaving(computed(inventing), GOOD) as server:
        dialogues, _, found, _ = build(place, server)
    assert [item.attempts for item in dialogues] == [2, 1, 1, 1]
    assert found.complaints["invented_quote"] == len(dialogues[0].turns)
    assert "Write no quotation marks" in server.requests[1]["messages"][-1]["content"]
    with Misbehaving(computed(inventing)) as server:
        dialogues, report, found, _ = build(place, server)
    assert all(item.fallback and item.generator == "template" for item in dialogues)
    assert not any("finest" in turn.text for item in dialogues for turn in item.turns)
    assert (report.fallbacks, found.fallbacks) == (4, {"tries": 4})


@pytest.mark.parametrize(
    ("fault", "reason", "calls"),
    [
        (status(401, message=f"bad key {KEY}"), "authentication", 1),
        (status(400), "rejected", 4),
        (status(500), "server", 8),
        (status(429), "rate_limit", 8),
        (TOO_LATE, "timeout", 8),
        (not_json, "server", 8),
        (cut_off, "connection", 8),
        (dropped, "connection", 8),
    ],
    ids=["401", "400", "500", "429", "time-out", "not JSON", "cut off", "dropped"],
)
def test_what_does_not_pass_is_written_by_the_template_and_reported(place, fault, reason, calls):
    with Misbehaving(fault) as server:
        dialogues, report, found, _ = build(place, server, retries=1, timeout=0.3 if fault is TOO_LATE else 5.0)
        assert len(server.requests) == calls
    assert len(dialogues) == report.fallbacks == 4
    assert all(item.fallback and item.generator == "template" for item in dialogues)
    assert (found.fallbacks, found.written, found.fallback_share) == ({reason: 4}, 0, 1.0)
    assert KEY not in f"{found} {found!r} {report.to_json()}"


def test_a_budget_and_a_journal(place, tmp_path):
    options = {"journal": tmp_path / "run.jsonl", "prices": (1.0, 1.0)}
    with Misbehaving(GOOD) as server:
        first, report, found, _ = build(place, server, budget=Budget(usd=0.0002), **options)
        assert (len(first), sum(report.stops.values()), found.calls) == (2, 2, 2)
        assert found.stopped.startswith("budget: 0.0002 of 0.0002 USD")
        second, report, found, _ = build(place, server, **options)
        assert (len(second), report.stops, found.calls, found.resumed) == (4, {}, 2, 2)
        assert len(server.requests) == 4
    assert second[:2] == first
    assert KEY not in (tmp_path / "run.jsonl").read_text()


def test_eight_threads(place):
    with Misbehaving(status(500), GOOD) as server:
        dialogues, _, found, _ = build(place, server, n=20, threads=8)
    wanted, _ = build_dialogues(*place, n_dialogues=20)
    assert [item.dialogue_id for item in dialogues] == [item.dialogue_id for item in wanted]
    assert (found.written, found.retries) == (len(wanted), 1)
