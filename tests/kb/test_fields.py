"""Types, cities, attributes, and the worked cases of `poi_kept`."""

from __future__ import annotations

from kb.tiny import cell, together
from trace_dataset.kb import build_knowledge_base, poi_kept
from trace_dataset.kb.attributes import parse_attributes, price_level
from trace_dataset.kb.cities import city_key
from trace_dataset.kb.types import poi_type, split_categories


def test_types_in_order_and_by_whole_names() -> None:
    assert poi_type(["Restaurants", "Hotels", "Museums"]) == "hotel"
    assert poi_type(["Restaurants", "Art Galleries"]) == "attraction"
    assert poi_type(["Restaurants"]) == "restaurant"
    assert poi_type(["Pop-Up Restaurants"]) is None
    assert poi_type(["Hotels & Travel", "Car Rental"]) is None
    assert poi_type([]) is None
    assert split_categories("Museums, Arts & Entertainment,Museums") == ("Arts & Entertainment", "Museums")
    assert split_categories(None) == ()


def test_spellings_of_a_city_share_a_key() -> None:
    spellings = ["Saint Ann", "St. Ann", "ST ANN ", "St Ann", "St.Ann", "st.  ann"]
    assert {city_key(name, "MO") for name in spellings} == {("MO", "st ann")}
    assert city_key("St Ann", "IL") != city_key("St Ann", "MO")
    assert city_key("Audubon ", "PA") == city_key("audubon", "PA")


def test_merges_are_reported_and_the_most_frequent_spelling_shown() -> None:
    kb, report = build_knowledge_base(
        together(
            cell("St. Louis", "Hotels", 6, state="MO", mark="a"), cell("Saint Louis", "Hotels", 5, state="MO", mark="b")
        )
    )
    assert kb.cities == ("St. Louis",)
    assert report.merged == [{"city": "St. Louis", "state": "MO", "spellings": {"Saint Louis": 5, "St. Louis": 6}}]
    assert "Saint Louis = St. Louis" in str(report)


def test_attributes_are_read_as_literals() -> None:
    raw = {
        "WiFi": "u'paid'",
        "HasTV": "True",
        "Noise": "None",
        "Parking": "{'lot': True, u'valet': None}",
        "Bare": "free",
        "Empty": "",
        "Cut": "{'lot': Tr",
        "Call": "__import__('os').getcwd()",
        "None": "{}",
        "Price": "2",
        "Deep": "(" * 900,
        "Bytes": "b'x'",
        "Plain": True,
        "Missing": None,
        "Escape": r"'\d'",
    }
    flat, unparsed = parse_attributes(raw)
    assert flat == {
        "WiFi": "paid",
        "HasTV": "True",
        "Parking.lot": "True",
        "Bare": "free",
        "Empty": "",
        "Cut": "{'lot': Tr",
        "Call": "__import__('os').getcwd()",
        "Price": "2",
        "Deep": "(" * 900,
        "Bytes": "b'x'",
        "Plain": "True",
        "Escape": r"\d",
    }
    assert sorted(unparsed) == ["Bare", "Bytes", "Call", "Cut", "Deep", "Empty"]
    assert parse_attributes(None) == ({}, [])
    assert parse_attributes("text") == ({}, ["attributes"])


def test_price_levels() -> None:
    assert price_level({"RestaurantsPriceRange2": "3"}, "hotel") == 3
    assert price_level({"RestaurantsPriceRange2": "3"}, "attraction") is None
    for text in ("0", "7", "None", ""):
        assert price_level({"RestaurantsPriceRange2": text}, "restaurant") is None
    assert price_level({}, "restaurant") is None


def test_poi_kept_worked_cases() -> None:
    assert poi_kept(["abcdefgh", "  ", "xyz"], min_reviews=2, max_chars=5) == ["abcde", "xyz"]
    assert poi_kept(["one", "two"]) is None
