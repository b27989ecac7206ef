"""The checks of a benchmark: sound data pass, spoilt data fail, and what cannot be told is not told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from trace_dataset.evaluation import evaluate_baseline
from trace_dataset.evaluation.evidence_checks import polarity, unseen_names
from trace_dataset.evaluation.sanity import _not_above, _order, _Trial, check_benchmark
from trace_dataset.evaluation.spread import Mean, difference
from trace_dataset.kb import collect_evidence

MUST_PASS = (
    "oracle: R@1, success, recovery",
    "recovery without rejections",
    "random: R@1",
    "R@1: popularity < tfidf",
    "R@1: tfidf < oracle",
    "R@1 of tfidf: open < closed",
    "R@1 of tfidf after a rejection: new wish deleted < told",
    "shortcut: most stars",
    "shortcut: most reviews",
    "shortcut: name's words in the user's turns",
    "CGS of the references: evidence swapped < as it is",
    "user turns that name a place before the system did",
    "quotes whose polarity agrees with the claim",
)


@pytest.fixture(scope="module")
def checks(benchmark):
    return {check.name: check for check in check_benchmark(benchmark)}


@pytest.fixture(scope="module")
def trial(benchmark):
    return _Trial(benchmark)


@pytest.mark.parametrize("name", MUST_PASS)
def test_the_sample_benchmark_is_sound(checks, name):
    assert checks[name].passed is True, checks[name]
    assert checks[name].n > 0


def test_position_and_controls_are_among_them(checks):
    [position] = [check for name, check in checks.items() if name.startswith("shortcut: position")]
    assert position.passed is True
    assert {
        "shortcut: last place named (parrot)",
        "R@1: parrot < tfidf",
        "shortcut: any place not named before",
    } <= set(checks)
    assert checks["control: recovery of random_unseen"].passed is None
    assert all(check.value and str(check) for check in checks.values())


@pytest.mark.parametrize("name", ["tfidf", "parrot", "popularity", "random_unseen"])
def test_its_figures_are_those_of_the_evaluation(trial, benchmark, name):
    estimates = evaluate_baseline(name, benchmark).estimates(resamples=200)
    hits, recovery = trial.hits(name), trial._recovery(name)
    assert (hits.value, hits.n) == (pytest.approx(estimates["recall_at_1"].value), estimates["recall_at_1"].n)
    assert recovery.value == pytest.approx(estimates["rejection_recovery"].value)
    low, high = hits.interval()
    assert low == pytest.approx(estimates["recall_at_1"].low, abs=0.015)
    assert high == pytest.approx(estimates["recall_at_1"].high, abs=0.015)


def test_golds_that_always_stand_in_front_are_found_out(benchmark):
    """Golds are moved to the front of the candidates, as a careless generator might leave them."""
    spoilt = [
        replace(
            item,
            candidates=tuple(
                dict.fromkeys([*(turn.gold_poi_ids[0] for turn in item.turns if turn.gold_poi_ids), *item.candidates])
            ),
        )
        for item in benchmark.dialogues
    ]
    found = _Trial(replace(benchmark, dialogues=spoilt)).shortcuts()
    assert found[0].name.startswith("shortcut: position ")
    assert found[0].passed is False


def test_golds_that_are_the_best_rated_are_found_out(benchmark):
    stars = {business: poi.stars for business, poi in benchmark.kb.pois.items()}

    def worst(item):
        return min(item.candidates, key=lambda business: (stars[business], business))

    spoilt = [
        replace(
            item,
            turns=tuple(replace(turn, gold_poi_ids=(worst(item),) if turn.gold_poi_ids else ()) for turn in item.turns),
        )
        for item in benchmark.dialogues
    ]
    found = {check.name: check for check in _Trial(replace(benchmark, dialogues=spoilt)).shortcuts()}
    assert found["shortcut: fewest stars"].passed is False
    assert found["shortcut: most stars"].passed is True


def test_a_user_who_names_a_place_too_early_is_counted(benchmark):
    item = benchmark.dialogues[0]
    name = benchmark.kb.pois[item.candidates[0]].name
    spoilt = replace(item, turns=(replace(item.turns[0], text=f"How about {name}?"), *item.turns[1:]))
    assert unseen_names(benchmark, [spoilt])[1:4] == ("1", "= 0", False)
    assert unseen_names(benchmark, benchmark.dialogues)[3] is True


def test_a_quote_that_complains_is_counted(benchmark):
    evidence = collect_evidence(benchmark.kb)
    for item in benchmark.dialogues:
        for turn in item.turns:
            for quote in turn.quotes if turn.action == "recommend" else ():
                wishes = [wish for other in item.turns for wish in other.constraints if wish.slot == "aspect"]
                blame = [span for wish in wishes for span in evidence.spans(quote.business_id, wish, -1)]
                if not blame:
                    continue
                bad = replace(quote, review_id=blame[0].review_id, start=blame[0].start, end=blame[0].end)
                praise = [
                    span
                    for span in evidence.any_spans(quote.business_id)
                    if span.review_id == bad.review_id and span.start < bad.end and bad.start < span.end
                ]
                if praise:
                    continue
                spoilt = replace(
                    item,
                    turns=tuple(
                        replace(other, quotes=(bad,)) if other is turn else replace(other, quotes=())
                        for other in item.turns
                    ),
                )
                assert polarity(benchmark, [spoilt])[1:4] == ("0 of 1", "all", False)
                return
    pytest.fail("no place of the sample has a complaint about what was asked")


def test_an_interval_that_holds_both_gives_no_verdict():
    a = Mean.of([[1, 0], [0, 1], [1, 1], [0, 0]])
    b = Mean.of([[1, 0], [1, 1], [0, 1], [0, 1]])
    assert _order("a < b", a, b).passed is None
    assert "no verdict" in _order("a < b", a, b).bound
    assert _order("a < a", a, a).passed is None
    many = Mean.of([[0, 0]] * 9 + [[1, 0]])
    assert _order("many < a", many, Mean.of([[1, 1]] * 10)).passed is True
    assert _order("a < many", Mean.of([[1, 1]] * 10), many).passed is False
    assert _not_above(a, 0.5, 1.96) is True
    assert _not_above(a, 0.4, 1.96) is None
    assert _not_above(Mean.of([[1, 1]] * 10), 0.4, 1.96) is False


def test_few_cells_give_no_verdict_on_orders(benchmark):
    """As on the excerpt of five cells: what must hold is judged, what depends on a handful of places is shown."""
    few = [item for item in benchmark.dialogues if item.city in ("Reno", "Tampa")]
    small = replace(benchmark, dialogues=few)
    small.finder = benchmark.finder
    found = {check.name: check for check in check_benchmark(small)}
    undecided = [check for name, check in found.items() if name.startswith(("R@1", "shortcut", "control"))]
    assert {check.passed for check in undecided} == {None}
    assert "no verdict from 6 cells" in found["shortcut: most stars"].bound
    judged = [check for name, check in found.items() if not name.startswith(("R@1", "shortcut", "control"))]
    assert len(judged) == 6
    assert {check.passed for check in judged} == {True}


def test_means_without_values_are_undefined():
    empty = Mean.of([[], []])
    assert empty.value is None
    assert str(empty) == "-"
    assert all(math.isnan(number) for number in difference(empty, empty))
    assert _order("empty", empty, empty).passed is None


def test_the_interval_agrees_with_the_textbook():
    """Every dialogue one turn: the standard error is that of a mean."""
    values = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]
    low, high = Mean.of([[value] for value in values]).interval(1.0)
    deviation = math.sqrt(sum((value - 0.6) ** 2 for value in values) / 9)
    assert (high - low) / 2 == pytest.approx(deviation / math.sqrt(10))
