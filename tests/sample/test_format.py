"""The sample has the form of the real files, byte for byte, with all their quirks."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from statistics import median

from trace_dataset.sample.rows import half_stars, line

REVIEW_KEYS = ["review_id", "user_id", "business_id", "stars", "useful", "funny", "cool", "text", "date"]
BUSINESS_KEYS = [
    "business_id",
    "name",
    "address",
    "city",
    "state",
    "postal_code",
    "latitude",
    "longitude",
    "stars",
    "review_count",
    "is_open",
    "attributes",
    "categories",
    "hours",
]
ID = re.compile(r"[A-Za-z0-9_-]{22}")


def test_files_and_note(sample):
    """Five tables and a note that says the data are invented."""
    names = {path.name for path in sample.folder.iterdir()}
    tables = {f"yelp_academic_dataset_{name}.json" for name in ("business", "review", "user", "tip", "checkin")}
    assert names == tables | {"ABOUT-THIS-SAMPLE.txt", "truth.jsonl"}
    assert "invented" in (sample.folder / "ABOUT-THIS-SAMPLE.txt").read_text()


def test_review_lines_are_laid_out_like_yelps(sample):
    """Compact ASCII, the usual key order, ids at the usual bytes, `\\/` for a slash, one newline at the end."""
    for raw, row in zip(sample.lines("review"), sample.review, strict=True):
        assert list(row) == REVIEW_KEYS
        assert raw.isascii()
        assert raw == line(row).rstrip(b"\n")
        assert raw[14:36].decode() == row["review_id"]
        assert raw[73:88] == b'"business_id":"'
        assert raw[88:110].decode() == row["business_id"]
        assert not re.search(rb"(?<!\\)/", raw)
        assert re.search(rb'"stars":[1-5]\.0,', raw)
        assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d [0-2]\d:[0-5]\d:[0-5]\d", row["date"])


def test_ids(sample):
    """Twenty-two characters of Yelp's alphabet, unique, some with a leading `-` or `_`."""
    for rows, key in ((sample.review, "review_id"), (sample.business, "business_id")):
        ids = [row[key] for row in rows]
        assert len(set(ids)) == len(ids)
        assert all(ID.fullmatch(identifier) for identifier in ids)
    assert {"-", "_"} <= {row["review_id"][0] for row in sample.review}


def test_reviews_refer_to_businesses(sample):
    """Every review, tip and checkin belongs to a business of the sample."""
    known = {row["business_id"] for row in sample.business}
    for table in ("review", "tip", "checkin"):
        assert {json.loads(raw)["business_id"] for raw in sample.lines(table)} <= known


def test_business_rows(sample):
    """Key order, types, coordinates, and stars that are the mean of the place's reviews."""
    ratings: dict[str, list[int]] = {}
    for row in sample.review:
        ratings.setdefault(row["business_id"], []).append(int(row["stars"]))
    for row in sample.business:
        assert list(row) == BUSINESS_KEYS
        assert -125 < row["longitude"] < -70
        assert 25 < row["latitude"] < 55
        assert row["is_open"] in (0, 1)
        mine = ratings[row["business_id"]]
        blank = 1 if row["review_count"] < len(mine) else 0
        assert row["review_count"] >= len(mine) - blank
        assert blank or row["stars"] == half_stars(mine)


def test_attributes_are_texts_that_look_like_python(large):
    """Strings only; parsed as Python they give booleans, words, None or dictionaries."""
    kinds: Counter[str] = Counter()
    for row in large.business:
        for key, value in (row["attributes"] or {}).items():
            assert isinstance(value, str)
            assert key[0].isupper()
            parsed = ast.literal_eval(value)
            if isinstance(parsed, dict):
                assert set(parsed.values()) <= {True, False, None}
            kinds["u''" if value.startswith("u'") else "''" if value.startswith("'") else type(parsed).__name__] += 1
            kinds["u in dict"] += value.startswith("{u'")
            kinds["empty dict"] += value == "{}"
    assert set(kinds) == {"u''", "''", "bool", "NoneType", "dict", "int", "u in dict", "empty dict"}
    assert all(kinds.values())


def test_business_quirks_have_their_shares(large):
    """Nulls, empty addresses, closed days, odd city spellings, prices."""
    rows, n = large.business, len(large.business)

    def share(test) -> float:
        return sum(1 for row in rows if test(row)) / n

    assert 0.06 < share(lambda row: row["attributes"] is None) < 0.15
    assert 0.12 < share(lambda row: row["hours"] is None) < 0.20
    assert 0.02 < share(lambda row: row["address"] == "") < 0.07
    assert 0 < share(lambda row: row["categories"] is None) < 0.02
    assert share(lambda row: "0:0-0:0" in (row["hours"] or {}).values()) > 0.02
    assert share(lambda row: row["postal_code"] == "") > 0
    spellings = {row["city"] for row in rows}
    assert {"Saint Louis", "St. Louis", "TAMPA"} <= spellings
    assert any(city != city.strip() for city in spellings)
    assert any(city.islower() for city in spellings)
    prices = Counter(
        (row["attributes"] or {}).get("RestaurantsPriceRange2")
        for row in rows
        if "Restaurants" in (row["categories"] or "")
    )
    assert prices["2"] > prices["1"] > prices["3"] > prices["4"] > 0


def test_categories_come_in_any_order(large):
    """A parent is not always first or last, and slashes and ampersands stay inside names."""
    firsts = Counter((row["categories"] or "").split(", ")[0] == "Restaurants" for row in large.business)
    assert firsts[True] > 50
    assert firsts[False] > 50
    everything = ", ".join(row["categories"] or "" for row in large.business).split(", ")
    assert {"Cajun/Creole", "Hotels & Travel", "Car Rental", "Pop-Up Restaurants", "Dentists"} <= set(everything)


def test_text_quirks(large):
    """Each oddity of real texts occurs, none of them often."""
    texts = [row["text"] for row in large.review]
    raw = b"\n".join(large.lines("review"))
    shares = {
        "\n": (0.2, 0.5),
        '"': (0.03, 0.2),
        "[": (0.001, 0.01),
        "\\": (0.0005, 0.01),
        "\r": (0.0005, 0.02),
        "  ": (0.2, 0.5),
        "!": (0.3, 0.7),
        "...": (0.05, 0.3),
        "/": (0.01, 0.2),
    }
    for mark, (low, high) in shares.items():
        assert low < sum(mark in text for text in texts) / len(texts) < high, mark
    assert 0.02 < sum(not text.isascii() for text in texts) / len(texts) < 0.08
    assert re.search(rb"\\ud83[cde]\\ud[c-f]", raw)
    assert b"\\u00e9" in raw
    assert any("[Q:" in text for text in texts)
    assert any(re.search(r"\[R\d", text) for text in texts)
    assert all(text == text.strip() for text in texts if text.strip())
    assert any(not text.strip() for text in texts)


def test_text_lengths(large):
    """Median about 400 code points, about 40 % over 500, a few of several thousand."""
    known = {row["review_id"] for row in large.truth}
    lengths = [len(row["text"]) for row in large.review if row["review_id"] in known]
    assert 370 < median(lengths) < 450
    assert 0.37 < sum(length > 500 for length in lengths) / len(lengths) < 0.46
    assert max(lengths) > 3000
    assert max(lengths) < 6000


def test_half_stars_rounds_to_the_nearest_half():
    """Ties go up."""
    assert half_stars([5, 4]) == 4.5
    assert half_stars([5, 4, 4, 4]) == 4.5
    assert half_stars([5, 4, 4, 4, 4]) == 4.0
    assert half_stars([1]) == 1.0
