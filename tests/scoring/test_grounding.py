"""Grounding: what the decisions and the paper's printed numbers ask for beyond the worked cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hydrate.errors import TraceError
from trace_dataset.analysis.statistics import kendall_tau_b, spearman
from trace_dataset.scoring import grounding
from trace_dataset.scoring.shapes import cited_columns

TACOS = "The tacos were smoky and tender, and the salsa bar is huge."
PATIO = "Quiet patio with string lights. We stayed two hours and nobody rushed us."


def columns(text: str, reviews: list[str], recommends: bool = True, **options):
    return grounding.score_turns([text], reviews, [0, len(reviews)], [recommends], **options)


def test_all_reviews_of_the_pool_raise_nothing() -> None:
    text = 'Try it: "nobody rushed us" [R1].'
    cited = [{"label": "R1", "text": TACOS}]
    pool = [*cited, {"label": "R2", "text": PATIO}]
    for references in (cited, pool):
        reviews, offsets, _ = cited_columns([text], [references])
        assert grounding.score_turns([text], reviews, offsets, [True]).gs == [0.0]


@pytest.mark.parametrize("text", ["Which part of town?", "Do you want a quiet patio?", ""])
def test_a_turn_that_does_not_recommend_has_no_provenance(text: str) -> None:
    found = columns(text, [], recommends=False)
    assert (found.pc, found.cgs, found.vacuous_pc) == ([None], [None], [False])


def test_vacuous_parts_are_flagged() -> None:
    found = columns("I recommend Blue Door [R1].", [TACOS])
    assert (found.gs, found.pc, found.cgs) == ([1.0], [1.0], [0.0])
    assert (found.vacuous_gs, found.vacuous_pc) == ([True], [True])


def test_columns_equal_the_single_functions() -> None:
    reviews = [TACOS, PATIO]
    texts = ['"smoky and tender" [R1]', '"valet parking" and "two hours"', "quiet patio [R2]", "", "“x”", "Hello?"]
    many = grounding.score_turns(
        texts, reviews * len(texts), list(range(0, 2 * len(texts) + 1, 2)), [True] * len(texts)
    )
    for index, text in enumerate(texts):
        assert many.gs[index] == grounding.grounding_score(text, reviews)
        assert many.cd[index] == grounding.citation_density(text, reviews)
        assert many.pc[index] == grounding.provenance_coverage(text)
        assert many.cgs[index] == grounding.cgs(many.gs[index], many.cd[index], many.pc[index])


def test_thresholds_are_inclusive_and_monotone() -> None:
    review = "abcdefghij"
    quote = "abcdefgxhi"
    scores = [
        grounding.grounding_score(f'"{quote}" [R1]', [review], threshold) for threshold in (0.5, 0.7, 0.8, 0.9, "exact")
    ]
    assert scores == sorted(scores, reverse=True)
    assert grounding.grounding_score('"abcd" [R1]', ["abcx"], 0.75) == 1.0  # 2 * 3 / 8


def test_only_resolvable_labels_can_count() -> None:
    text = "A quiet patio [R99]."
    assert columns(text, []).pc == [1.0]
    assert columns(text, [], valid_labels=[{1, 2}]).pc == [0.0]
    assert columns(text, [], valid_labels=[None]).pc == [1.0]


@pytest.mark.parametrize(
    "arguments",
    [
        (["a"], [], [0], [True]),
        (["a"], [], [0, 1], [True]),
        (["a"], ["r"], [1, 1], [True]),
        (["a", "b"], ["r"], [0, 2, 1], [True, True]),
        (["a"], [], [0, 0], []),
        (["a", None], [], [0, 0, 0], [True, True]),
        (["a"], [None], [0, 1], [True]),
        ("text", [], [0, 0], [True]),
    ],
)
def test_columns_that_do_not_fit_are_one_error(arguments) -> None:
    with pytest.raises(TraceError):
        grounding.score_turns(*arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 80},
        {"threshold": 0},
        {"threshold": "fuzzy"},
        {"threshold": True},
        {"count": "all"},
        {"window": -1},
        {"window": "80"},
    ],
)
def test_unknown_options_are_one_error(options) -> None:
    with pytest.raises(TraceError):
        columns("a", [], **options)


def test_no_turns() -> None:
    assert grounding.score_turns([], [], [0], []) == grounding.GroundingColumns()
    assert grounding.cgs_corpus([]) is None
    assert grounding.cgs_corpus([[1.0, 0.5, None]], "mean_of_turns") is None


# -------------------------------------------------------------------------------- the paper's printed numbers


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, dict[str, float]]]:
    path = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "paper_tables.json"
    if not path.is_file():
        pytest.skip("the paper's tables are not beside this checkout")
    found = {}
    for table in json.loads(path.read_text(encoding="utf-8"))["tables"]:
        rows = (dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
        found[table["id"]] = {str(row.get("baseline")): row for row in rows}
    return found


def main_rows(tables) -> list[dict[str, float]]:
    return [tables["TRACE.T5"][name] | row for name, row in tables["TRACE.T6"].items()]


def test_printed_cgs_comes_out_of_printed_components(tables) -> None:
    rows = main_rows(tables)
    off = {
        row["baseline"]: abs(grounding.cgs(row["gs"], row["citation_density"], row["pc"]) - row["cgs"]) for row in rows
    }
    assert len(off) == 13
    assert {name for name, gap in off.items() if gap > 0.0005} == {"Multi-Rev. Synth."}
    assert off["Multi-Rev. Synth."] == pytest.approx(0.0117, abs=1e-4)


def test_printed_entailment_gated_values_come_out_too(tables) -> None:
    rows = tables["TRACE.T22"]
    for row in rows.values():
        assert grounding.cgs(row["entailment"], row["cd"], row["pc"]) == pytest.approx(row["cgs_ent"], abs=0.002)
    off = {
        name for name, row in rows.items() if abs(grounding.cgs(row["gs"], row["cd"], row["pc"]) - row["cgs"]) > 0.002
    }
    assert off == {"DST", "Multi-Rev. Synth.", "Itinerary-LLM"}


def test_every_named_variant_keeps_the_printed_order(tables) -> None:
    rows = main_rows(tables)
    printed = [row["cgs"] for row in rows]
    for formula in grounding.FORMULAS:
        values = [grounding.cgs_alternative(row["gs"], row["citation_density"], row["pc"], formula) for row in rows]
        assert spearman(values, printed) == pytest.approx(1.0, abs=5e-4), formula


def test_printed_rank_correlations(tables) -> None:
    rows = main_rows(tables)
    assert spearman([row["gs"] for row in rows], [row["recall_at_1"] for row in rows]) == pytest.approx(
        -0.869, abs=5e-4
    )
    plain = [row for row in rows if row["group"] == "non_llm" and row["nli"] is not None]
    assert kendall_tau_b([row["gs"] for row in plain], [row["nli"] for row in plain]) == pytest.approx(0.504, abs=5e-4)
