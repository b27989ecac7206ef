"""The paper's own sensitivity figures, recomputed from its printed tables; ours, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from analysis.made import hits, results, turn

from trace_dataset.analysis import sensitivity
from trace_dataset.analysis.corpus import corpora
from trace_dataset.analysis.statistics import kendall_tau_b, spearman
from trace_dataset.scoring.composite import FORMULAS


@pytest.fixture(scope="module")
def paper(shared: Path) -> dict[str, dict[str, dict[str, object]]]:
    found = json.loads((shared / "cases" / "paper_tables.json").read_text())["tables"]
    return {
        table["id"]: {row[0]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
        for table in found
        if table["id"] in {"TRACE.T5", "TRACE.T6", "TRACE.T16", "TRACE.T18", "TRACE.T19", "TRACE.T17", "TRACE.T22"}
    }


@pytest.fixture(scope="module")
def printed(paper) -> list[tuple[float, float, float, float]]:
    """CGS as printed, and GS, CD, PC, of the 13 systems that have all four."""
    return [
        (row["cgs"], paper["TRACE.T6"][name]["gs"], row["citation_density"], paper["TRACE.T6"][name]["pc"])
        for name, row in paper["TRACE.T5"].items()
        if name in paper["TRACE.T6"]
    ]


def test_printed_cgs_is_the_product_of_printed_means_but_for_one_row(printed) -> None:
    apart = [abs(cgs - sensitivity.apply_formula("cgs", gs, cd, pc)) for cgs, gs, cd, pc in printed]
    assert len(apart) == 13
    assert sorted(apart)[-2] <= 0.0005
    assert max(apart) == pytest.approx(0.0117, abs=0.0001)  # Multi-Review Synthesis: audit, part (a)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_formula_changes_the_order_of_the_printed_rows(printed, formula) -> None:
    """The audit, part (b): 1.000 for all seven; the paper prints 0.895 to 1.000."""
    values = [sensitivity.apply_formula(formula, gs, cd, pc) for _, gs, cd, pc in printed]
    rho, n = sensitivity.rank_correlation([row[0] for row in printed], values)
    assert (round(rho, 3), n) == (1.0, 13)


def test_printed_grounding_against_printed_accuracy(paper, printed) -> None:
    accuracy = [row["recall_at_1"] for name, row in paper["TRACE.T5"].items() if name in paper["TRACE.T6"]]
    assert spearman([gs for _, gs, _, _ in printed], accuracy) == pytest.approx(-0.868934, abs=1e-6)  # paper: -0.862


def test_no_threshold_changes_the_printed_grounding(paper) -> None:
    for row in paper["TRACE.T16"].values():
        values = [value for key, value in row.items() if key != "baseline"]
        assert max(values) - min(values) <= 0.002


def test_order_of_the_printed_spatial_coherence_by_distance(paper) -> None:
    rows = list(paper["TRACE.T18"].values())
    used = [row["km_2"] for row in rows]
    found = {
        key: sensitivity.rank_correlation(used, [row[key] for row in rows])[0]
        for key in ("km_1", "km_1_5", "km_3", "km_5")
    }
    assert all(0.8 < rho <= 1 for rho in found.values())
    best = max(rows, key=lambda row: row["km_2"])["baseline"]
    assert all(max(rows, key=lambda row, key=key: row[key])["baseline"] == best for key in found)


def test_fuzzy_and_entailment_order_of_the_printed_retrievers(paper) -> None:
    """Definitions, 9.10: tau-b 0.504 within the group without language models, which is not small."""
    group = [
        row for name, row in paper["TRACE.T17"].items() if paper["TRACE.T5"].get(name, {}).get("group") == "non_llm"
    ]
    tau = kendall_tau_b([row["fuzzy"] for row in group], [row["entailment"] for row in group])
    assert tau == pytest.approx(0.504, abs=0.001)


def three() -> list:
    values = {"a": (1.0, 0.03, 0.2), "b": (0.9, 0.2, 0.4), "c": (0.5, 0.4, 0.9)}
    return [results(name, [[turn(1.0, gs=gs, cd=cd, pc=pc)]]) for name, (gs, cd, pc) in values.items()]


def test_formula_table_by_hand() -> None:
    table = sensitivity.formula_table(corpora(three(), 50)["closed"])
    rows = {(row[0].text, row[1].text): [cell.value for cell in row[2:]] for row in table.rows}
    assert rows["cgs", "product of means"][:3] == pytest.approx([0.6 * 0.6, 0.9 * 0.7, 0.5 * 0.95])
    assert rows["no_floor", "product of means"][:3] == pytest.approx([0.12, 0.36, 0.45])
    # ranks of CGS 1, 3, 2 and of no_floor 1, 2, 3: 1 - 6 * 2 / 24
    assert rows["no_floor", "product of means"][3:] == pytest.approx([0.5, 3])
    assert rows["cgs", "mean of turns"][:3] == pytest.approx([0.36, 0.63, 0.475])  # one turn each: no difference


def test_two_systems_have_no_rank_correlation() -> None:
    table = sensitivity.formula_table(corpora(three()[:2], 50)["closed"])
    assert {row[-2].value for row in table.rows} == {None}


def test_gaming_by_hand() -> None:
    cd, gs = [0.1, 0.2, 0.3], [1.0, 0.5, 0.0]
    one = results("one", [[turn(1.0, cd=c, gs=g) for c, g in zip(cd, gs, strict=True)] + [turn(None)]])
    [row] = sensitivity.gaming_table(corpora([one], 50)["closed"]).rows
    found = dict(
        zip(["turns", "cd", "gs", "r", "p", "quoting", "r there", "p there"], [c.value for c in row[1:]], strict=True)
    )
    assert (found["turns"], found["quoting"]) == (4, 3)
    assert found["r there"] == pytest.approx(-1.0)
    assert found["r"] != pytest.approx(-1.0)  # the turn without a quote counts as CD 0 and GS 1 there


def test_sweeps_name_the_value_in_use_and_what_else_it_would_order() -> None:
    runs = [
        results(name, [[turn(1.0, gs_70=a, gs_80=b)]])
        for name, a, b in (("a", 0.9, 0.1), ("b", 0.5, 0.5), ("c", 0.1, 0.9))
    ]
    table = sensitivity.threshold_table(corpora(runs, 50)["closed"])
    assert any("70 %" in note and "-1.000" in note for note in table.notes)
    assert [row[2].value for row in table.rows] == [0.1, 0.5, 0.9]


def test_independence_over_turns_of_all_systems_together() -> None:
    one = results("one", [[turn(1.0, gs=g, cd=c) for g, c in ((0.1, 0.3), (0.2, 0.2), (0.3, 0.1))]])
    rows = sensitivity.independence_table(corpora([one, hits("oracle", [[1.0]], control=True)], 50)["closed"]).rows
    assert (rows[0][2].value, rows[0][3].value) == (pytest.approx(-1.0), 3)
