from __future__ import annotations

import hashlib
import json
import pickle
import random
from typing import Any

import pytest

from hydrate.errors import BundleError, UsageError
from kb.tiny import TinyBundle, business, cell, review, together
from trace_dataset.kb import KnowledgeBase, build_knowledge_base, survey


def town(city: str = "Tucson", state: str = "AZ", places: int = 10) -> TinyBundle:
    return together(*(cell(city, kind, places, state=state) for kind in ("Restaurants", "Hotels", "Museums")))


def test_cells_places_reviews_and_labels() -> None:
    kb, report = build_knowledge_base(town(places=12), max_places=10, max_reviews=3)
    assert list(kb.cells) == [("Tucson", "attraction"), ("Tucson", "hotel"), ("Tucson", "restaurant")]
    assert all(len(ids) == 10 and list(ids) == sorted(ids) for ids in kb.cells.values())
    assert all(len(ids) == 3 and list(ids) == sorted(ids) for ids in kb.reviews_of.values())
    pool = [kb.cells["Tucson", "hotel"][4], kb.cells["Tucson", "hotel"][1]]
    assert kb.labels(pool) == {
        identifier: f"R{number}" for number, identifier in enumerate(kb.reviews_of[pool[0]] + kb.reviews_of[pool[1]], 1)
    }
    assert report.places == 30
    assert report.reviews == 90
    assert "30 places in 3 cells of 1 cities" in str(report)
    json.dumps(report.to_json())


def test_the_order_of_rows_changes_nothing() -> None:
    bundle = together(town(), town("Reno", "NV", 9), cell("Boise", "Hotels", 9, state="ID"))
    for place in list(bundle.businesses[:5]):
        bundle.review_rows += [
            review(f"{place['business_id']}-more{number}", place["business_id"], f"Text {number}.")
            for number in range(60)
        ]
    first = build_knowledge_base(bundle, max_places=8, max_reviews=4)
    for seed in range(3):
        shuffler = random.Random(seed)
        shuffler.shuffle(bundle.businesses)
        shuffler.shuffle(bundle.review_rows)
        assert build_knowledge_base(bundle, max_places=8, max_reviews=4) == first
    other, _ = build_knowledge_base(bundle, max_places=8, max_reviews=4, seed=7)
    assert other.pois.keys() != first[0].pois.keys()


def test_rows_that_stand_twice_count_once() -> None:
    bundle = cell("Tucson", "Restaurants", 8, reviews=3)
    once, _ = build_knowledge_base(bundle, max_reviews=3)
    twice = TinyBundle(bundle.businesses * 2, bundle.review_rows * 3)
    again, report = build_knowledge_base(twice, max_reviews=3)
    assert again == once
    assert report.rows["repeated"] == 8
    few = together(cell("Tucson", "Restaurants", 8, reviews=2))
    few.review_rows *= 5
    with pytest.raises(BundleError, match="too small for a benchmark"):
        build_knowledge_base(few)


def test_contradicting_places_are_an_error_only_if_in_use() -> None:
    bundle = cell("Tucson", "Restaurants", 8)
    bundle.businesses.append({**bundle.businesses[0], "stars": 1.0})
    with pytest.raises(BundleError, match="contradict"):
        build_knowledge_base(bundle)
    elsewhere = together(cell("Tucson", "Restaurants", 8), TinyBundle([business("x"), business("x", stars=1.0)], []))
    build_knowledge_base(elsewhere)


def test_only_the_cells_there_are() -> None:
    bundle = together(
        cell("Tucson", "Restaurants", 20), cell("Tucson", "Hotels", 3), cell("Reno", "Museums", 7, state="NV")
    )
    kb, report = build_knowledge_base(bundle)
    assert list(kb.cells) == [("Tucson", "restaurant")]
    assert report.short_cells == {"Tucson / restaurant": 20}
    assert report.left_out == {"Tucson / hotel": 3, "Tucson / attraction": 0}
    with pytest.raises(BundleError, match="Tucson / hotel has 3"):
        build_knowledge_base(bundle, min_pois=8)


def test_too_small_says_what_is_there_and_what_is_needed() -> None:
    with pytest.raises(BundleError) as caught:
        build_knowledge_base(together(cell("Tucson", "Restaurants", 5), cell("Reno", "Hotels", 2, state="NV")))
    message = str(caught.value)
    assert "3 non-blank reviews" in message
    assert "8 such places" in message
    assert "Tucson, AZ" in message
    assert "do:" in message


def test_cities_by_their_scarcest_type() -> None:
    lopsided = together(
        cell("Tampa", "Restaurants", 60, state="FL"),
        cell("Tampa", "Hotels", 8, state="FL"),
        cell("Tampa", "Museums", 8, state="FL"),
    )
    kb, _ = build_knowledge_base(together(lopsided, town(places=9), town("Edmonton", "AB", 50)), n_cities=1)
    assert kb.cities == ("Tucson",)
    kb, _ = build_knowledge_base(together(lopsided, town(places=9), town("Edmonton", "AB", 50)))
    assert kb.cities == ("Tampa", "Tucson")


def test_two_cities_of_one_name_keep_apart() -> None:
    kb, _ = build_knowledge_base(
        together(
            cell("Springfield", "Hotels", 8, state="PA", mark="p"),
            cell("Springfield", "Hotels", 9, state="IL", mark="i"),
        )
    )
    assert kb.cities == ("Springfield, IL", "Springfield, PA")


def test_texts_are_cut_and_hashed() -> None:
    bundle = cell("Tucson", "Restaurants", 8)
    for row in bundle.review_rows:
        row["text"] = "é" * 700
    kb, _ = build_knowledge_base(bundle)
    one = next(iter(kb.reviews.values()))
    assert one.text == "é" * 500
    assert one.n_chars == 500
    assert one.sha256 == hashlib.sha256(("é" * 500).encode()).hexdigest()


def test_reviews_blank_up_to_the_cut_do_not_count() -> None:
    bundle = cell("Tucson", "Restaurants", 9, reviews=3)
    bundle.review_rows[0]["text"] = " " * 500 + "late"
    kb, _ = build_knowledge_base(bundle)
    assert bundle.review_rows[0]["business_id"] not in kb.pois
    assert len(kb.pois) == 8


def test_null_fields_and_odd_rows() -> None:
    bundle = cell("Tucson", "Hotels", 8)
    bundle.businesses[0].update(attributes=None, latitude=None, address=None)
    bundle.businesses[1].update(attributes={"WiFi": "free", "RestaurantsPriceRange2": "7"})
    bundle.businesses[2].update(attributes={"RestaurantsPriceRange2": "3"})
    bundle.businesses += [
        business("a", categories=None),
        business("b", city=""),
        business("c", name=None),
        business("d", is_open=0),
    ]
    bundle.review_rows += [review(f"d{number}", "d") for number in range(3)]
    kb, report = build_knowledge_base(bundle)
    places = [kb.pois[row["business_id"]] for row in bundle.businesses[:3]]
    assert (places[0].attributes, places[0].latitude, places[0].longitude, places[0].address) == ({}, None, None, "")
    assert [place.price for place in places] == [None, None, 3]
    assert report.unparsed_attributes == {"WiFi": 1}
    assert report.dropped["no city"] == 1
    assert report.dropped["neither hotel, attraction nor restaurant"] == 1
    _, report = build_knowledge_base(bundle, open_only=True)
    assert report.dropped["closed"] == 1


def test_limits_that_contradict_each_other() -> None:
    wrong: list[dict[str, Any]] = [{"max_reviews": 2}, {"max_places": 7}, {"n_cities": 0}]
    for options in wrong:
        with pytest.raises(UsageError):
            build_knowledge_base(town(), **options)


def test_progress_runs_to_its_end() -> None:
    seen: list[tuple[int, int]] = []
    build_knowledge_base(town(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(10, 20), (20, 20)]


def test_from_tables_rebuilds_it() -> None:
    kb, _ = build_knowledge_base(town())
    backwards = KnowledgeBase.from_tables(reversed(list(kb.pois.values())), reversed(list(kb.reviews.values())))
    assert backwards == kb
    assert list(backwards.pois) == list(kb.pois)
    assert pickle.loads(pickle.dumps(kb)) == kb
    some = kb.slice(kb.cells["Tucson", "hotel"])
    assert list(some.cells) == [("Tucson", "hotel")]
    assert all(review.business_id in some.pois for review in some.reviews.values())


def test_survey_agrees_with_the_build() -> None:
    bundle = together(town(), cell("Reno", "Hotels", 4, state="NV"))
    found = survey(bundle)
    assert found.can_build
    assert [city.name for city in found.cities] == ["Tucson", "Reno"]
    assert [city.name for city in found.chosen] == ["Tucson"]
    assert "3 cells in 1 cities" in str(found)
    json.dumps(found.to_json())
    assert not survey(cell("Reno", "Hotels", 4, state="NV")).can_build
