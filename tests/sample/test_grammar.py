"""Templates: choices, slots, literal brackets, agreement."""

from __future__ import annotations

import pytest

from trace_dataset.sample.grammar import compile_all, compile_template, expand, is_plural, marked, slot_names
from trace_dataset.streams import stream


def every(template: str, **slots: list[str]) -> set[str]:
    """All expansions that two hundred draws find."""
    filled = {name: compile_all(words) for name, words in slots.items()}
    uniform = stream(1, template).random
    return {expand(compile_template(template), filled, uniform) for _ in range(200)}


def test_choices_nest_and_may_be_empty():
    """A choice may hold choices, slots and nothing."""
    assert every("so [very|[so|too] |]good") == {"so verygood", "so so good", "so too good", "so good"}


def test_slots_expand_further():
    """A filling is a template itself."""
    assert every("{who} left", who=["[he|she]", "they"]) == {"he left", "she left", "they left"}


def test_literal_brackets():
    """White brackets stand for brackets in the text."""
    assert every("see ⟦R[1|2]⟧") == {"see [R1]", "see [R2]"}


@pytest.mark.parametrize("template", ["a [b", "a ] b", "a {b", "a } b", "a {B} c", "[a|b]]"])
def test_mistakes_in_templates(template):
    """They are found when a bank is loaded."""
    with pytest.raises(ValueError, match=r"template"):
        compile_template(template)


def test_slot_names():
    """Slots inside choices count."""
    assert slot_names(compile_template("{a} [x|{b} [{c}|]]")) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "phrase, plural",
    [
        ("fish tacos", True),
        ("French dip", False),
        ("portion of tacos", False),
        ("hummus", False),
        ("restrooms", True),
        ("wheelchair access", False),
        ("biscuits and gravy", True),
        ("mac and cheese", False),
    ],
)
def test_plural_phrases(phrase, plural):
    """The head of the phrase decides."""
    assert is_plural(phrase) == plural


def test_agreement():
    """Verbs, determiners and articles fit the noun."""
    dish = [marked("fish tacos")]
    assert every("the {dish} was great", dish=dish) == {"the fish tacos were great"}
    assert every("I want a {dish}", dish=dish) == {"I want fish tacos"}
    assert every("about that {dish}", dish=dish) == {"about those fish tacos"}
    assert every("the portion of {dish} was huge", dish=dish) == {"the portion of fish tacos was huge"}
    assert every("a {dish}", dish=["omelet"]) == {"an omelet"}
    assert every("A {dish}", dish=["one-off", "unicorn", "apple"]) == {"A one-off", "A unicorn", "An apple"}
