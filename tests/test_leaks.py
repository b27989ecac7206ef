"""The leak guard sees a run of eight words whatever its case, spacing, punctuation and quote marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_dataset.leaks import RunFinder, leak_tokens

REVIEW = "We sat by the river for two hours and nobody rushed us, which is rare; the gumbo came late."
FINDER = RunFinder({"r1": REVIEW, "r2": "Short one."})


@pytest.mark.parametrize(
    "text",
    [
        "They wrote: we sat by the river for two hours and left.",
        "WE SAT — by the 'river', for two… hours!",
        "so we\n\nsat   by the river for two hours",
    ],
)
def test_a_run_of_eight_words_is_found_however_it_is_dressed(text):
    [run] = FINDER.runs(text, ["r1", "r2"])
    assert [token.word for token in leak_tokens(text[run.start : run.end])][:8] == [
        "we",
        "sat",
        "by",
        "the",
        "river",
        "for",
        "two",
        "hours",
    ]
    assert REVIEW[run.review_start : run.review_end].lower().startswith("we sat by the river for two hours")


def test_seven_words_are_not_a_run():
    assert FINDER.runs("we sat by the river for two, honestly", ["r1"]) == []


def test_only_the_named_reviews_are_searched():
    assert FINDER.runs(REVIEW, ["r2"]) == []


def test_any_run_searches_them_all():
    assert FINDER.any_run("x " + REVIEW) is not None
    assert FINDER.any_run("nothing of the kind stands here at all, not a single sentence") is None


@given(st.text(alphabet="ab c'.\n", max_size=60), st.text(alphabet="ab c'.\n", max_size=60))
def test_a_planted_review_is_always_found(before, after):
    run = FINDER.any_run(f"{before} {REVIEW} {after}")
    assert run is not None
    assert run.review_id == "r1"


def test_an_index_made_in_one_process_works_in_another():
    """Workers are started afresh on some systems; string hashes of Python differ between processes, ours must not."""
    import pickle
    import subprocess
    import sys

    FINDER.prepare()
    code = f"import pickle; print(pickle.loads({pickle.dumps(FINDER)!r}).any_run({REVIEW!r}).review_id)"
    environment = {**__import__("os").environ, "PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "r1"
