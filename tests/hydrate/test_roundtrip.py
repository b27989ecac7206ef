"""Properties over generated dialogues and reviews: what goes out comes back, and a flipped character is noticed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hydrate
from hydrate import span_sha256

CI, LONG = 1_000, 50_000  # examples of each property; two are round trips: 2,000 in CI, 100,000 in the long run

TRICKY = [
    "\\",
    "[",
    "]",
    "[Q:",
    "[Q:0]",
    "[R1]",
    "[R2, R3]",
    '"',
    "“",
    "”",
    "'",
    "\r\n",
    "\n",
    "\t",
    "\0",
    "\u2028",
    "\ufeff",
    "\U0001f600",
    "e\u0301",
    "\u00e9",
    "\u05d0\u05d1",
    "\u200f",
    "a",
    "b",
    " ",
    "so quiet",
    "9",
    "\ufffd",
    "\u212b",
]
LITERAL = st.lists(
    st.sampled_from(TRICKY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=6
).map("".join)
UNQUOTED = LITERAL.map(lambda text: "".join("'" if mark in '"“”„‟«»' else mark for mark in text))


@st.composite
def released(draw: st.DrawFn, literals: st.SearchStrategy[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a dialogue in release form, and the reviews it quotes."""
    texts = draw(st.lists(literals.filter(bool), min_size=1, max_size=3))
    reviews = {f"r{number}": text for number, text in enumerate(texts)}
    turns = []
    for index in range(draw(st.integers(1, 2))):
        labels = draw(st.lists(st.sampled_from(["R1", "R2", "R3"]), unique=True, max_size=2))
        template, quotes = hydrate.escape(draw(literals), labels), []
        for number in draw(st.permutations(range(draw(st.integers(0, 3))))):
            key = draw(st.sampled_from(sorted(reviews)))
            start = draw(st.integers(0, len(reviews[key]) - 1))
            end = draw(st.integers(start + 1, len(reviews[key])))
            quotes.append(
                {
                    "n": number,
                    "business_id": "b",
                    "label": "R1",
                    "review_id": key,
                    "start": start,
                    "end": end,
                    "sha256": span_sha256(reviews[key][start:end]),
                }
            )
            mark = draw(st.sampled_from(['"{}"', "“{}”", "{}"]))
            template += mark.format(f"[Q:{number}]") + hydrate.escape(draw(literals), labels)
        turns.append(
            {
                "index": index,
                "text": template,
                "quotes": sorted(quotes, key=lambda each: each["n"]),
                "citations": [{"label": label, "business_id": "b", "review_id": "r0"} for label in labels],
            }
        )
    return {"dialogue_id": "d", "turns": turns}, reviews


def says_a_review(release: dict[str, Any], reviews: dict[str, str]) -> bool:
    """Whether our own words between two placeholders, marks left out, stand in a review.

    Between the marks of two quotes they are then a quote of that review, which dehydration takes out too (decisions, 15):
    the text still comes back, with one quote more in its list.
    """
    mark = "\ue000span\ue000"
    spans = [dict.fromkeys((quote["n"] for quote in turn["quotes"]), mark) for turn in release["turns"]]
    texts = [hydrate.render(turn["text"], known) for turn, known in zip(release["turns"], spans, strict=True)]
    words = [piece.strip('"“” \t\r\n') for text in texts for piece in text.split(mark)[1:-1]]
    return any(word in text for word in words if word for text in reviews.values())


def check_round_trip(case: tuple[dict[str, Any], dict[str, str]], strict: bool) -> None:
    """Hydrate, take the text out again, and hydrate that."""
    release, reviews = case
    (hydrated,), report = hydrate.hydrate([release], reviews)
    assert report.counts["verified"] == report.quotes
    emptied = hydrate.dehydrate([hydrated], reviews, threshold=1.01)
    (again,), report = hydrate.hydrate(emptied, reviews)
    assert report.counts["verified"] == report.quotes
    if strict and not says_a_review(release, reviews):
        assert again == hydrated
    for before, after in zip(hydrated["turns"], again["turns"], strict=True):
        assert after["text"] == before["text"]
        assert after["quotes"][: len(before["quotes"])] == before["quotes"]


def check_flip(case: tuple[dict[str, Any], dict[str, str]], data: st.DataObject) -> None:
    """Change one character of a review, or one of a hash: nothing but the true span is ever emitted, and it is said."""
    release, reviews = case
    quotes = [quote for turn in release["turns"] for quote in turn["quotes"]]
    if not quotes:
        return
    whole = {key: span_sha256(text) for key, text in reviews.items()}
    key = data.draw(st.sampled_from([quote["review_id"] for quote in quotes]))
    at = data.draw(st.integers(0, len(reviews[key]) - 1))
    other = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda char: char != reviews[key][at]))
    flipped = {**reviews, key: reviews[key][:at] + other + reviews[key][at + 1 :]}
    (filled,), report = hydrate.hydrate([release], flipped, "placeholder", review_sha256=whole)
    assert report.counts["verified"] == sum(quote["review_id"] != key for quote in quotes)
    (true,), _ = hydrate.hydrate([release], reviews)
    refused = {case.place for case in report.cases if case.status == "changed"}
    for turn, right in zip(filled["turns"], true["turns"], strict=True):
        assert turn["text"] == right["text"] or turn["index"] in refused
    digit = data.draw(st.integers(0, 63))
    quote = quotes[0]
    quote["sha256"] = (
        quote["sha256"][:digit] + ("0" if quote["sha256"][digit] != "0" else "1") + quote["sha256"][digit + 1 :]
    )
    _, report = hydrate.hydrate([release], reviews, "placeholder")
    assert report.counts["changed"] == 1


RUNS = pytest.mark.parametrize("examples", [CI, pytest.param(LONG, marks=pytest.mark.long)])
ARGUMENTS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
    "derandomize": True,
}


@RUNS
def test_any_text_comes_back(examples: int) -> None:
    settings(max_examples=examples, **ARGUMENTS)(given(released(LITERAL))(lambda case: check_round_trip(case, False)))()


@RUNS
def test_a_dialogue_comes_back_whole(examples: int) -> None:
    settings(max_examples=examples, **ARGUMENTS)(given(released(UNQUOTED))(lambda case: check_round_trip(case, True)))()


@RUNS
def test_a_flipped_character_is_noticed(examples: int) -> None:
    settings(max_examples=examples, **ARGUMENTS)(given(released(LITERAL), st.data())(check_flip))()
