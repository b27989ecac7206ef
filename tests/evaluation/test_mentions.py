"""From text to places."""

import pytest

from trace_dataset.evaluation.mentions import mentions, scored_places

POOL = {
    "a": "Blue Door",
    "b": "Blue Door Annex",
    "c": "Elm",
    "d": "The Gilded Kettle",
    "e": "Twin Oaks",
    "f": "Twin Oaks",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Try Blue Door, or Blue Door Annex.", ["a", "b"]),
        ("Blue Door Annex it is.", ["b"]),
        ("the gilded kettel is fine, and BLUE   DOOR too", ["d", "a"]),
        ("Helmut's is not Elm's neighbour? Elm.", ["c"]),
        ("Twin Oaks", []),
        ("nothing here", []),
        ("", []),
    ],
)
def test_mentions(text, expected):
    assert mentions(text, POOL) == expected


def test_declared_places_that_the_text_does_not_name_are_dropped():
    named, dropped = scored_places("Go to Elm or Blue Door.", ["a", "c", "d", "a"], POOL)
    assert (named, dropped) == (("a", "c"), ("d",))
