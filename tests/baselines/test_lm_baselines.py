"""Baselines that ask a model: what it is shown, what becomes of its reply, who answers where there is none."""

from __future__ import annotations

import dataclasses
import json

import pytest

from hydrate import UsageError
from tests.baselines.conftest import Played, saying
from trace_dataset.analysis.reproduce import CALLS
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import run_baseline
from trace_dataset.installed import hub_names
from trace_dataset.lm import UNAVAILABLE, Failed, LmSettings, LmStopped
from trace_dataset.retrieval.dense import place_summary
from trace_dataset.retrieval.embeddings import default_encoder, encoder_available
from trace_dataset.retrieval.evidence import rag_citation_check

LM_BASELINES = ("dst", "itinerary_llm", "llm_zero_shot", "memory_augmented", "multi_review_synthesis", "rag_citation")


def state_or(text):
    """Reply to a question for the state with nothing new, and to any other with a text."""

    def reply(number, inputs, fields):
        if "response" in fields:
            return {"response": text}
        lists = ("cuisine_like", "cuisine_avoid", "ambience", "features", "location")
        return {"price": "unstated", "noise": "unstated", **{name: [] for name in lists}}

    return reply


def answer(baseline, context):
    return baseline.respond(context, baseline.rank(context))


def test_these_are_the_baselines_that_ask_a_model():
    found = [name for name in hub_names("baselines") if load_baseline(name).uses_lm]
    assert tuple(found) == LM_BASELINES
    assert [name for name in found if not load_baseline(name).session_isolated] == ["memory_augmented"]


@pytest.mark.parametrize("name", LM_BASELINES)
def test_places_and_citations_are_those_of_the_text(prepared, contexts, benchmark, name):
    context = contexts("recommend")[0]
    place = context.pool[3]
    review = benchmark.kb.reviews_of[place][0]
    label = benchmark.kb.labels(context.pool)[review]
    text = f"Go to {benchmark.kb.pois[place].name} [{label}], not to [R999]."
    response = answer(prepared(name, state_or(text)), context)
    assert response.error is None
    assert response.poi_ids == (place,)
    assert [(item.label, item.review_id) for item in response.citations] == [(label, review)]
    assert response.ranking[0] == place
    assert sorted(response.ranking) == sorted(context.pool)
    assert response.usage["calls"] >= 1
    assert response.usage["cost"] == pytest.approx(0.001 * response.usage["calls"])
    assert "fallback" not in response.usage


@pytest.mark.parametrize("name", LM_BASELINES)
def test_what_a_paid_run_is_said_to_cost_counts_the_questions_of_a_turn(prepared, contexts, benchmark, name):
    context = contexts("greet")[0]
    baseline = prepared(name, state_or("What else matters to you?"))
    answer(baseline, context)
    assert len(baseline.model.asked) == CALLS.get(name, 1)


@pytest.mark.parametrize("name", LM_BASELINES)
@pytest.mark.parametrize("reason", ["parse", "truncated", "empty", "refusal"])
def test_where_the_model_has_no_answer_popularity_stands_in_and_is_counted(prepared, contexts, benchmark, name, reason):
    context = contexts("recommend")[0]
    baseline = prepared(name, lambda *_: Failed(reason))
    response = answer(baseline, context)
    popularity = load_baseline("popularity")
    popularity.prepare(benchmark.kb)
    wanted = answer(popularity, context)
    assert (response.text, response.poi_ids, response.ranking) == (wanted.text, wanted.poi_ids, wanted.ranking)
    assert response.error is None
    assert response.usage["fallback"] == response.usage[f"fallback_{reason}"] == 1.0
    assert response.usage["asked_again"] >= 2
    questions = [
        inputs.get("what_was_wrong_before") for _, inputs, fields in baseline.model.asked if "response" in fields
    ]
    assert questions[0] is None
    assert len(questions) == 3
    assert all(questions[1:])


@pytest.mark.parametrize("name", LM_BASELINES)
def test_where_the_service_fails_nothing_was_measured(prepared, contexts, name):
    context = contexts("recommend")[0]
    response = answer(prepared(name, lambda *_: Failed("timeout")), context)
    assert response.error == f"{UNAVAILABLE}timeout"
    assert response.poi_ids == ()
    assert response.text == ""


def test_a_service_that_stays_away_stops_the_run(prepared, contexts):
    baseline = prepared("llm_zero_shot", lambda *_: Failed("server", "HTTP 503"))
    asked = contexts("recommend")
    for context in asked[:4]:
        assert answer(baseline, context).error
    with pytest.raises(LmStopped, match=r"HTTP 503; 5 turns in a row"):
        answer(baseline, asked[4])


@pytest.mark.parametrize(("reason", "says"), [("authentication", "HTTP 401"), ("budget", "the budget is spent")])
def test_a_refused_key_and_a_spent_budget_stop_it_at_once(prepared, contexts, reason, says):
    baseline = prepared("llm_zero_shot", lambda *_: Failed(reason, "HTTP 401"))
    with pytest.raises(LmStopped, match=says):
        answer(baseline, contexts("recommend")[0])


def test_a_service_that_comes_back_is_forgiven(prepared, contexts):
    baseline = prepared(
        "llm_zero_shot", lambda number, *_: Failed("server") if number % 5 else {"response": "Hello there."}
    )
    assert [bool(answer(baseline, context).error) for context in contexts("recommend")[:10]] == [True] * 4 + [False] + [
        True
    ] * 4 + [False]


def test_a_name_inside_a_quoted_review_is_not_a_recommendation(prepared, contexts, benchmark):
    context = contexts("recommend")[0]
    first, second = (benchmark.kb.pois[place].name for place in context.pool[:2])
    text = f'Try {first}: "we came here after {second} was full again" [R1].'
    assert answer(prepared("llm_zero_shot", saying(text)), context).poi_ids == (context.pool[0],)


@pytest.mark.parametrize("pool", ["16", "open"])
def test_cards_stand_in_no_order_that_tells_the_answer(prepared, contexts, benchmark, pool):
    baseline = prepared("llm_zero_shot", saying("Hello there."))
    for context in contexts("recommend", pool)[:10]:
        answer(baseline, context)
        cards = baseline.model.asked[-1][1]["places"].splitlines()
        names = [line.split(" | ")[0] for line in cards if not line.startswith("  [")]
        shown = sorted(baseline.rank(context)[:16])
        assert names == [benchmark.kb.pois[place].name for place in shown]


def test_a_card_has_three_labelled_reviews_and_a_very_small_model_reads_less(prepared, contexts, benchmark):
    context = contexts("recommend")[0]
    large, small = (
        prepared("llm_zero_shot", saying("Hello there."), name) for name in ("played", "local/smollm2-135m")
    )
    for baseline in (large, small):
        answer(baseline, context)
    told, short = (baseline.model.asked[0][1] for baseline in (large, small))
    labels = benchmark.kb.labels(context.pool)
    for place in context.pool:
        for review in benchmark.kb.reviews_of[place][:3]:
            assert f"[{labels[review]}] " in told["places"]
    assert told["conversation"].count("\n") + 1 == len(context.history)
    assert short["conversation"].count("\n") + 1 == 1
    assert len(short["places"]) < len(told["places"]) / 3
    assert large.parameters["size"] != small.parameters["size"]


def test_the_sentence_is_that_of_the_action(prepared, contexts):
    baseline = prepared("llm_zero_shot", saying("Hello there."))
    for action, word in (("greet", "Greet"), ("compare", "Compare"), ("explain", "question")):
        answer(baseline, contexts(action)[0])
        assert word in baseline.model.asked[-1][0]


def test_rag_asks_again_until_there_is_a_quote_and_then_keeps_the_last_answer(prepared, contexts):
    context = contexts("recommend")[0]

    def reply(number, inputs, fields):
        sentences = [line.partition("): ")[2] for line in inputs["evidence"].splitlines()]
        long = max(sentences, key=lambda sentence: len(sentence.split())).replace('"', "")
        return {"response": f'They say "{long}" [R1].' if number == 2 else f"No quote, try {number}."}

    baseline = prepared("rag_citation", reply)
    response = answer(baseline, context)
    evidence = [item.text for item in baseline.evidence(context, baseline.rank(context))]
    assert len(evidence) == 10
    assert rag_citation_check(response.text, evidence)
    assert response.usage["asked_again"] == 1
    assert "copied exactly" in baseline.model.asked[1][1]["what_was_wrong_before"]
    kept = answer(prepared("rag_citation", lambda number, *_: {"response": f"No quote, try {number}."}), context)
    assert kept.text == "No quote, try 3."
    assert kept.error is None


def test_rag_wants_no_quote_in_a_greeting(prepared, contexts):
    baseline = prepared("rag_citation", saying("Hello there."))
    answer(baseline, contexts("greet")[0])
    assert len(baseline.model.asked) == 1


def test_dst_asks_about_each_user_turn_once_and_filters_by_the_state(prepared, contexts, benchmark):
    context = next(context for context in contexts("recommend") if len(context.history) >= 5)
    prices = {benchmark.kb.pois[place].price for place in context.pool} - {None}
    cheapest = min(prices)

    def reply(number, inputs, fields):
        if "response" in fields:
            return {"response": "Hello there."}
        lists = ("cuisine_like", "cuisine_avoid", "ambience", "features", "location")
        return {"price": "$" * cheapest, "noise": "unstated", **{name: [] for name in lists}}

    baseline = prepared("dst", reply)
    response = answer(baseline, context)
    asked = sum(turn.role == "user" for turn in context.history)
    assert response.usage["calls"] == asked + 1
    assert answer(baseline, context).usage["calls"] == 1
    prices_in_order = [
        benchmark.kb.pois[place].price or 0 for place in response.ranking if place not in context.rejected
    ]
    fitting = [price <= cheapest for price in prices_in_order]
    assert fitting == sorted(fitting, reverse=True)
    assert f"price: {'$' * cheapest}" in baseline.model.asked[-1][1]["the_traveller_wants"]


def test_dst_goes_on_from_the_state_it_had_where_a_delta_will_not_do(prepared, contexts):
    context = contexts("recommend")[0]
    baseline = prepared(
        "dst", lambda number, inputs, fields: {"response": "Hello there."} if "response" in fields else Failed("parse")
    )
    response = answer(baseline, context)
    assert response.text == "Hello there."
    assert response.usage["failed_step_parse"] == sum(turn.role == "user" for turn in context.history)


def test_synthesis_shows_counts_and_no_review(prepared, contexts, benchmark):
    context = contexts("recommend")[0]
    baseline = prepared("multi_review_synthesis", saying("Hello there."))
    answer(baseline, context)
    _, inputs, _ = baseline.model.asked[0]
    lines = inputs["places"].splitlines()
    assert [line.partition(". ")[2].split(" | ")[0] for line in lines] == [
        benchmark.kb.pois[place].name for place in baseline.rank(context)[:3]
    ]
    assert "praise it" in inputs["places"]
    for place in context.pool:
        for review in benchmark.kb.reviews_of[place]:
            assert benchmark.kb.reviews[review].text[:60] not in inputs["places"]


def test_the_map_is_in_the_prompt_of_itinerary_llm(prepared, contexts, benchmark):
    baseline = prepared("itinerary_llm", saying("Hello there."))
    seen = 0
    for context in contexts("recommend"):
        answer(baseline, context)
        for line in baseline.model.asked[-1][1]["within_500_m"].splitlines():
            if line != "nothing of another type":
                seen += 1
                assert f"({context.poi_type})" not in line
                assert line.endswith(" m")
    assert seen


def test_memory_holds_what_the_same_persona_said_in_earlier_dialogues(prepared, benchmark, contexts):
    baseline = prepared("memory_augmented", saying("Hello there."))
    context = contexts("recommend")[0]
    said = context.history[0]
    for number, persona in enumerate(("somebody else", context.persona_description)):
        baseline.reset(f"d{number}")
        baseline.observe(dataclasses.replace(said, text=f"{said.text} That is what {number} said."))
        baseline.rank(dataclasses.replace(context, persona_description=persona))
    baseline.reset("now")
    answer(baseline, context)
    recalled = baseline.model.asked[-1][1]["such_travellers_said_before"]
    assert "That is what 1 said." in recalled
    assert "That is what 0 said." not in recalled
    assert baseline.hour == 2.0


def test_a_memory_is_brought_up_to_date_without_asking(prepared, benchmark, contexts):
    """What the runner does for dialogues that were answered before it was stopped: everything but `respond`."""
    from trace_dataset.evaluation.contexts import turn_contexts
    from trace_dataset.turns import PastTurn

    def run(baseline, dialogues, respond):
        for dialogue in dialogues:
            baseline.reset(dialogue.dialogue_id)
            seen = 0
            for index, context in turn_contexts(dialogue, benchmark.kb.cells, "closed", 42, "x"):
                for turn in dialogue.turns[seen:index]:
                    baseline.observe(PastTurn.of(turn))
                seen = index
                ranking = baseline.rank(context)
                if respond(dialogue):
                    baseline.respond(context, ranking)

    whole, later = (prepared("memory_augmented", saying("Hello there.")) for _ in range(2))
    dialogues = benchmark.dialogues[:60]
    run(whole, dialogues, lambda dialogue: True)
    run(later, dialogues, lambda dialogue: dialogue in dialogues[50:])
    assert later.model.asked == whole.model.asked[-len(later.model.asked) :]
    assert any(inputs["such_travellers_said_before"] != "nothing" for _, inputs, _ in later.model.asked)


@pytest.mark.parametrize("name", LM_BASELINES)
def test_without_a_model_it_says_how_to_name_one(benchmark, name):
    for use in (lambda baseline: baseline.parameters, lambda baseline: baseline.prepare(benchmark.kb)):
        with pytest.raises(UsageError, match=f"{name} asks a language model") as caught:
            use(load_baseline(name))
        assert "--lm local" in str(caught.value)


def test_a_baseline_without_a_model_takes_none():
    with pytest.raises(UsageError, match="tfidf asks no language model"):
        load_baseline("tfidf", lm="local")


def test_parameters_tell_models_apart_and_hold_no_key():
    def parameters(**options):
        return load_baseline("dst", lm=LmSettings("openai/a", options=options)).parameters

    assert parameters(temperature=0.1) != parameters(temperature=0.2)
    assert parameters(api_key="sk-secret") == parameters()
    assert json.loads(json.dumps(parameters())) == parameters()


@pytest.mark.parametrize("name", LM_BASELINES)
def test_a_run_with_a_played_model_is_whole(benchmark, tmp_path, name):
    baseline = load_baseline(name, lm=Played(state_or("Hello there.")))
    run = run_baseline(baseline, benchmark, tmp_path / name, limit=3, strict=True)
    answers = run.responses()
    assert answers
    assert all(item.error is None and item.usage["calls"] >= 1 for item in answers)


def test_the_retriever_is_part_of_what_a_run_depends_on_and_a_wrong_one_is_refused():
    usual = load_baseline("rag_citation", lm="openai/x")
    assert usual.parameters["retriever"] == "tfidf"
    assert load_baseline("multi_review_synthesis", lm="openai/x").parameters["retriever"] == "consensus"
    with pytest.raises(UsageError, match="has the retrievers tfidf, dense"):
        load_baseline("rag_citation", lm="openai/x", retriever="bm25")
    for name in ("tfidf", "multi_review_synthesis"):
        with pytest.raises(UsageError, match="has none to choose"):
            load_baseline(name, retriever="dense")


@pytest.mark.models
@pytest.mark.skipif(not encoder_available(), reason="the sentence encoder is not installed")
def test_dense_ranks_by_plain_cosine_so_that_the_model_is_shown_other_places(contexts, benchmark, monkeypatch):
    monkeypatch.setattr("trace_dataset.lm_baseline.PREFILTER", 3)  # the sample's cells have ten places
    context = next(each for each in contexts("recommend", "open") if each.rejected)
    shown = {}
    for retriever in ("tfidf", "dense"):
        baseline = load_baseline("llm_zero_shot", lm=Played(saying("Hello.")), retriever=retriever)
        baseline.prepare(benchmark.kb)
        ranking = baseline.rank(context)
        baseline.respond(context, ranking)
        cards = baseline.model.asked[0][1]["places"]
        shown[retriever] = {place for place in context.pool if benchmark.kb.pois[place].name in cards}
        assert shown[retriever] == set(ranking[:3])
    assert shown["dense"] != shown["tfidf"]
    texts = [context.query, *(place_summary(benchmark.kb, place) for place in context.pool)]
    vectors = default_encoder().encode(texts)
    cosine = dict(zip(context.pool, vectors[1:] @ vectors[0], strict=True))
    assert ranking == sorted(context.pool, key=lambda place: (-cosine[place], place))
