import json
from pathlib import Path

import pytest

from trace_dataset.dialogues import validate_dialogue
from trace_dataset.dialogues.validation import system_text_failures, user_text_failures

REVIEWS = {
    "1": "The tacos were smoky and tender.",
    "2": "Quiet patio with string lights.",
    "3": "Rooms are small but spotless.",
}


def turn(role, action, text="", pred=()):
    return {"role": role, "action": action, "text": text, "pred": list(pred)}


def sound():
    return [
        turn("user", "inform"),
        turn("system", "recommend", 'Try A: "smoky and tender" [R1].', ["a"]),
        turn("user", "reject_and_refine"),
        turn("system", "recommend", 'B: "Quiet patio" [R2].', ["b"]),
        turn("user", "inform"),
        turn("system", "compare", 'C: "spotless" [R3]; B: "string lights" [R2].', ["c", "b"]),
    ]


def test_a_sound_dialogue_passes():
    assert validate_dialogue(sound(), ["a", "b", "c"], REVIEWS) == []


@pytest.mark.parametrize(
    "change, expected",
    [
        (lambda turns: turns.pop(0), "alternation"),
        (lambda turns: turns[5].update(action="recommend"), "compare"),
        (lambda turns: turns[2].update(action="inform"), "rejections"),
        (lambda turns: turns[5].update(pred=["b", "a"]), "recommendations"),
        (lambda turns: turns[5].update(pred=["c", "x"]), "poi_reference"),
        (lambda turns: turns[1].update(text="Try A."), "citation"),
        (lambda turns: turns[1].update(text='Try A: "smoky and tender" [R1][R9].'), "review_reference"),
        (lambda turns: turns[1].update(text='Try A: "smoky and tender" [R2].'), "quote"),
    ],
)
def test_each_check_fails_alone(change, expected):
    turns = sound()
    change(turns)
    assert validate_dialogue(turns, ["a", "b", "c"], REVIEWS) == [expected]


def test_no_turns_are_not_a_dialogue():
    assert validate_dialogue([], ["a"], {}) == ["alternation", "compare", "recommendations", "rejections"]


def test_users_name_no_place_and_give_no_gold_away():
    assert user_text_failures(["I'd rather try the Blue Door!"], ["Blue Door", "Oak"], frozenset()) == [
        "user_names_place"
    ]
    assert user_text_failures(["something blue"], ["Blue Door"], frozenset({"blue"})) == ["name_token"]
    assert user_text_failures(["something with oaks"], ["Blue Door", "Oak"], frozenset({"blue"})) == []


def test_systems_name_places_in_order():
    assert system_text_failures("Oak first, then Blue Door.", ["Oak", "Blue Door"]) == []
    assert system_text_failures("Oak first, then Blue Door.", ["Blue Door", "Oak"]) == ["place_unnamed"]


CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "worked_examples.json"


@pytest.mark.skipif(not CASES.exists(), reason="the worked cases are kept outside the repository")
def test_the_worked_cases():
    cases = [case for case in json.loads(CASES.read_text())["cases"] if case["metric"] == "validate_dialogue"]
    assert len(cases) >= 4
    for case in cases:
        assert validate_dialogue(**case["inputs"], **case["params"]) == case["expected"], case["id"]
