"""Whatever a baseline returns is made plain or refused with a reason; nothing of it can break a run."""

from __future__ import annotations

import numpy as np
import pytest

from trace_dataset.evaluation.answers import Fault, attempt, clean_ranking, clean_response, reason
from trace_dataset.schema import Citation
from trace_dataset.turns import Response

POOL = frozenset("abc")
CITED = Citation("R1", "a", "r1")


@pytest.mark.parametrize(
    ("ranking", "says"),
    [
        (None, "NoneType, not a list"),
        ("abc", "str, not a list"),
        ((place for place in "abc"), "generator, not a list"),
        (np.array(["a"]), "ndarray, not a list"),
        ([], "no place"),
        (["a", "a"], "a place twice"),
        (["a", "é\ud800"], "not in the pool"),
        (["a", 1], "an id of type int"),
        ([["a"]], "an id of type list"),
    ],
)
def test_a_ranking_that_is_none(ranking, says):
    with pytest.raises(Fault, match=says):
        clean_ranking(ranking, POOL)


def test_numpy_strings_become_plain_ones():
    ranking = clean_ranking(list(np.array(["b", "a"])), POOL)
    assert ranking == ("b", "a")
    assert {type(place) for place in ranking} == {str}


@pytest.mark.parametrize(
    ("response", "says"),
    [
        (None, "NoneType, not a Response"),
        ({"text": "hello"}, "dict, not a Response"),
        (Response(None), "a text of type NoneType"),
        (Response(" \n"), "an empty text"),
        (Response("x" * 20_001), "20,001 characters"),
        (Response("x", ("nowhere",)), "'nowhere', which is not in the pool"),
        (Response("x", ("a", "a")), "a place twice"),
        (Response("x", (p for p in "a")), "generator"),
        (Response("x", ranking=("a", "z")), "'z', which is not in the pool"),
        (Response("x", citations=("R1",)), "no Citation"),
        (Response("x", citations=None), "NoneType, not a list of Citation"),
        (Response("x", citations=(Citation("[R1]", "a", "r1"),)), "labels are R1"),
        (Response("x", citations=(Citation("R1", "a", None),)), "no Citation"),
        (Response("x", citations=(CITED, Citation("R1", "b", "r2"))), "R1 to two reviews"),
    ],
)
def test_a_response_that_is_none(response, says):
    with pytest.raises(Fault, match=says.replace("[", r"\[")):
        clean_response(response, POOL, ("a", "b", "c"))


def test_what_is_kept_is_plain():
    given = Response(
        np.str_("Try\ud800 it"), ["a"], [CITED, CITED], usage={"calls": 1, "note": "x", "cost": float("nan")}
    )
    kept = clean_response(given, POOL, ("a", "b"))
    assert kept == Response("Try\ufffd it", ("a",), (CITED,), ("a", "b"), {"calls": 1.0})
    assert type(kept.text) is str
    assert kept.ranking == ("a", "b"), "the ranking that rank returned"


def test_a_response_that_owns_up_to_an_error_keeps_the_reason():
    assert clean_response(Response("half an ans", error="no tokens\nleft"), POOL, ("a",)) == Response(
        "", error="no tokens left"
    )


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


def test_a_reason_is_one_short_line_whatever_was_raised():
    assert reason(KeyError("a\n b")) == "KeyError: 'a\\n b'"
    assert reason(Unprintable()) == "Unprintable"
    assert len(reason("x" * 9_999)) == 500


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), RecursionError(), Unprintable(), MemoryError("x")])
def test_whatever_is_raised_is_a_reason(error):
    def raising():
        raise error

    value, said = attempt(raising)
    assert value is None
    assert said.startswith(type(error).__name__)


def test_ctrl_c_is_no_reason():
    def stopped():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(stopped)
