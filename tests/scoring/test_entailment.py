"""Entailment grounding with a stand-in model: claims, premises, categories, equal pairs."""

from __future__ import annotations

import pytest

from hydrate.errors import TraceError
from trace_dataset.scoring import entailment


class Counting:
    """Entails where all words of the claim stand in the premise; remembers what it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def probabilities(self, pairs):
        self.asked += pairs
        return [float(set(claim.lower().split()) <= set(premise.lower().split())) for premise, claim in pairs]


def test_equal_pairs_are_scored_once() -> None:
    model = Counting()
    texts = ["the patio is quiet. It is cheap [R1].", "the patio is quiet."]
    columns = entailment.score_entailment(
        texts, ["the patio is quiet. yes", "bad", "the patio is quiet. yes"], [0, 2, 3], model
    )
    assert columns.values == [0.5, 1.0]
    assert len(model.asked) == len(set(model.asked)) == 4


def test_claims_without_premises_are_unsupported_and_texts_without_claims_undefined() -> None:
    columns = entailment.score_entailment(["Nice place.", "[R1]", ""], [], [0, 0, 0, 0], Counting())
    assert columns.values == [0.0, None, None]


def test_shares_by_category() -> None:
    text = 'I recommend Blue Door. Rated 4 stars. "the patio is quiet" [R1]. the kitchen is open'
    columns = entailment.score_entailment([text], ['"the patio is quiet" .'], [0, 1], Counting())
    found = columns.by_category()
    assert columns.categories == [["framing", "rating_meta", "quote"]] or sum(n for _, n in found.values()) == 3
    assert found["framing"] == (0.0, 1)


@pytest.mark.parametrize(
    ("sentence", "category"),
    [
        ("I'd suggest the Blue Door.", "framing"),
        ("How about a quiet walk?", "framing"),
        ("A reviewer loved it.", "framing"),
        ("It has 1,210 reviews.", "rating_meta"),
        ("It scores 4.5/5.", "rating_meta"),
        ("It started raining.", "other_claim"),
        ('An open mark "here.', "quote"),
    ],
)
def test_categories(sentence: str, category: str) -> None:
    assert entailment.sentence_category(sentence) == category


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "0.5", None, True])
def test_a_threshold_that_is_none_is_one_error(threshold) -> None:
    with pytest.raises(TraceError, match="threshold"):
        entailment.entailment_grounding([[0.5]], threshold)


def test_a_model_that_loses_pairs_is_one_error() -> None:
    class Lossy:
        name = "lossy"

        def probabilities(self, pairs):
            return []

    with pytest.raises(TraceError, match="different lengths"):
        entailment.score_entailment(["One claim."], ["A premise."], [0, 1], Lossy())
