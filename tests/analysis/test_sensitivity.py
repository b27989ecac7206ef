"""The paper's own sensitivity figures, recomputed from its printed tables; ours, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from analysis.made import dialogue, hits, results, turn

from trace_dataset.analysis import sensitivity
from trace_dataset.analysis.corpus import corpora
from trace_dataset.analysis.report import SENSITIVITY_TABLES
from trace_dataset.analysis.statistics import kendall_tau_b, spearman
from trace_dataset.analysis.swept import Pair, correlations, numbers
from trace_dataset.evaluation.bootstrap import bootstrap_ci
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
    cd, every, gs = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [1.0, 0.5, 0.0]
    rows = [turn(1.0, cd=c, cd_quoted=q, gs=g) for c, q, g in zip(cd, every, gs, strict=True)]
    table = sensitivity.gaming_table(corpora([results("one", [[*rows, turn(None, cd_quoted=0.0)]])], 50)["closed"])
    found = dict(zip(table.header, (cell.value for cell in table.rows[0]), strict=True))
    assert (found["turns n"], found["turns with quotes"]) == (4, 3)
    assert found["r there"] == pytest.approx(-1.0)
    assert found["r"] != pytest.approx(-1.0)  # the turn without a quote counts as CD 0 and GS 1 there
    assert found["r there, all quotes"] == pytest.approx(1.0)


def test_gaming_is_averaged_within_a_group_of_systems() -> None:
    """Definitions, 9.7: mean |r| per group; the paper's 0.038 and 0.065 are those of its two groups."""

    def run(name: str, gs: tuple[float, ...], **settings: object):
        rows = [[turn(1.0, cd=c, gs=g)] for c, g in zip((0.1, 0.2, 0.3, 0.4), gs, strict=True)]
        return results(name, rows, **settings)

    asked = run("zs", (0.0, 0.5, 1.0, 0.5), parameters={"lm": {"name": "m"}})
    runs = [run("a", (0.1, 0.2, 0.3, 0.4)), run("b", (0.4, 0.3, 0.2, 0.1)), asked]
    notes = sensitivity.gaming_table(corpora(runs, 50)["closed"]).notes
    assert "mean |r| over 2 systems without a language model, all turns: 1.000" in notes
    # x deviations -1.5 -0.5 0.5 1.5, y -0.5 0 0.5 0: 1 / sqrt(5 * 0.5)
    assert "mean |r| over 1 systems with a language model, all turns: 0.632" in notes


def test_the_papers_mean_correlations_are_those_of_its_groups(paper) -> None:
    rows = {name: row["pearson_r"] for name, row in paper["TRACE.T19"].items()}
    with_model = ("LLM Zero-Shot", "DST", "RAG-Citation", "Multi-Rev. Synth.", "Memory-Aug.")
    groups = [[abs(r) for name, r in rows.items() if (name in with_model) == asked] for asked in (False, True)]
    assert [round(sum(group) / len(group), 3) for group in groups] == [0.038, 0.065]


def test_intervals_of_correlations_draw_whole_dialogues() -> None:
    draw = np.random.default_rng(5)
    owner = np.repeat(np.arange(12), 3)
    x, y = draw.random(36), draw.random(36)
    values = [None if at == 4 else float(value) for at, value in enumerate(y)]
    kept = np.arange(36) != 4
    by_loop = []
    for row in np.random.default_rng(42).integers(0, 12, size=(200, 12)):
        places = np.concatenate([np.flatnonzero((owner == at) & kept) for at in row])
        by_loop.append(np.corrcoef(x[places], y[places])[0, 1])
    [found] = correlations([Pair(owner, 12, x, numbers(values))], 200, 42)
    assert found == pytest.approx(np.percentile(by_loop, [2.5, 97.5]), abs=1e-9)
    assert np.isnan(correlations([Pair(owner, 12, np.ones(36), y)], 50, 42)[0][0])  # a constant has none


def test_every_sweep_prints_n_and_an_interval_over_dialogues() -> None:
    """Decisions, item 26; the interval is that of the plain bootstrap."""
    values = [[0.1, 0.9], [0.4], [0.7, None], [1.0]]
    rows = [
        [turn(None if v is None else 1.0, pc_40=v, gs=v or 0.5, cd=0.2 + (v or 0.5) ** 2) for v in mine]
        for mine in values
    ]
    corpus = corpora([results("one", rows, [dialogue(km_1=v[0]) for v in values])], 300)["closed"]
    zeros = [[None if v is None else 0.0 for v in mine] for mine in values]
    table = sensitivity.window_table(corpus)
    cell = table.rows[0][list(table.header).index("40 characters")]
    assert (cell.value, cell.n, cell.n_null) == (pytest.approx(3.1 / 5), 5, 1)
    assert [cell.low, cell.high] == pytest.approx(bootstrap_ci(values, zeros, n_boot=300), abs=1e-12)
    for make in SENSITIVITY_TABLES:
        found = make(corpus)
        if not found.name.startswith("cgs-formulas"):  # a row a formula, a column a system
            assert any(part.low is not None for row in found.rows for part in row), found.name
            assert any(label.endswith("n") or "turns" in label for label in found.header), found.name


def test_sweeps_name_the_value_in_use_and_what_else_it_would_order() -> None:
    runs = [
        results(name, [[turn(1.0, gs_70=a, gs_80=b)]])
        for name, a, b in (("a", 0.9, 0.1), ("b", 0.5, 0.5), ("c", 0.1, 0.9))
    ]
    table = sensitivity.threshold_table(corpora(runs, 50)["closed"])
    assert any("70 %" in note and "-1.000" in note for note in table.notes)
    assert [row[2].value for row in table.rows] == [0.1, 0.5, 0.9]


def test_independence_over_turns_of_a_group_together() -> None:
    """Definitions, 9.8: over systems that ask no language model; the others stand apart, controls nowhere."""
    one = results("one", [[turn(1.0, gs=g, cd=c) for g, c in ((0.1, 0.3), (0.2, 0.2), (0.3, 0.1))]])
    asked = results(
        "zs",
        [[turn(1.0, gs=g, cd=c) for g, c in ((0.1, 0.1), (0.2, 0.2))]],
        parameters={"lm": {"name": "m"}},
    )
    table = sensitivity.independence_table(corpora([one, asked, hits("oracle", [[1.0]], control=True)], 50)["closed"])
    first, other = table.rows[0], table.rows[6]
    assert (first[0].text, first[3].value, first[4].value) == (
        "systems without a language model",
        pytest.approx(-1.0),
        3,
    )
    assert (other[0].text, other[3].value, other[4].value) == ("systems with a language model", pytest.approx(1.0), 2)
    assert [len(keys) for keys in table.sources] == [1] * 12
