"""What the lexicon makes of sentences that we wrote; each names an aspect with + or -, or none."""

from __future__ import annotations

import pytest

from trace_dataset.kb.lexicon import aspects_of, catalogue, lexicon
from trace_dataset.kb.mentions import read_review
from trace_dataset.kb.opinions import ClauseReader
from trace_dataset.schema import POI_TYPES

READERS = {kind: ClauseReader(lexicon(), kind) for kind in POI_TYPES}

RESTAURANT = [
    ("The staff was super friendly and attentive.", {"+friendly staff", "+attentive service"}),
    ("Great food but the parking was a nightmare.", {"+tasty food", "-parking"}),
    (
        "Staff weren't very friendly, and the service was slow.",
        {"-friendly staff", "-attentive service", "-fast service"},
    ),
    ("I wish they had a patio.", set()),
    ("There is plenty of free parking behind the building.", {"+parking"}),
    ("No patio, but the dining room is quiet and cozy.", {"-outdoor seating", "+quiet", "+cozy"}),
    ("It wasn't too loud.", {"+quiet"}),
    ("The music was so loud that we couldn't hear each other.", {"-quiet"}),
    ("Amazing food and service!", {"+tasty food", "+attentive service"}),
    ("Don't miss the patio in the back.", {"+outdoor seating"}),
    ("The patio sits right beside the dumpsters.", set()),
    ("Not impressed with the service at all.", {"-attentive service"}),
    ("The service is not great.", {"-attentive service"}),
    ("I don't think the food is that good.", {"-tasty food"}),
    ("If you want great tacos, go elsewhere.", set()),
    ("Is the food any good?", set()),
    ("Our waitress never came back to check on us.", {"-attentive service"}),
    ("The owner is a great cook.", set()),
    ("It's far from quiet.", {"-quiet"}),
    ("Service is anything but fast.", {"-fast service"}),
    ("We never tried the desserts.", set()),
    ("Prices are reasonable.", {"+good value"}),
    ("It's a bit pricey.", {"-good value"}),
    ("The cocktails are overpriced.", {"-cocktails"}),
    ("Not only was the server friendly, he was funny.", {"+friendly staff"}),
    ("Nobody was rude.", set()),
    ("We are not vegan.", set()),
    ("They have a separate vegan menu.", {"+vegan"}),
    ("Fast food at its best.", set()),
    ("Perfect for a date night.", {"+romantic"}),
    ("No reservation needed.", set()),
]
HOTEL = [
    ("The bed was super comfortable and the room was spacious.", {"+comfortable beds", "+spacious rooms"}),
    ("Rooms are tiny and the walls are paper thin.", {"-spacious rooms", "-quiet"}),
    ("Great location, walking distance to the museum.", {"+convenient location"}),
    ("The pool was closed during our stay.", {"-pool"}),
    ("WiFi was spotty in our room.", {"-wifi"}),
    ("Front desk staff was rude and unhelpful.", {"-friendly staff"}),
    ("The room smelled like smoke.", {"-clean"}),
    ("Parking is $40 a night.", {"-parking"}),
    ("There is a pool table in the bar.", set()),
]
ATTRACTION = [
    ("The exhibits were fascinating and interactive.", {"+interesting exhibits"}),
    ("Admission is free on Sundays.", {"+free entry"}),
    ("Great place to take the kids.", {"+kid-friendly"}),
    ("Our tour guide was very knowledgeable.", {"+knowledgeable staff", "+friendly staff"}),
    ("It was too crowded.", {"-short waits"}),
    ("Dogs are not allowed.", {"-dogs"}),
    ("The hot dogs are cheap.", {"+good value"}),
]
CASES = [
    (kind, *case)
    for kind, cases in (("restaurant", RESTAURANT), ("hotel", HOTEL), ("attraction", ATTRACTION))
    for case in cases
]


def said(kind: str, text: str) -> set[str]:
    words = lexicon()
    return {
        ("+" if signed > 0 else "-") + words.keys[aspect]
        for aspect, signed, _, _ in read_review(words.reader, READERS[kind], text)
        if aspect >= 0
    }


@pytest.mark.parametrize("kind, text, expected", CASES)
def test_a_sentence(kind: str, text: str, expected: set[str]) -> None:
    assert said(kind, text) == expected


def test_the_catalogue() -> None:
    assert 30 <= len(catalogue()) <= 45
    assert {aspect.family for aspect in catalogue().values()} >= {
        "food",
        "service",
        "ambience",
        "logistics",
        "value",
        "room",
        "company",
    }
    for kind in POI_TYPES:
        keys = aspects_of(kind)
        assert len(keys) >= 15
        assert list(keys) == sorted(keys)


def test_no_pattern_shrinks_to_nothing() -> None:
    words = lexicon()
    assert "" not in words.root
    assert words.fits["restaurant"] != words.fits["attraction"]
