"""The skeletons of dialogues: what they name, and what they give away."""

from __future__ import annotations

import pytest

from trace_dataset.dialogues.shapes import EXPERT, HARD, ONE_REJECTION, TWO_REJECTIONS, chain_length, events, parse
from trace_dataset.evaluation.shortcuts import Skeleton, by_standing, unnamed
from trace_dataset.schema import RECOMMENDING
from trace_dataset.streams import stream
from trace_dataset.turns import PastTurn, TurnContext

TABLES = {"one": (ONE_REJECTION, 0.565), "two": (TWO_REJECTIONS, 0.035), "hard": (HARD, 0.30), "expert": (EXPERT, 0.10)}
SHAPES = [shape for table, _ in TABLES.values() for shape, _ in table]
PARTNER = "p"


def names(step):
    return tuple(PARTNER if place < 0 else str(place) for place in step.places)


@pytest.mark.parametrize("shape", SHAPES)
def test_three_places_a_comparison_and_no_refused_place_again(shape):
    named, refused, last = set(), set(), None
    for step in parse(shape):
        if step.recommends:
            assert not refused & set(step.places)
            named |= set(step.places)
            last = step.places
        elif step.kind == "X":
            assert step.places in ((last[-1],), last) or set(step.places) == set(last)  # the last one named, or all
            refused |= set(step.places)
    assert len(named) >= 3
    assert any(step.kind == "C" for step in parse(shape))
    assert chain_length(shape) == len({place for place in named if place >= 0})


@pytest.mark.parametrize("name, rejections", [("one", 1), ("two", 2), ("hard", 2), ("expert", 3)])
def test_rejections_of_a_table(name, rejections):
    assert {sum(step.kind == "X" for step in parse(shape)) for shape, _ in TABLES[name][0]} == {rejections}


def test_whoever_is_recommended_later_has_to_support_what_is_asked_before():
    """In `R0 I R1 X1 C20` place 0 only stands beside 2 in the end: it need not meet what is asked after it was named."""
    assert [(event.later, event.refused) for event in events("R0 I R1 X1 C20")] == [
        ((0, 1, 2), ()),
        ((1, 2), ()),
        ((2,), (1,)),
    ]
    assert [(event.later, event.refused) for event in events("R0 X0 C1p Xp R1")] == [
        ((0, 1), ()),
        ((1,), (0,)),
        ((1,), (-1,)),
    ]


def score(rank):
    """Return what a ranker of the skeleton scores on all shapes by their weights, each candidate of the pool equally likely."""
    hits = total = 0.0
    for table, share in TABLES.values():
        weights = sum(weight for _, weight in table)
        for shape, weight in table:
            for context, gold in turns(shape):
                total += share * weight / weights
                hits += share * weight / weights * rank(context, gold)
    return hits / total


def turns(shape):
    """Yield the context and the gold of each recommending turn of a shape; places not named are dots."""
    history = []
    steps = parse(shape)
    everyone = {name for step in steps if step.recommends for name in names(step)}
    pool = (*sorted(everyone), *("." * number for number in range(1, 9 - len(everyone))))
    action = {"R": "recommend", "C": "compare", "X": "reject_and_refine", "I": "inform"}
    for step in steps:
        if step.recommends:
            past = tuple(history) if history else (PastTurn("user", "inform", ""),)
            yield (
                TurnContext("", past, action[step.kind], pool, "", "", "", stream(1, shape, len(history))),
                names(step)[0],
            )
            history.append(PastTurn("system", action[step.kind], "", names(step)))
        else:
            history.append(PastTurn("user", action[step.kind], "", (), (), names(step) if step.kind == "X" else ()))
    assert all(turn.action in RECOMMENDING for turn in history if turn.role == "system")


def certain(rank):
    """Turn a ranker into its chance of a hit where it draws among unnamed places at random."""

    def hit(context, gold):
        first = rank(context)[0]
        named = {place for past in context.history for place in past.poi_ids}
        if first in named:
            return float(first == gold)
        return float(gold not in named) / len(set(context.pool) - named)

    return hit


@pytest.mark.parametrize("position", [0, 1, 2, -1])
def test_places_that_stand_are_no_better_a_guess_than_others(position):
    """A pool of eight: chance is 0.125; leaving out what was refused gives 0.14."""

    def rank(context):
        found = by_standing(position)(context)[0]
        named = {place for past in context.history for place in past.poi_ids}
        return [found] if found in named - set(context.rejected) else unnamed(context)

    assert score(certain(rank)) < 0.155


def test_unnamed_places_are_no_better_a_guess_than_those_not_refused():
    plain = score(lambda context, gold: 1 / (8 - len(set(context.rejected))))
    assert 0.13 < score(certain(unnamed)) < plain + 0.01


def test_the_best_rule_of_the_skeleton_is_near_chance():
    """Known to the last weight, the order of actions and names is worth four points over leaving out what was refused."""
    skeleton = Skeleton()
    for table, share in TABLES.values():
        weights = sum(weight for _, weight in table)
        for shape, weight in table:
            for _ in range(round(1000 * share * weight / weights) or 1):
                for context, gold in turns(shape):
                    skeleton.learn(context, gold)
    assert score(certain(skeleton.rank)) < 0.18
