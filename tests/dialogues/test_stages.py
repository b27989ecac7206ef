"""Scenarios, candidates, shapes, wishes: each stage by itself."""

import random
from collections import Counter

import pytest

from trace_dataset.dialogues.candidates import draw_candidates
from trace_dataset.dialogues.draws import pick, pick_weighted, shuffled, weighted_order
from trace_dataset.dialogues.scenario import WISH_GROUPS, draw_scenario, personas
from trace_dataset.dialogues.shapes import EXPERT, HARD, ONE_REJECTION, TWO_REJECTIONS, draw_shape, events, parse
from trace_dataset.dialogues.speech import finish, join, lower_first, lowered
from trace_dataset.dialogues.wishes import wording
from trace_dataset.kb.lexicon import catalogue
from trace_dataset.schema import POI, Constraint

USES = {"thing", "where", "say", "ask", "fails", "lacks", "claims", "bad", "topic"}
CELLS = [("Reno", "hotel"), ("Tampa", "attraction"), ("Tampa", "hotel")]


def test_there_are_47_personas_with_weights_for_every_group():
    everyone = personas()
    assert len({persona.key for persona in everyone}) == len({persona.description for persona in everyone}) == 47
    for persona in everyone:
        assert set(persona.weights) == set(WISH_GROUPS)
        assert set(persona.favours) <= set(catalogue())
        assert set(persona.avoids) <= set(catalogue())
        assert not set(persona.favours) & set(persona.avoids)
        assert persona.description.endswith(".")


def test_cells_and_personas_go_round_and_tiers_keep_their_weights():
    scenarios = [draw_scenario(42, index, CELLS) for index in range(4700)]
    assert set(Counter(item.persona.key for item in scenarios).values()) == {100}
    assert max(Counter((item.city, item.poi_type) for item in scenarios).values()) == 1567
    tiers = Counter(item.tier for item in scenarios)
    for tier, share in (("easy", 0.25), ("medium", 0.35), ("hard", 0.30), ("expert", 0.10)):
        assert abs(tiers[tier] / 4700 - share) < 0.02


def test_a_scenario_depends_on_its_number_alone():
    assert draw_scenario(42, 7, CELLS) == draw_scenario(42, 7, CELLS)
    assert {draw_scenario(42, 7, CELLS, draw).tier for draw in range(40)} > {draw_scenario(42, 7, CELLS).tier}


def place(number, stars, category, name=None):
    return POI(
        f"b{number:03d}", name or f"Place {number}", "", "Reno", "NV", "hotel", None, None, (category,), stars, 5, None
    )


def test_candidates_come_from_three_star_bands_and_many_categories():
    places = [place(number, (3.0, 3.5, 4.0, 4.5)[number % 4], f"C{number % 10}") for number in range(60)]
    by_id = {item.business_id: item for item in places}
    for seed in range(50):
        chosen = [by_id[key] for key in draw_candidates(places, random.Random(seed))]
        assert len({item.business_id for item in chosen}) == 8
        assert [sum(low <= item.stars < high for item in chosen) for low, high in ((0, 3.5), (3.5, 4.2), (4.2, 6))] == [
            2,
            3,
            3,
        ]
        assert max(Counter(item.categories[0] for item in chosen).values()) <= 2


def test_short_bands_are_refilled_and_one_category_is_no_obstacle():
    places = [place(number, 5.0, "Hotels") for number in range(12)]
    assert len(draw_candidates(places, random.Random(1))) == 8
    assert len(draw_candidates(places[:5], random.Random(1))) == 5


def test_two_places_of_one_name_are_never_in_a_pool():
    places = [place(number, 4.0, f"C{number}", "Twin" if number % 2 else None) for number in range(16)]
    by_id = {item.business_id: item for item in places}
    for seed in range(20):
        names = [by_id[key].name for key in draw_candidates(places, random.Random(seed))]
        assert len(names) == len(set(names))


def test_the_order_of_places_does_not_decide():
    places = [place(number, (3.0, 4.0, 4.5)[number % 3], f"C{number % 9}") for number in range(30)]
    assert draw_candidates(places, random.Random(3)) == draw_candidates(places[::-1], random.Random(3))


@pytest.mark.parametrize("table, rejections", [(ONE_REJECTION, 1), (TWO_REJECTIONS, 2), (HARD, 2), (EXPERT, 3)])
def test_shapes_keep_the_rules(table, rejections):
    for shape, weight in table:
        steps = parse(shape)
        assert weight > 0
        assert sum(step.kind == "X" for step in steps) == rejections
        assert any(step.kind == "C" for step in steps)
        assert [step.recommends for step in steps] == [index % 2 == 0 for index in range(len(steps))]
        assert len({index for step in steps if step.recommends for index in step.places}) >= 3
        refused = set()
        for index, step in enumerate(steps):
            if step.kind == "X":
                assert set(step.places) <= set(steps[index - 1].places)
                refused |= set(step.places)
            assert not step.recommends or not refused & set(step.places)
        for event in events(shape):
            assert event.later
            assert not set(event.later) & set(event.refused)


def test_a_tenth_of_the_medium_shapes_reject_twice():
    shapes = [draw_shape("medium", random.Random(seed)) for seed in range(3000)]
    twice = sum(shape.count("X") == 2 for shape in shapes)
    assert 0.08 < twice / 3000 < 0.12


def test_every_aspect_of_the_catalogue_has_words_for_every_use():
    for key, aspect in catalogue().items():
        words = wording(Constraint("aspect", key))
        assert words.known, key
        assert set(words.lines) == USES
        assert all(words.lines[use] for use in USES)
        assert words.group in WISH_GROUPS
        assert set(aspect.types) & set(words.types), key
        assert words.clashes <= set(catalogue())


@pytest.mark.parametrize(
    "slot, value",
    [
        ("price", "budget"),
        ("price", "moderate"),
        ("price", "upscale"),
        ("distance", "central"),
        ("category", "Museums"),
        ("category", "Thai"),
    ],
)
def test_other_wishes_have_words_too(slot, value):
    assert set(wording(Constraint(slot, value)).lines) == USES


def test_a_wish_without_words_is_never_asked():
    assert not wording(Constraint("aspect", "levitation")).fits("hotel")
    assert not wording(Constraint("category", "Notaries")).fits("attraction")
    assert not wording(Constraint("distance", "remote")).fits("hotel")


@pytest.mark.parametrize(
    "value, ceiling",
    [("budget", {"budget", "cheap", "affordable"}), ("moderate", {"moderate"}), ("upscale", {"upscale", "luxury"})],
)
def test_price_wishes_use_the_words_that_price_alignment_reads(value, ceiling):
    for use in ("thing", "where", "say"):
        lines = wording(Constraint("price", value)).lines[use]
        assert sum(any(word in line for word in ceiling) for line in lines) >= len(lines) / 2


def test_draws_need_only_random():
    class Zero:
        def random(self):
            return 0.0

    assert pick(Zero(), "abc") == "a"
    assert pick_weighted(Zero(), "abc", [0, 0, 1]) == "c"
    assert sorted(shuffled(random.Random(1), range(9))) == list(range(9))
    assert sorted(weighted_order(random.Random(1), "abc", [1, 0, 2])) == ["a", "c"]


def test_weights_are_kept():
    counts = Counter(pick_weighted(random.Random(seed), "ab", [1, 3]) for seed in range(2000))
    assert 0.7 < counts["b"] / 2000 < 0.8


def test_fragments_become_sentences():
    assert finish("somewhere quiet. and cheap?") == "Somewhere quiet. And cheap?"
    assert finish("is it far?.") == "Is it far?"
    assert join("", "yes", "no!") == "Yes. No!"
    assert lower_first("I'm here") == "I'm here"
    assert lower_first("Somewhere") == "somewhere"
    assert lowered("Hi. I'm here.") == "hi. i'm here"
