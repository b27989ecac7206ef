"""What a service can do wrong, done by a server on loopback: each tried again or not, named, never taken for an answer."""

import json
import threading

import pytest

from hydrate.errors import UsageError
from tests.lm.misbehaving import KEY, Misbehaving, computed, cut_off, dropped, fields, not_json, reply, slow, status
from trace_dataset.lm import Answer, Budget, Choice, Failed, Number, Text, open_lm

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytestmark = pytest.mark.llm

GREETING = {"greeting": Text("a greeting", most=40)}
GOOD = fields(greeting="hello there")


class Recorder:
    """Stands for `time.sleep`."""

    def __init__(self):
        self.waits = []

    def __call__(self, seconds):
        self.waits.append(seconds)


def ask(server, wanted=GREETING, **options):
    sleep = Recorder()
    with open_lm("openai/fake-1", server.api_base, api_key=KEY, sleep=sleep, **{"timeout": 5.0, **options}) as lm:
        outcome = lm.ask("Greet.", {"name": "Ada"}, wanted)
    return outcome, sleep.waits, lm


def test_an_answer_with_its_tokens_and_the_name_of_the_model():
    with Misbehaving(GOOD) as server:
        outcome, waits, lm = ask(server)
    assert isinstance(outcome, Answer)
    assert dict(outcome.values) == {"greeting": "hello there"}
    assert (outcome.model, outcome.usage.prompt_tokens, outcome.usage.completion_tokens) == ("fake-1", 100, 20)
    assert (waits, lm.meter.usage.calls, lm.meter.retries) == ([], 1, 0)


def test_the_schema_is_sent_with_its_bounds_to_an_own_server():
    with Misbehaving(fields(greeting="hi", score=3, tone="kind")) as server:
        wanted = {**GREETING, "score": Number("how warm", 1, 5), "tone": Choice("tone", ("kind", "rude"))}
        outcome, _, _ = ask(server, wanted)
    assert isinstance(outcome, Answer)
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["greeting"] == {"type": "string", "minLength": 1, "maxLength": 40}
    assert schema["properties"]["score"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert schema["properties"]["tone"]["enum"] == ["kind", "rude"]


@pytest.mark.parametrize(
    "fault",
    [status(500), status(503), status(429), cut_off, not_json, dropped],
    ids=["500", "503", "429", "cut off", "not JSON", "dropped"],
)
def test_what_passes_is_tried_again_with_growing_waits(fault):
    with Misbehaving(fault, fault, GOOD) as server:
        outcome, waits, lm = ask(server)
    assert isinstance(outcome, Answer), outcome
    assert outcome.retries == lm.meter.retries == 2
    assert 1.0 <= waits[0] <= 1.25
    assert 2.0 <= waits[1] <= 2.5


def test_retry_after_is_honoured():
    with Misbehaving(status(429, [("Retry-After", "7")]), GOOD) as server:
        outcome, waits, _ = ask(server)
    assert isinstance(outcome, Answer)
    assert waits == [7.0]


def test_a_service_that_wants_an_hour_is_not_waited_for():
    with Misbehaving(status(429, [("Retry-After", "3600")])) as server:
        outcome, waits, _ = ask(server)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.retry_after, waits, len(server.requests)) == ("rate_limit", 3600.0, [], 1)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(500), "server"),
        (status(429), "rate_limit"),
        (not_json, "server"),
        (cut_off, "connection"),
        (dropped, "connection"),
    ],
    ids=["500", "429", "not JSON", "cut off", "dropped"],
)
def test_what_does_not_pass_ends_after_the_retries_with_its_reason(fault, reason):
    with Misbehaving(fault) as server:
        outcome, waits, lm = ask(server, retries=2)
    assert isinstance(outcome, Failed)
    assert outcome.reason == reason
    assert (len(server.requests), len(waits), outcome.retries) == (3, 2, 2)
    assert lm.meter.failures == {reason: 1}


def test_a_reply_that_comes_too_late_is_tried_again():
    with Misbehaving(slow(1.5), GOOD) as server:
        outcome, waits, _ = ask(server, timeout=0.4)
    assert isinstance(outcome, Answer)
    assert len(waits) == 1
    with Misbehaving(slow(1.5)) as server:
        outcome, _, _ = ask(server, timeout=0.4, retries=0)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "timeout"


def test_a_server_that_is_not_there():
    with Misbehaving(GOOD) as server:
        gone = server
    outcome, waits, _ = ask(gone, retries=1)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, len(waits)) == ("connection", 1)


@pytest.mark.parametrize(
    ("code", "reason"), [(401, "authentication"), (403, "authentication"), (400, "rejected"), (404, "rejected")]
)
def test_what_is_refused_is_not_sent_again(code, reason):
    with Misbehaving(status(code, message=f"bad key {KEY} for Bearer {KEY}")) as server:
        outcome, waits, _ = ask(server)
    assert isinstance(outcome, Failed)
    assert (outcome.reason, waits, len(server.requests)) == (reason, [], 1)
    assert KEY not in f"{outcome} {outcome!r}"
    assert str(code) in outcome.detail


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ('{"greeting": ""}', "empty"),
        ('{"greeting": "  "}', "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ('{"greeting": "As an AI, I have no friends."}', "refusal"),
        ("hello there", "parse"),
        ('{"greeting": "hello', "parse"),
        ('{"salute": "hello"}', "parse"),
        ("[1, 2]", "parse"),
        ('{"greeting": "' + "x" * 41 + '"}', "parse"),
    ],
)
def test_no_use_is_made_of_an_answer_that_is_none(text, reason):
    with Misbehaving(reply(text)) as server:
        outcome, waits, lm = ask(server)
    assert isinstance(outcome, Failed)
    assert outcome.reason == reason
    assert (waits, len(server.requests)) == ([], 1)
    assert outcome.usage.tokens == lm.meter.usage.tokens == 120  # paid for all the same
    assert "hello" not in str(outcome)


def test_a_reply_cut_off_at_its_longest_is_no_answer_even_where_it_parses():
    with Misbehaving(reply('{"greeting": "hello"}', finish="length")) as server:
        outcome, _, _ = ask(server)
    assert isinstance(outcome, Failed)
    assert outcome.reason == "truncated"


def test_a_fence_around_json_is_no_fault():
    with Misbehaving(reply('```json\n{"greeting": "hello"}\n```')) as server:
        outcome, _, _ = ask(server)
    assert isinstance(outcome, Answer)


@pytest.mark.parametrize("value", [0, 6, "many", 2.5, None])
def test_a_number_out_of_range_is_neither_clamped_nor_guessed(value):
    with Misbehaving(reply(json.dumps({"score": value}))) as server:
        outcome, _, _ = ask(server, {"score": Number("how warm", 1, 5)})
    assert isinstance(outcome, Failed)
    assert outcome.reason == "parse"


def test_a_budget_of_tokens_ends_the_questions():
    sleep = Recorder()
    with (
        Misbehaving(GOOD) as server,
        open_lm("openai/fake-1", server.api_base, api_key=KEY, sleep=sleep, budget=Budget(tokens=200)) as lm,
    ):
        outcomes = [lm.ask("Greet.", {"name": "Ada"}, GREETING) for _ in range(4)]
        assert len(server.requests) == 2  # 120 tokens each: the second passes the limit, a third is not sent
    assert [type(outcome) for outcome in outcomes] == [Answer, Answer, Failed, Failed]
    assert outcomes[2].reason == "budget"
    assert "240 of 200 tokens" in outcomes[2].detail


def test_a_budget_in_dollars_needs_a_price():
    with Misbehaving(GOOD) as server:
        outcome, _, lm = ask(server, budget=Budget(usd=1.0))
        assert isinstance(outcome, Answer)
        assert lm.meter.unpriced_calls == 1
        unpriced = lm.ask("Greet.", {"name": "Ada"}, GREETING)
        assert isinstance(unpriced, Failed)
        assert "price" in unpriced.detail
        outcome, _, lm = ask(server, budget=Budget(usd=1.0), prices=(10_000.0, 0.0))
        assert lm.meter.usage.cost == pytest.approx(1.0)
        assert lm.ask("Greet.", {"name": "Ada"}, GREETING).reason == "budget"


def test_the_seed_moves_with_the_variation():
    with Misbehaving(GOOD) as server, open_lm("openai/fake-1", server.api_base, api_key=KEY, seed=7) as lm:
        lm.ask("Greet.", {"name": "Ada"}, GREETING)
        lm.ask("Greet.", {"name": "Ada"}, GREETING, variation=2)
    assert [request["seed"] for request in server.requests] == [7, 9]


def test_threads_and_two_models_do_not_meet():
    def named(name):
        return computed(lambda request: {"greeting": f"{name} {request['model']}"})

    with (
        Misbehaving(named("first")) as one,
        Misbehaving(named("second")) as two,
        open_lm("openai/a", one.api_base, api_key=KEY) as first,
        open_lm("openai/b", two.api_base, api_key=KEY) as second,
    ):
        found = []

        def work(lm, wanted):
            for _ in range(5):
                outcome = lm.ask("Greet.", {"name": "Ada"}, GREETING)
                found.append(outcome.values["greeting"] == wanted)

        threads = [threading.Thread(target=work, args=pair) for pair in ((first, "first a"), (second, "second b")) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [True] * 20
    assert first.meter.usage.calls == second.meter.usage.calls == 10


def test_names_and_settings_that_do_not_work_are_refused_before_anything_is_spent():
    with pytest.raises(UsageError, match="names no provider"):
        open_lm("gpt-4")
    with pytest.raises(UsageError, match="settings: temperature"):
        open_lm("openai/o1", temperature=0.5, api_key=KEY)
    assert open_lm("openai/o1", api_key=KEY).name == "openai/o1"
    with pytest.raises(UsageError, match=r"no model file at /nowhere\.gguf"):
        open_lm("local:/nowhere.gguf")


def test_a_model_of_dspy_is_taken_with_its_settings_but_without_its_cache():
    import dspy

    with Misbehaving(status(500), GOOD) as server:
        given = dspy.LM("openai/fake-1", api_base=server.api_base, api_key=KEY, temperature=0.5, num_retries=3)
        with open_lm(given, sleep=Recorder()) as lm:
            outcomes = [lm.ask("Greet.", {"name": "Ada"}, GREETING) for _ in range(2)]
        assert len(server.requests) == 3  # one fault, and no answer from a cache
    assert all(isinstance(outcome, Answer) for outcome in outcomes)
    assert [outcome.retries for outcome in outcomes] == [1, 0]
    assert server.requests[0]["temperature"] == 0.5
    assert lm.signature["options"]["temperature"] == 0.5
    assert KEY not in str(lm.signature)
    assert given.cache
    with pytest.raises(UsageError, match="int is no language model"):
        open_lm(3)


def test_a_setting_that_the_service_does_not_have_is_not_dropped_in_silence():
    with pytest.raises(UsageError, match="takes no seed"):
        open_lm("anthropic/claude-sonnet-4-5", api_key=KEY, seed=7)
    assert open_lm("anthropic/claude-sonnet-4-5", api_key=KEY, temperature=0.5).bounded is False


def test_keys_are_in_no_text_of_ours():
    lm = open_lm("openai/fake-1", "http://127.0.0.1:9/v1", api_key=KEY)
    assert KEY not in f"{lm!r} {lm.signature} {lm.meter}"
