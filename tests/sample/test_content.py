"""What the places and reviews say: balance, truth, variety, and a sense in the stars."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import asin, cos, radians, sin, sqrt
from statistics import mean

import pytest

from trace_dataset.sample.bank import load_bank
from trace_dataset.sample.data import BANKS, presence
from trace_dataset.schema import POI_TYPES

CITIES = {"philadelphia", "tampa", "indianapolis", "nashville", "tucson", "new orleans", "saint louis", "reno"}
SIGHTS = {
    "Museums",
    "Parks",
    "Landmarks & Historical Buildings",
    "Zoos",
    "Aquariums",
    "Botanical Gardens",
    "Art Galleries",
    "Tours",
    "Amusement Parks",
}


def kind_of(row):
    """The type of a usable place, by its categories alone, or None."""
    names = set((row["categories"] or "").split(", "))
    if names & {"Hotels", "Bed & Breakfast", "Hostels", "Resorts"}:
        return "hotel"
    if "Restaurants" in names:
        return "restaurant"
    return "attraction" if names & SIGHTS else None


def city_of(row):
    """The city of a row, all spellings made one."""
    return re.sub(r"^st\.? ", "saint ", row["city"].strip().lower())


def usable(sample):
    """The usable places by city and type: known city and type, three reviews with text."""
    reviews = Counter(row["business_id"] for row in sample.review if row["text"].strip())
    cells = defaultdict(list)
    for row in sample.business:
        kind, city = kind_of(row), city_of(row)
        if kind and city in CITIES and reviews[row["business_id"]] >= 3:
            cells[city, kind].append(row)
    return cells


@pytest.mark.parametrize("name, each", [("sample", 10), ("large", 40)])
def test_every_city_and_type_has_the_same_number_of_places(name, each, request):
    """Eight cities by three types, balanced, whatever the spelling of the city."""
    cells = usable(request.getfixturevalue(name))
    assert len(cells) == 24
    assert {len(rows) for rows in cells.values()} == {each}


def test_clutter_comes_on_top(large):
    """Shops, dentists, car rental, pop-ups, far cities, and restaurants with too few reviews."""
    used = {row["business_id"] for rows in usable(large).values() for row in rows}
    rest = [row for row in large.business if row["business_id"] not in used]
    assert 0.15 < len(rest) / len(used) < 0.25
    assert {row["state"] for row in rest} >= {"AB", "ID"}
    assert any(kind_of(row) == "restaurant" for row in rest)
    assert any((row["categories"] or "").count("Hotels & Travel") and kind_of(row) is None for row in rest)


def test_names_are_unique_within_a_city(large):
    """No two places of a city share a name, and most names use words that other names use too."""
    names = Counter((city_of(row), row["name"]) for row in large.business)
    assert max(names.values()) == 1
    words = Counter(word for row in large.business for word in set(re.findall(r"[A-Za-z]+", row["name"])))
    lonely = sum(1 for row in large.business for word in set(re.findall(r"[A-Za-z]+", row["name"])) if words[word] == 1)
    assert lonely / len(large.business) < 0.05


def test_places_are_near_and_far(large):
    """In each city some places are within 500 m and 2 km of each other and others 5 to 15 km away."""
    for city in CITIES:
        rows = [row for (where, _), found in usable(large).items() if where == city for row in found]
        distances = [_km(first, second) for number, first in enumerate(rows) for second in rows[:number]]
        near = [
            sum(low <= distance < high for distance in distances) / len(distances)
            for low, high in ((0, 0.5), (0, 2), (5, 30))
        ]
        assert near[0] > 0.005
        assert near[1] > 0.1
        assert near[2] > 0.1


def _km(first, second):
    lat1, lon1, lat2, lon2 = (radians(row[key]) for row in (first, second) for key in ("latitude", "longitude"))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * asin(sqrt(half))


@pytest.mark.parametrize("name", ["sample", "second"])
def test_truth_offsets_match_the_text(name, request):
    """Spans are whole sentences or clauses, in order, without overlap, and the text holds nothing else."""
    sample = request.getfixturevalue(name)
    texts = {row["review_id"]: row["text"] for row in sample.review}
    aspects = {aspect for poi_type in POI_TYPES for aspect, _ in presence(poi_type)}
    for row in sample.truth:
        text, end = texts[row["review_id"]], 0
        for span in row["sentences"]:
            assert end <= span["start"] < span["end"] <= len(text)
            part = text[span["start"] : span["end"]]
            assert part == part.strip()
            assert span["polarity"] in (-1, 0, 1)
            assert span["aspect"] is None or span["aspect"] in aspects
            end = span["end"]
        whole = [span for span in row["sentences"] if span["aspect"] is None]
        assert all(
            text[span["start"]].isupper() or not text[span["start"]].isalpha() or text == text.lower() for span in whole
        )


def test_stars_follow_the_sentiment(large):
    """Five-star reviews praise, one-star reviews blame; one place in five is below 3.5, one in ten above 4."""
    stars = {row["review_id"]: row["stars"] for row in large.review}
    moods = defaultdict(list)
    for row in large.truth:
        said = [span["polarity"] for span in row["sentences"] if span["aspect"]]
        if said:
            moods[stars[row["review_id"]]].append(mean(said))
    averages = [mean(moods[level]) for level in (1.0, 2.0, 3.0, 4.0, 5.0)]
    assert averages == sorted(averages)
    assert averages[0] < -0.3
    assert averages[4] > 0.5
    bands = Counter(
        "low" if row["stars"] < 3.5 else "high" if row["stars"] > 4 else "middle"
        for rows in usable(large).values()
        for row in rows
    )
    assert all(bands[band] > 0.1 * sum(bands.values()) for band in ("low", "middle", "high"))


def test_attributes_agree_with_the_reviews_mostly(large):
    """Where reviews praise or blame the wifi, WiFi says so, with a few errors and gaps."""
    opinions = defaultdict(Counter)
    for row in large.truth:
        for span in row["sentences"]:
            opinions[row["business_id"]][span["aspect"], span["polarity"]] += 1
    checked = Counter()
    for row in large.business:
        stated = (row["attributes"] or {}).get("DogsAllowed")
        said = opinions[row["business_id"]]
        good, bad = said["dogs", 1], said["dogs", -1]
        if stated in ("True", "False") and abs(good - bad) > 2:
            checked[(stated == "True") == (good > bad)] += 1
    assert checked[True] > 15 * checked[False] > 0 or checked[True] > 30


@pytest.mark.parametrize("name, limit", [("large", 0.008), ("second", 0.02)])
def test_no_sentence_is_common(name, limit, request):
    """A sentence that says the same word for word stands in very few reviews."""
    sample = request.getfixturevalue(name)
    texts = {row["review_id"]: row["text"] for row in sample.review}
    counts: Counter[str] = Counter()
    for row in sample.truth:
        text = texts[row["review_id"]]
        counts.update({text[span["start"] : span["end"]].lower() for span in row["sentences"]})
    assert counts.most_common(1)[0][1] / len(sample.truth) < limit


def test_sentences_of_an_aspect_vary(large):
    """Of the sentences about a common aspect most are unlike each other."""
    texts = {row["review_id"]: row["text"] for row in large.review}
    said = defaultdict(list)
    for row in large.truth:
        for span in row["sentences"]:
            said[span["aspect"]].append(texts[row["review_id"]][span["start"] : span["end"]].lower())
    for aspect in ("food", "service", "quiet", "parking", "rooms", "exhibits", "kids", "value"):
        assert len(set(said[aspect])) > 0.5 * len(said[aspect]), aspect


def test_templates_of_an_aspect_are_a_third_indirect():
    """The generator can always choose between plain and indirect words, for good and for bad."""
    for poi_type in POI_TYPES:
        for aspect, rows in load_bank("first", poi_type).aspects.items():
            for polarity in (1, -1):
                plain, indirect = len(rows.direct[polarity]), len(rows.indirect[polarity])
                assert indirect >= 0.3 * (plain + indirect), (aspect, polarity)


def test_the_two_banks_share_no_sentence():
    """No template of the second bank stands in the first."""
    found = []
    for poi_type in POI_TYPES:
        seen = [set(), set()]
        for number, name in enumerate(BANKS):
            for rows in load_bank(name, poi_type).aspects.values():
                for group in (rows.direct, rows.indirect, rows.clauses):
                    seen[number] |= {repr(template) for templates in group.values() for template in templates}
        found.append(seen[0] & seen[1])
    assert not any(found)


@pytest.mark.parametrize("bank", BANKS)
@pytest.mark.parametrize("poi_type", POI_TYPES)
def test_banks_are_complete(bank, poi_type):
    """Every aspect of a type has sentences of every form; every list that the generator asks for is there."""
    loaded = load_bank(bank, poi_type)
    assert set(loaded.aspects) == {aspect for aspect, _ in presence(poi_type)}
    for aspect, rows in loaded.aspects.items():
        assert rows.nouns, aspect
        for group in (rows.direct, rows.indirect, rows.clauses):
            assert group[1], aspect
            assert group[-1], aspect
    assert {
        "start",
        "middle",
        "oddity",
        "verdict_good",
        "verdict_bad",
        "verdict_mixed",
        "opener",
        "opener_good",
        "opener_bad",
        "tail_good",
        "tail_bad",
        "pair",
        "contrast",
        "clause_wrap",
        "say_good",
        "say_bad",
        "say_neutral",
    } <= set(loaded.lists)
