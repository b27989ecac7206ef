from __future__ import annotations

import pytest

from trace_dataset.kb.phrases import expand
from trace_dataset.kb.sentences import sentence_offsets
from trace_dataset.kb.words import Reader, lower

WORKED = [  # definitions 2.6
    ("It is cozy. Parking is free! Shall I book?", ["It is cozy.", "Parking is free!", "Shall I book?"]),
    ("Open till 9 p.m. daily. Great views.", ["Open till 9 p.m. daily.", "Great views."]),
    ("   ", []),
    (
        "Rooms are cozy. [R3] The inn on St. Charles is close.",
        ["Rooms are cozy. [R3]", "The inn on St. Charles is close."],
    ),
    ('"Loved it!" [R1][R2] Parking is free.', ['"Loved it!" [R1][R2]', "Parking is free."]),
]


@pytest.mark.parametrize("text, expected", WORKED)
def test_worked_cases(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_offsets(text)] == expected


def test_offsets_count_code_points_of_the_raw_text() -> None:
    text = "Wow 🌮!  Ëtoile was great.\n\nMr. Lee says $5 is fair.  $7 is not."
    assert [text[start:end] for start, end in sentence_offsets(text)] == [
        "Wow 🌮!",
        "Ëtoile was great.",
        "Mr. Lee says $5 is fair.",
        "$7 is not.",
    ]


def test_lower_case_keeps_every_character_in_its_place() -> None:
    text = "İSTANBUL’S Café WASN’T É"
    assert len(lower(text)) == len(text)
    assert lower(text)[8:10] == "'s"


def test_patterns() -> None:
    assert [" ".join(text.split()) for text in expand("(no (street)?|easy) parking")] == [
        "no street parking",
        "no parking",
        "easy parking",
    ]
    with pytest.raises(ValueError, match="unbalanced"):
        list(expand("free) parking"))


def test_clauses() -> None:
    reader = Reader()

    def cut(text: str) -> list[str]:
        return [text[clause.start : clause.end] for clause in reader.clauses(lower(text), 0, len(text))]

    assert cut("Great food, but the parking was a nightmare.") == ["Great food", "the parking was a nightmare"]
    assert cut("The soup was hot and the bread (warm) was fresh; we left.") == [
        "The soup was hot",
        "the bread",
        "warm",
        "was fresh",
        "we left",
    ]
    assert cut("We waited a while yet loved it") == ["We waited a while", "loved it"]
    assert cut("Food and service were good") == ["Food and service were good"]
