"""The paper's tables beside ours: locked plans that hold what it prints, and a command that makes and resumes the runs."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
from analysis.made import folder, hits, results, turn

from hydrate.errors import UsageError
from trace_dataset.analysis.reproduce import ASKING, PAPER, PlannedRun, beside, cost, plan, plans
from trace_dataset.cli import main
from trace_dataset.cli.reproduce import _finished, _possible
from trace_dataset.installed import hub_names

TABLES = ("5", "6", "16", "17", "18", "19", "20", "21", "22", "25")


def test_there_is_a_plan_for_every_table_and_its_systems_exist() -> None:
    assert set(plans()) == {f"table-{number}" for number in TABLES}
    for wanted in plans().values():
        assert set(wanted.systems) <= set(hub_names("baselines"))
    assert plan("Table 5") is plan("table-5") is plan("5")
    with pytest.raises(UsageError, match="no plan"):
        plan("7")


def test_plans_hold_what_the_paper_prints(shared: Path) -> None:
    tables = {item["id"]: item for item in json.loads((shared / "cases" / "paper_tables.json").read_text())["tables"]}
    names = json.loads(PAPER.read_text())["systems"]
    for wanted in plans().values():
        source = tables[f"TRACE.T{wanted.name.split('-')[1]}"]
        rows = {row[0]: dict(zip(source["columns"], row, strict=True)) for row in source["rows"]}
        for name, printed in wanted.printed.items():
            for key, value in printed.items():
                assert rows[names[name]][key] == value
    assert [item["delta"] for item in plan("21").contrasts] == [row[3] for row in tables["TRACE.T21"]["rows"]]


def test_difference_to_the_paper() -> None:
    table = beside(
        plan("5"),
        [hits("tfidf", [[1.0], [0.0]]), hits("random", [[0.0], [0.0]], control=True)],
        {"dense": "no torch"},
        50,
    )
    rows = {row[0].text: dict(zip(table.header, (cell.value for cell in row), strict=True)) for row in table.rows}
    assert (rows["tfidf"]["R@1"], rows["tfidf"]["R@1 paper"]) == (0.5, 0.257)
    assert rows["tfidf"]["R@1 difference"] == pytest.approx(0.243)
    assert (rows["dense"]["R@1"], rows["dense"]["R@1 difference"]) == (None, None)
    assert rows["random †"]["R@1 paper"] is None
    assert any("no torch" in note for note in table.notes)


def test_every_kind_of_column_by_hand() -> None:
    rows = [[turn(1.0, gs=1.0, cd=0.1, gs_70=0.5), turn(0.0, gs=0.0, cd=0.3, gs_70=0.7)]]
    one, opened = results("tfidf", rows), hits("tfidf", [[0.0, 1.0]], pool="open")

    def own(name: str, label: str, runs=(one,)) -> object:
        table = beside(plan(name), list(runs), {}, 50)
        row = next(row for row in table.rows if row[0].text == "tfidf")
        return row[list(table.header).index(label)].value

    assert own("16", "70 %") == pytest.approx(0.6)
    assert own("18", "1 km") == 0.5
    assert own("19", "r") == pytest.approx(-1.0)
    assert own("20", "CD sd") == pytest.approx(0.2 / 2**0.5)
    assert own("17", "entailment") is None
    assert own("22", "CGSent") is None
    assert own("6", "open R@1", (one, opened)) == 0.5
    with_both = beside(plan("21"), [hits("spatial", [[1.0]]), hits("tfidf", [[1.0]])], {}, 50)
    shown = {row[0].text: row[2].value for row in with_both.rows}
    assert shown["spatial - tfidf"] == 0.0
    assert shown["dense - tfidf"] is None


def test_every_value_of_ours_has_n_and_an_interval() -> None:
    """Decisions, item 26: 0.5 of two dialogues is another thing than 0.257 of 52,274 turns."""
    rows = [[turn(1.0, cd=0.1, gs=0.9)], [turn(0.0, cd=0.3, gs=0.5)], [turn(1.0, cd=0.2, gs=0.9)]]
    one = results("tfidf", rows)
    for name in ("5", "16", "18", "19", "20"):
        table = beside(plan(name), [one], {}, 200)
        row = next(row for row in table.rows if row[0].text == "tfidf")
        labels = list(table.header)
        for label in (column["label"] for column in plan(name).columns.values()):
            assert row[labels.index(f"{label} n")].value == 3, (name, label)
            assert row[labels.index(label)].low is not None or label.endswith("sd"), (name, label)
        assert sum(table.groups.values()) == len(labels) - 1
    both = beside(plan("21"), [hits("spatial", [[1.0], [0.0]]), hits("tfidf", [[1.0], [1.0]])], {}, 50)
    row = next(row for row in both.rows if row[0].text == "spatial - tfidf")
    assert [row[list(both.header).index(label)].value for label in ("dialogues", "turns n")] == [2, 2]


@pytest.mark.parametrize("name", ["6", "17", "22"])
def test_a_column_of_entailment_that_stays_empty_says_what_it_takes(name: str) -> None:
    notes = beside(plan(name), [hits("tfidf", [[1.0]])], {}, 50).notes
    assert any("trace-dataset entail" in note and "tfidf" in note for note in notes)
    assert not any("entail" in note for note in beside(plan("5"), [hits("tfidf", [[1.0]])], {}, 50).notes)


def test_runs_of_another_model_are_not_taken_for_those_of_this_one(benchmark, tmp_path) -> None:
    digest = benchmark.release.manifest.content_digest
    for name, model in (("a", "openai/x"), ("b", "openai/y"), ("c", "local/smollm2-135m")):
        asked = hits("llm_zero_shot", [[1.0]], content_digest=digest, parameters={"lm": {"name": model}})
        folder(asked, tmp_path / name)
    folder(hits("tfidf", [[1.0]], content_digest=digest, parameters={}), tmp_path / "t")

    def found(lm: str | None) -> list[str]:
        options = Namespace(lm=lm, api_base=None)
        names = ["llm_zero_shot", "tfidf"]
        return [path.name for path in _finished(tmp_path, names, PlannedRun("closed"), benchmark, options)]

    assert found("openai/y") == ["b", "t"]
    assert found("local") == ["c", "t"]
    assert found(None) == ["t"]


def test_table_25_keeps_the_retrievers_apart() -> None:
    def asked(value: float, **settings) -> object:
        return results(
            "rag_citation",
            [[turn(value, cd=value, ranking_recall_at_16=1.0)]],
            **{"parameters": {"lm": {"name": "m"}}, **settings},
        )

    dense = {"lm": {"name": "m"}, "retriever": "dense"}
    runs = [asked(1.0), asked(0.5, pool="open"), asked(0.25, pool="open", parameters=dense)]
    table = beside(plan("25"), runs, {}, 50)
    row = next(row for row in table.rows if row[0].text == "rag_citation")
    own = dict(zip(table.header, (cell.value for cell in row), strict=True))
    assert [own[label] for label in ("closed R@1", "open R@1, TF-IDF", "open R@1, dense", "CD, dense")] == [
        1.0,
        0.5,
        0.25,
        0.25,
    ]
    assert own["open R@1, dense paper"] == 0.066
    assert own["Recall@16, dense"] == 1.0
    assert len(table.sources[[row[0].text for row in table.rows].index("rag_citation")]) == 3
    alone = beside(plan("25"), runs[:2], {}, 50)
    row = next(row for row in alone.rows if row[0].text == "rag_citation")
    assert row[list(alone.header).index("open R@1, dense")].value is None


def test_cost_of_what_asks_a_model() -> None:
    asked, usd = cost(plan("25"), dialogues=2_000, turns=10_000, price=(1.0, 10.0))
    assert (
        asked == 2 * 3 * 1_000 * 5
    )  # two systems, closed, open by either retriever, 1,000 dialogues of five system turns
    assert usd == pytest.approx(asked * (2_500 * 1.0 + 150 * 10.0) / 1e6)
    assert cost(plan("25"), 2_000, 10_000, None) == (asked, None)
    assert cost(plan("16"), 2_000, 10_000, (1.0, 1.0)) == (0, 0.0)
    assert set(ASKING) <= set(hub_names("baselines"))


def test_the_command_makes_runs_and_goes_on_from_them(sample_bundle, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(
        plans(),
        "table-16",
        plan("16").__class__(**{**vars(plan("16")), "printed": {"popularity": plan("16").printed["popularity"]}}),
    )
    source = ["--yelp", str(sample_bundle), "--dialogues", "240", "--out", str(tmp_path), "--resamples", "100"]
    assert main(["reproduce", "table-16", *source]) == 0
    shown = capsys.readouterr().out
    assert "paper" in shown
    assert "popularity" in (tmp_path / "table-16-beside-paper.csv").read_text()
    shards = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/responses/*")}
    assert shards
    assert "verdict" in (tmp_path / "table-16-orderings.csv").read_text()
    assert main(["reproduce", "16", *source]) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/responses/*")} == shards


def test_a_shortened_plan_says_so_and_never_runs_more_than_the_locked_one() -> None:
    short = plan("25").shortened(5)
    assert [run.limit for run in short.runs] == [5, 5, 5]
    assert [run.limit for run in plan("25").shortened(5_000).runs] == [1_000, 1_000, 1_000]
    assert plan("5").shortened(7).runs[0].limit == 7
    table = beside(short, [hits("llm_zero_shot", [[1.0]])], {}, 50)
    assert any("no more than 5 dialogues" in note for note in table.notes)
    with pytest.raises(UsageError, match="leaves nothing"):
        plan("5").shortened(0)


def test_a_paid_model_is_priced_before_anything_starts(sample_bundle, tmp_path, capsys) -> None:
    source = ["--yelp", str(sample_bundle), "--dialogues", "240", "--out", str(tmp_path)]
    paid = ["--lm", "openai/some-model", "--lm-prices", "1", "2"]
    assert main(["reproduce", "table-25", *source, *paid]) == 2
    shown = capsys.readouterr().err
    assert "USD" in shown
    assert "--yes" in shown
    assert not list(tmp_path.glob("runs*"))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--resamples", "5"], "100 or more"),
        (["--lm", " "], "names no model"),
        (["--lm-prices", "1", "2"], "belong to --lm"),
        (["--yes"], "belong to --lm"),
    ],
)
def test_options_that_do_nothing_are_told_before_anything_is_built(wrong, says, tmp_path, capsys) -> None:
    assert main(["reproduce", "table-25", "--yelp", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out"), *wrong]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_the_dense_half_of_table_25_lacks_is_told_before_a_model_is_asked(monkeypatch) -> None:
    def absent() -> None:
        raise UsageError("sentence embeddings need torch", do="pip install it")

    monkeypatch.setattr("trace_dataset.cli.reproduce.default_encoder", absent)
    missing: dict[str, str] = {}
    asked = ["llm_zero_shot", "rag_citation"]
    assert [run.retriever for run in _possible(plan("25"), asked, missing)] == [None, None]
    told = "sentence embeddings need torch; do: pip install it"
    assert missing == {"llm_zero_shot, rag_citation with the dense retriever": told}
    missing.clear()
    assert len(_possible(plan("25"), [], missing)) == 2, "without a model nobody needs the encoder"
    assert not missing
