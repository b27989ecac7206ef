"""A stored response holds no review text, and comes back to the letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrate import HydrationError
from trace_dataset.evaluation.stored import PoolReviews, restore_text, store_text
from trace_dataset.leaks import RunFinder
from trace_dataset.schema import Citation
from trace_dataset.turns import Response

TEXTS = {
    "r1": "We sat by the river for two hours and nobody rushed us, which is rare. The gumbo came late \\ but hot [R2].",
    "r2": "Rooms are small but spotless; the front desk found us a late checkout without being asked twice.",
}
FINDER = RunFinder(TEXTS)
CITED = (Citation("R1", "b1", "r1"),)


def stored(text, citations=CITED):
    return store_text(Response(text, citations=citations), PoolReviews.of(TEXTS), FINDER)


@pytest.mark.parametrize(
    "text",
    [
        'Go there: "nobody rushed us, which is rare" [R1].',
        'An altered quote: "nobody rushes us, which is so rare" [R1].',
        "Unquoted: we SAT by the river, for two hours and nobody rushed us.",
        "Of an uncited review: “Rooms are small but spotless” and [Q:0] typed by hand, a \\ and [R2].",
        'Never said by anyone: "the best place in the whole wide world" [R1].',
        "",
    ],
)
def test_what_comes_back_is_what_went_in(text):
    assert restore_text(stored(text), TEXTS) == text


def test_the_template_holds_no_run_of_a_review_and_no_quote_of_it():
    text = 'Go: "nobody rushed us, which is rare" [R1]. Also rooms are small but spotless; the front desk found us a late one.'
    template = stored(text).template
    assert "rushed" not in template
    assert FINDER.any_run(template) is None


def test_an_altered_quote_is_not_repaired():
    kept = stored('They say "nobody rushes us, which is rare" [R1].')
    assert kept.spans[0].edits
    assert "rushes" in restore_text(kept, TEXTS)


def test_a_changed_review_is_noticed():
    kept = stored('Go: "nobody rushed us" [R1].')
    with pytest.raises(HydrationError, match="no longer reads"):
        restore_text(kept, {**TEXTS, "r1": TEXTS["r1"].replace("rushed", "pushed")})


@given(
    st.lists(
        st.one_of(st.sampled_from([*TEXTS.values(), '"', "“", "”", "\\", "[Q:1]", "[R1]", "\n"]), st.text(max_size=12)),
        max_size=9,
    )
)
def test_any_text_survives(parts):
    text = "".join(parts).encode("utf-8", "replace").decode()
    assert restore_text(stored(text), TEXTS) == text
