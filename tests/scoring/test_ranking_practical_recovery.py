"""Recommendation, practical value, recovery and averages: the grid of empty, partial and full inputs, and odd values."""

from __future__ import annotations

import math

import pytest

from hydrate.errors import TraceError
from trace_dataset.scoring import aggregate, practical, ranking, recovery


@pytest.mark.parametrize(
    ("predicted", "gold", "recall", "hit", "rank"),
    [
        ([], [], None, None, None),
        (["a"], [], None, None, None),
        ([], ["a"], 0.0, 0.0, 0.0),
        (["b"], ["a"], 0.0, 0.0, 0.0),
        (["b", "a"], ["a"], 1.0, 1.0, 0.5),
        (["a", "b"], ["a", "b", "c", "d"], 0.5, 1.0, 1.0),
        (["a", "a", "a", "b"], ["b"], 1.0, 1.0, 0.5),
    ],
)
def test_ranking_grid(predicted, gold, recall, hit, rank) -> None:
    assert ranking.recall_at_k(predicted, gold, k=3) == recall
    assert ranking.hit_at_k(predicted, gold, k=3) == hit
    assert ranking.reciprocal_rank(predicted, gold) == rank


def test_ndcg_takes_ids_too_and_ignores_what_is_not_relevant() -> None:
    assert ranking.ndcg_at_k(["x", "a"], ["a"], k=2) == pytest.approx(1 / math.log2(3))
    assert ranking.ndcg_at_k(["a"], {"a": 0}, k=1) is None
    assert ranking.ndcg_at_k([], {}, k=1) is None


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", True, None])
def test_a_cut_that_is_none_is_one_error(k) -> None:
    for function in (ranking.recall_at_k, ranking.hit_at_k, ranking.ndcg_at_k):
        with pytest.raises(TraceError, match="k is"):
            function(["a"], ["a"], k=k)


def test_more_references_never_lower_a_multi_reference_hit() -> None:
    assert ranking.multi_ref_recall_at_k(["a"], ["b"], []) == 0.0
    assert ranking.multi_ref_recall_at_k(["a"], ["b"], ["a"]) == 1.0


@pytest.mark.parametrize(
    "bad",
    [
        ["b", float("nan"), -75.0],
        ["b", 91, 0],
        ["b", 0, 181],
        ["b", "39.9", "-75"],
        ["b", True, False],
        ["b", None, 1.0],
    ],
)
def test_places_without_valid_coordinates_are_left_out(bad) -> None:
    assert practical.spatial_coherence([["a", 39.95, -75.16], bad]) is None
    assert practical.spatial_coherence([["a", 39.95, -75.16], bad, ["c", 39.95, -75.16]]) == 1.0


def test_distance_is_symmetric_and_crosses_the_antimeridian() -> None:
    assert practical.haversine_km([0, 179.9], [0, -179.9]) == pytest.approx(22.239, abs=1e-3)
    assert practical.haversine_km([90, 0], [-90, 0]) == pytest.approx(math.pi * practical.EARTH_RADIUS_KM)
    assert practical.haversine_km([1, 2], [3, 4]) == practical.haversine_km([3, 4], [1, 2])


def test_repeated_places_count_once() -> None:
    assert practical.spatial_coherence([["a", 1, 1], ["a", 1, 1]]) is None


@pytest.mark.parametrize(
    ("price", "level"),
    [(2, 2), (2.0, 2), ("2", 2), ("$$", 2), (" $$$ ", 3), ("$$$$$", None), ("u'2'", None), (0, None), (True, None)],
)
def test_prices(price, level) -> None:
    assert practical.price_level(price) == level


def test_price_words_in_any_case_and_the_last_of_them() -> None:
    assert practical.price_ceiling(["CHEAP, or rather Moderate"]) == 3
    assert practical.price_ceiling(["cheapest budgeting"]) is None
    assert practical.price_ceiling([]) is None


PARROT = [
    {"role": "user", "action": "inform"},
    {"role": "system", "action": "recommend", "pred": ["a"]},
    {"role": "user", "action": "reject_and_refine", "rejected": ["a"]},
    {"role": "system", "action": "clarify", "pred": []},
    {"role": "user", "action": "inform"},
    {"role": "system", "action": "recommend", "pred": ["a"]},
]


def test_a_parrot_recovers_by_the_letter_only() -> None:
    assert recovery.rejection_recovery(PARROT, ["a", "b"]) == 1.0
    assert recovery.rejection_recovery(PARROT, ["a", "b"], exclude_rejected=True) == 0.0
    assert recovery.recovery_counts(PARROT, ["a", "b"]) == (0, 1)


def test_a_rejection_without_a_further_recommendation_is_a_failure() -> None:
    assert recovery.recovery_counts(PARROT[:3], ["b"]) == (0, 1)
    assert recovery.recovery_counts(PARROT[:2], ["b"]) == (0, 0)


def test_turns_to_recommendation() -> None:
    assert recovery.t2r(PARROT, ["a"]) == 1.0
    assert recovery.t2r(PARROT, ["a"], mode="turn_index") == 1.0
    assert recovery.t2r(PARROT, ["z"]) == 6.0
    assert recovery.t2r(PARROT, ["z"], misses="drop") is None
    assert recovery.t2r(PARROT, []) is recovery.tsr(PARROT, []) is None
    with pytest.raises(TraceError, match="mode"):
        recovery.t2r(PARROT, ["a"], mode="all")


def test_none_never_enters_a_mean() -> None:
    assert aggregate.summarize([]) == aggregate.Summary(None, 0, 0)
    assert aggregate.summarize([None, None]) == aggregate.Summary(None, 0, 2)
    assert aggregate.aggregate([[None], []]) is None
    assert aggregate.aggregate([[None], [1.0]], level="dialogue") == 1.0
    with pytest.raises(TraceError, match="level"):
        aggregate.aggregate([], level="corpus")
