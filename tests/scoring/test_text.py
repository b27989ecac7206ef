"""Text primitives beyond the worked cases: marks, labels, line breaks, scripts, and texts of a megabyte."""

from __future__ import annotations

import time

import pytest
from rapidfuzz import fuzz

from trace_dataset.scoring import text


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("[R0] and [R99]", [0, 99]),
        ("[r3] [R 3] [R3 R] R3 [R] [R-1] [Q:3]", []),
        ("[R1 ,  R2;R3]", [1, 2, 3]),
        ("[R" + "9" * 5000 + "]", []),
        ("[R١]", []),
        ("[[R5]]", [5]),
    ],
)
def test_labels(given: str, labels: list[int]) -> None:
    assert text.parse_citations(given) == labels


def test_label_positions_are_offsets_of_the_bracket() -> None:
    given = "é “x” [R2, R4] b [R1]"
    assert text.label_positions(given) == [(6, (2, 4)), (17, (1,))]
    assert [given[at] for at, _ in text.label_positions(given)] == ["[", "["]


@pytest.mark.parametrize(
    ("given", "quotes"),
    [
        ('"a', []),
        ('"a" "b', ["a"]),
        ('one "two\nthree" four', []),
        ('"first\r\n"second"', ["second"]),
        ("‘single’ and 'plain'", []),
        ("“outer “inner” outer”", ["outer “inner” outer"]),
        ('“never closed, "straight one"', ["never closed,"]),
        ("” stray “real”", ["real"]),
        ("«Très bon» dit-elle", ["Très bon"]),
        ("“很好吃” 他说", ["很好吃"]),
        ("“אוכל טעים” אמר", ["אוכל טעים"]),
        ('"  padded  "', ["padded"]),
        ('"" ""', []),
        ('"”“"', []),
    ],
)
def test_quotes(given: str, quotes: list[str]) -> None:
    assert text.extract_quotes(given) == quotes


def test_quote_spans_are_offsets_into_the_text() -> None:
    given = 'Sí: " two words " [R1]\n“três”'
    spans = text.quote_spans(given)
    assert [given[span.start : span.end] for span in spans] == ["two words", "três"]
    assert [span.n_tokens for span in spans] == [2, 1]


def test_a_long_invention_that_contains_a_short_review_does_not_match() -> None:
    quote = "the best soup in the whole wide world with a view of the sea"
    assert fuzz.partial_ratio(quote, "soup") == 100
    assert text.quote_similarity(quote, "soup") < 0.2


def test_similarity_is_the_library_s_where_the_quote_is_the_shorter() -> None:
    review = "the tacos were smoky and tender and the salsa bar is huge"
    for quote in ("smokey and tender", "salsa bars are huge", "x", "tacos were not smoky"):
        assert text.quote_similarity(quote, review) == pytest.approx(fuzz.partial_ratio(quote, review) / 100)


@pytest.mark.parametrize(
    ("given", "sentences"),
    [
        ("Mt. Hood is near. Go!", ["Mt. Hood is near.", "Go!"]),
        ("Is it on Main St? Yes.", ["Is it on Main St?", "Yes."]),
        ("It is $20. $30 with wine.", ["It is $20.", "$30 with wine."]),
        ("Good (really!) Next one.", ["Good (really!)", "Next one."]),
        ("One... two. Three", ["One... two.", "Three"]),
        ("Élan vital. École.", ["Élan vital.", "École."]),
        ("没有空格。下一句", ["没有空格。下一句"]),
        ("", []),
    ],
)
def test_sentences(given: str, sentences: list[str]) -> None:
    assert text.split_sentences(given) == sentences


def test_bleu_and_rouge_at_their_edges() -> None:
    assert text.bleu4("", "") == text.rouge_l("", "") == 0.0
    assert text.bleu4("the patio", "") == text.bleu4("", "the patio") == 0.0
    assert round(text.bleu4("a b c", "a b c"), 6) == 0.562341  # order 4 is empty
    assert text.rouge_l("a b c", "a b c") == 1.0


@pytest.mark.parametrize(
    "mark", ['"', "“", "”", "“”", '"a" ', "“a", "[R1]", "a. A", "\n", "'", "[R", ".", ". ", "[R1] ."]
)
def test_a_megabyte_of_anything_takes_seconds_at_most(mark: str) -> None:
    given = mark * (1_000_000 // len(mark))
    start = time.monotonic()
    text.extract_quotes(given)
    text.parse_citations(given)
    text.tokenize(given)
    text.split_sentences(given)
    assert time.monotonic() - start < 20  # quadratic work would take hours


def test_lone_surrogates_become_replacement_characters() -> None:
    assert text.without_surrogates("a\ud800b \U0001f32e \ud83c\udf2e") == "a\ufffdb 🌮 🌮"
    assert text.without_surrogates("é 🌮") == "é 🌮"
