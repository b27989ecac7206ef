from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from hydrate.errors import UsageError
from kb.tiny import TinyBundle, business, review
from trace_dataset.kb import Evidence, KnowledgeBase, build_knowledge_base, catalogue, collect_evidence
from trace_dataset.kb.lexicon import lexicon
from trace_dataset.kb.mentions import read_review
from trace_dataset.kb.opinions import ClauseReader
from trace_dataset.schema import Constraint

DULL = "We came on a Monday."


def places(*described: tuple[dict[str, Any], list[str]], fill: int = 8) -> tuple[KnowledgeBase, Evidence]:
    """A knowledge base of these places (p0, p1, …), with dull ones beside them up to a pool."""
    rows, texts = [], []
    for number, (fields, said) in enumerate([*described, *[({}, [])] * (fill - len(described))]):
        identifier = f"p{number}"
        rows.append(business(identifier, **fields))
        texts += [
            review(f"{identifier}-{place:02d}", identifier, text)
            for place, text in enumerate((*said, DULL, DULL, DULL))
        ]
    kb, _ = build_knowledge_base(TinyBundle(rows, texts))
    return kb, collect_evidence(kb)


def wish(value: str, slot: str = "aspect") -> Constraint:
    return Constraint(slot, value)


def test_satisfaction_has_three_values() -> None:
    _, evidence = places(
        ({}, ["There is plenty of free parking."]),
        ({}, ["No parking anywhere near this place."]),
        ({}, ["No parking anywhere near here.", "Parking was easy."]),
        ({"attributes": {"BusinessParking": "{'lot': True, 'valet': False}"}}, ["No parking anywhere near here."]),
        ({"attributes": {"BusinessParking": "{'lot': False, 'valet': False}"}}, ["Parking was easy."]),
    )
    found = [evidence.satisfaction(f"p{number}", wish("parking")) for number in range(6)]
    assert found == ["supported", "contradicted", "supported", "supported", "contradicted", "unknown"]


def test_attributes_that_support_or_contradict() -> None:
    def at(key: str, **attributes: str) -> str:
        _, evidence = places(({"attributes": attributes}, []))
        return evidence.satisfaction("p0", wish(key))

    assert at("wifi", WiFi="u'free'") == at("wifi", WiFi="'paid'") == "supported"
    assert at("wifi", WiFi="'no'") == "contradicted"
    assert at("quiet", NoiseLevel="u'quiet'") == "supported"
    assert at("quiet", NoiseLevel="u'average'") == "unknown"
    assert at("quiet", NoiseLevel="u'very_loud'") == "contradicted"
    assert at("romantic", Ambience="{'romantic': True}") == "supported"
    assert at("romantic", Ambience="{'romantic': False}") == "contradicted"
    assert at("romantic", Ambience="None") == "unknown"
    assert at("cocktails", Alcohol="u'none'") == "contradicted"


def test_the_attributes_of_the_catalogue_are_in_yelps_spelling() -> None:
    known = {
        "GoodForMeal",
        "Alcohol",
        "NoiseLevel",
        "Ambience",
        "RestaurantsAttire",
        "Music",
        "BusinessParking",
        "WiFi",
        "OutdoorSeating",
        "RestaurantsReservations",
        "WheelchairAccessible",
        "DogsAllowed",
        "HappyHour",
        "GoodForKids",
        "RestaurantsGoodForGroups",
    }
    used = {name.split(".")[0] for aspect in catalogue().values() for name in (*aspect.supports, *aspect.contradicts)}
    assert used == known


def test_category_price_and_distance() -> None:
    _, evidence = places(
        ({"attributes": {"RestaurantsPriceRange2": "2"}}, []),
        ({"attributes": {"RestaurantsPriceRange2": "3"}, "latitude": 32.5}, []),
        ({"latitude": None}, []),
    )
    assert evidence.satisfaction("p0", wish("Mexican", "category")) == "supported"
    assert evidence.satisfaction("p0", wish("Thai", "category")) == "contradicted"
    prices = [
        [evidence.satisfaction(place, wish(value, "price")) for value in ("budget", "moderate", "upscale")]
        for place in ("p0", "p1", "p2")
    ]
    assert prices == [
        ["supported", "supported", "contradicted"],
        ["contradicted", "supported", "supported"],
        ["unknown"] * 3,
    ]
    near = [evidence.satisfaction(place, wish("central", "distance")) for place in ("p0", "p1", "p2")]
    assert near == ["contradicted", "contradicted", "unknown"]
    _, together = places(({}, []))
    assert together.satisfaction("p0", wish("central", "distance")) == "supported"


def test_unknown_slots_and_values() -> None:
    _, evidence = places(({}, []))
    for constraint in (wish("flying carpets"), wish("free", "price"), wish("near", "distance"), wish("x", "colour")):
        with pytest.raises(UsageError):
            evidence.satisfaction("p0", constraint)
    with pytest.raises(UsageError):
        evidence.values("Tucson", "restaurant", "colour")


def test_values_are_supported_by_some_and_not_by_all() -> None:
    parking = [
        (
            {
                "attributes": {"BusinessParking": "{'lot': True}", "OutdoorSeating": "True"},
                "categories": "Restaurants, Thai, Food",
            },
            [],
        )
    ] * 3
    others = [({"attributes": {"BusinessParking": "{'lot': False}", "OutdoorSeating": "True"}}, [])] * 5
    _, evidence = places(*parking, *others)
    assert evidence.values("Tucson", "restaurant", "aspect") == ("parking",)
    assert evidence.values("Tucson", "restaurant", "category") == (
        "Mexican",
        "Thai",
    )  # "Food" is too general to ask for
    assert evidence.values("Tucson", "restaurant", "price") == ()
    assert evidence.values("Tucson", "restaurant", "distance") == ()
    assert evidence.wishes("p0") == (
        wish("outdoor seating"),
        wish("parking"),
        wish("Thai", "category"),
        wish("central", "distance"),
    )


SAID = [
    "Great food but the parking was a nightmare for everyone in our car.",
    "The staff was friendly and so patient with us.",
    'They call it "quaint" and the staff was so friendly to all.',
    "Friendly staff!",
    "Line one is\nfriendly staff at work here.",
    "Staff was friendly [R3] to each and every one of us.",
    "The staff was friendly, the owner came by, the tables were full, the music went on, the lights were low, the rain "
    "fell outside, the clock struck ten, the guests sang along and we stayed until the very end of it all.",
]


def test_spans_are_verbatim_and_can_be_quoted() -> None:
    kb, evidence = places(({}, SAID))
    spans = evidence.spans("p0", wish("friendly staff"))
    texts = [(kb.reviews[span.review_id].text or "")[span.start : span.end] for span in spans]
    assert texts == [
        "The staff was friendly and so patient with us",
        "friendly staff at work here",
        "the staff was so friendly to all",
        "The staff was friendly",
    ]
    assert {(span.aspect, span.polarity) for span in spans} == {("friendly staff", 1)}
    blamed = evidence.spans("p0", wish("parking"), polarity=-1)
    assert [(kb.reviews[span.review_id].text or "")[span.start : span.end] for span in blamed] == [
        "the parking was a nightmare for everyone in our car"
    ]
    assert evidence.spans("p0", wish("parking")) == ()
    for span in evidence.any_spans("p0"):
        text = (kb.reviews[span.review_id].text or "")[span.start : span.end]
        assert 4 <= len(re.findall(r"\w+(?:'\w+)*", text)) <= 25
        assert not re.search(r'["\n\[\]\\]', text)


def test_spans_of_price_distance_and_category() -> None:
    kb, evidence = places(
        (
            {},
            [
                "The prices here are very reasonable.",
                "Great location close to everything in town.",
                "Amazing mexican food in every way.",
            ],
        )
    )
    assert len(evidence.spans("p0", wish("budget", "price"))) == 1
    assert len(evidence.spans("p0", wish("central", "distance"))) == 1
    category = evidence.spans("p0", wish("Mexican", "category"))
    assert ["mexican" in (kb.reviews[span.review_id].text or "") for span in category] == [True]
    assert evidence.spans("p0", wish("Mexican", "category"), polarity=-1) == ()


def test_general_praise_serves_where_nothing_else_does() -> None:
    _, evidence = places(({}, ["We had an amazing time here last night.", "Highly recommend this place to anyone."]))
    assert [span.aspect for span in evidence.any_spans("p0")] == ["overall", "overall"]
    assert evidence.any_spans("p1") == ()


def test_a_last_sentence_that_was_cut_is_not_read() -> None:
    words = lexicon()
    reader = ClauseReader(words, "restaurant")
    text = "We sat down at once. The staff was friendly to us and then the"
    assert read_review(words.reader, reader, text, cut=len(text)) == []
    assert read_review(words.reader, reader, text, cut=0)


def test_the_same_evidence_whatever_the_order_and_through_pickle() -> None:
    kb, evidence = places(({}, SAID), ({}, SAID[:2]))
    again = collect_evidence(
        KnowledgeBase.from_tables(reversed(list(kb.pois.values())), reversed(list(kb.reviews.values())))
    )
    copied: Evidence = pickle.loads(pickle.dumps(evidence))
    for other in (again, copied):
        for place in kb.pois:
            assert other.any_spans(place) == evidence.any_spans(place)
            assert other.wishes(place) == evidence.wishes(place)


def test_a_knowledge_base_leads_to_no_evidence() -> None:
    kb, _ = places(({}, SAID))
    reached, waiting = set(), [kb]
    while waiting:
        thing: Any = waiting.pop()
        if id(thing) in reached:
            continue
        reached.add(id(thing))
        assert not isinstance(thing, Evidence)
        if isinstance(thing, dict):
            waiting += [*thing, *thing.values()]
        elif isinstance(thing, (list, tuple)):
            waiting += thing
        elif type(thing).__module__.startswith("trace_dataset"):
            names = (*getattr(type(thing), "__slots__", ()), *getattr(thing, "__dict__", ()))
            waiting += [getattr(thing, name) for name in names]
