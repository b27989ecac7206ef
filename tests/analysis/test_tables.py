"""Tables say what they rest on, mark the best, and never compare what may not be compared without saying so."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess

import pytest
from analysis.made import dialogue, hits, results, turn

from hydrate.errors import UsageError
from trace_dataset.analysis import pool_tables
from trace_dataset.analysis.corpus import corpora, row_names, sources_table
from trace_dataset.analysis.formats import Table, latex_text, markdown_text, words
from trace_dataset.analysis.report import SENSITIVITY_TABLES
from trace_dataset.analysis.tables import breakdowns, main_table, stress_table

NASTY = r"a|b <script>alert(1)</script> $x_1$ & 50% \cmd{y} *z* #1 ~^ `q`"


def column(table: Table, label: str) -> list[object]:
    at = list(table.header).index(label)
    return [row[at].value for row in table.rows]


def marks(table: Table, label: str) -> list[int | None]:
    at = list(table.header).index(label)
    return [row[at].rank for row in table.rows]


def test_numbers_by_hand() -> None:
    one = results(
        "one",
        [[turn(1.0, gs=1.0, cd=0.5, pc=1.0), turn(None)], [turn(0.0, gs=0.0, cd=0.01, pc=0.0, failed=True)]],
        [dialogue(rejections=2, recovered=1), dialogue(rejections=0, recovered=0)],
    )
    table = main_table(corpora([one], 100)["closed"])
    assert column(table, "R@1") == [0.5]
    gs, cd, pc = 2 / 3, 0.51 / 3, 0.5
    assert column(table, "CGS") == [pytest.approx(gs * min(1, cd / 0.05) * (0.5 + 0.5 * pc))]
    assert column(table, "failed") == [1]
    assert column(table, "turns n") == [2]
    assert column(table, "GS vacuous") == [pytest.approx(1 / 3)]
    assert column(stress_table(corpora([one], 100)["closed"], None), "RejRec") == [0.5]


def test_best_and_second_best_without_controls_and_with_ties() -> None:
    rows = {"a": [1, 0, 0, 0], "b": [1, 1, 0, 0], "c": [1, 1, 0, 0], "d": [0, 0, 0, 0]}
    systems = [hits(name, [[float(value)] for value in values]) for name, values in rows.items()]
    oracle = hits("oracle", [[1.0]] * 4, control=True)
    table = main_table(corpora([oracle, *systems], 100)["closed"])
    assert [row[0].text for row in table.rows] == ["a", "b", "c", "d", "oracle †"]
    assert marks(table, "R@1") == [2, 1, 1, None, None]
    assert set(marks(table, "BLEU-4")) == {None}  # all equal: nobody is best
    assert "**0.500 [" in table.markdown()
    assert r"\textbf{0.500 [" in table.latex()
    assert r"\underline{0.250 [" in table.latex()


def test_lower_is_better_for_turns_to_recommendation() -> None:
    fast = results("fast", [[turn(1.0)]], [dialogue(t2r=3.0)])
    slow = results("slow", [[turn(1.0)]], [dialogue(t2r=5.0)])
    assert marks(main_table(corpora([slow, fast], 100)["closed"]), "T2R") == [2, 1]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"content_digest": "x" * 64}, "benchmark"),
        ({"bundle_fingerprint": "y" * 64}, "bundle"),
        ({"version": "z" * 16}, "version of the code"),
        ({"scored": {"metrics": 99}}, "version of the metrics"),
        ({"split": "test"}, "split"),
    ],
)
def test_what_may_not_be_compared_is_said_above_the_table(settings, says) -> None:
    table = main_table(corpora([hits("a", [[1.0]]), hits("b", [[0.0]], **settings)], 100)["closed"])
    assert any(says in warning for warning in table.warnings)
    assert set(marks(table, "R@1")) == {None}
    for text in (table.markdown(), table.latex(), table.csv(), table.text()):
        assert "may not be compared" in text


def test_runs_of_other_pools_stand_in_tables_of_their_own() -> None:
    closed, opened = hits("a", [[1.0], [1.0]]), hits("a", [[1.0], [0.0]], pool="open")
    found = corpora([opened, closed], 200)
    assert list(found) == ["closed", "open"]
    assert column(stress_table(found["closed"], found["open"]), "open R@1") == [0.5]
    table = pool_tables.pool_table(found)
    assert column(table, "drop, points") == [-50.0]
    assert column(table, "drop, relative") == ["-50.0%"]
    assert table.warnings == []
    fewer = pool_tables.pool_table(corpora([closed, hits("a", [[0.0]], pool="open")], 200))
    assert column(fewer, "drop, points") == [-100.0]  # over the one dialogue that both were run on
    assert column(fewer, "dialogues shared") == [1]
    assert pool_tables.pool_table({"closed": found["closed"]}) is None


def test_open_accuracy_is_that_of_the_same_model() -> None:
    """Two models under one baseline: the open run of the one must not stand in the row of the other."""
    models = {"openai/x": 1.0, "local/y": 0.0}
    closed = [hits("zs", [[1.0]], parameters={"lm": {"name": name}}) for name in models]
    opened = [hits("zs", [[hit]], pool="open", parameters={"lm": {"name": name}}) for name, hit in models.items()]
    dense = hits("zs", [[0.5]], pool="open", parameters={"lm": {"name": "local/y"}, "retriever": "dense"})
    found = corpora([*closed, dense, *opened], 50)
    assert column(stress_table(found["closed"], found["open"]), "open R@1") == [1.0, 0.0]


def test_turns_without_an_answer_are_no_vacuous_ones() -> None:
    rows = [
        [turn(0.0, failed=True, n_quotes=0, vacuous_pc=True, gs=0.0, cd=0.0, pc=0.0), turn(1.0, n_quotes=0, cd=0.0)]
    ]
    table = main_table(corpora([results("one", rows)], 50)["closed"])
    assert (column(table, "GS vacuous"), column(table, "PC vacuous")) == ([0.5], [0.0])


def test_units_without_a_value_are_counted_beside_the_means() -> None:
    own = [dialogue(t2r_hits=None, spatial_coherence=None), dialogue(), dialogue(tsr=None, t2r_hits=None)]
    corpus = corpora([results("one", [[turn(1.0)], [turn(1.0)], [turn(1.0)]], own)], 50)["closed"]
    assert column(main_table(corpus), "T2R misses") == [1]
    stress = stress_table(corpus, None)
    assert [column(stress, label) for label in ("Spatial n", "Price n", "Preference n")] == [[2], [0], [3]]


def test_every_row_names_its_run_and_the_run_its_fingerprints() -> None:
    one = hits("a", [[1.0]])
    table = main_table(corpora([one], 100)["closed"])
    [[key]] = table.sources
    rests = sources_table([one])
    assert rests.rows[0][0].text == key
    assert one.fingerprint in " ".join(rests.notes)
    assert "b" * 16 in [cell.text for cell in rests.rows[0]]


def test_two_runs_of_one_baseline_have_names_of_their_own() -> None:
    names = row_names([hits("a", [[1.0]]), hits("a", [[1.0]], seed=7), hits("b", [[1.0]])])
    assert len(set(names)) == 3
    assert names[2] == "b"
    asked = [hits("zs", [[1.0]], parameters={"lm": {"name": model}}) for model in ("openai/x", "local/y")]
    assert row_names(asked) == ("zs, openai/x", "zs, local/y")
    with pytest.raises(UsageError, match="more than once"):
        corpora([hits("a", [[1.0]]), hits("a", [[1.0]])])
    with pytest.raises(UsageError, match="no runs"):
        corpora([])


def test_breakdown_by_tier_is_the_mean_of_the_part() -> None:
    one = results("one", [[turn(1.0)], [turn(0.0)], [turn(0.0)]], [dialogue(), dialogue(), dialogue(difficulty="hard")])
    table = next(item for item in breakdowns(corpora([one], 100)["closed"]) if item.name == "by-difficulty-closed")
    assert [(row[0].text, row[3].value) for row in table.rows if row[1].text == "R@1"] == [("easy", 0.5), ("hard", 0.0)]


def test_a_metric_null_everywhere_is_a_dash_and_not_zero() -> None:
    quiet = results(
        "quiet", [[turn(None)]], [dialogue(rejections=0, recovered=0, spatial_coherence=None, t2r_hits=None)]
    )
    found = corpora([quiet, hits("b", [[1.0]])], 100)["closed"]
    table = stress_table(found, None)
    for label in ("RejRec", "PC", "Spatial"):
        assert column(table, label)[0] is None
    text = next(row for row in main_table(found).markdown().splitlines() if row.startswith("| quiet"))
    assert "| - |" in text
    for make in SENSITIVITY_TABLES:
        assert make(found).rows


def test_multi_reference_lift_in_points() -> None:
    one = results("one", [[turn(0.0, recall_at_1_multi=1.0, has_alternatives=True)], [turn(1.0)]])
    table = pool_tables.multi_reference_table(corpora([one], 100)["closed"])
    assert column(table, "lift, points") == [50.0]
    assert column(table, "turns with alternatives") == [1]
    assert column(table, "lift there, points") == [100.0]
    cell = table.rows[0][3]
    assert (cell.text, cell.n) == ("+50.0 [+0.0, +100.0]", 2)


def test_retriever_ablation_has_the_bound_that_a_prefilter_sets() -> None:
    tfidf = results("tfidf", [[turn(0.0, ranking_recall_at_16=1.0)], [turn(0.0)]], pool="open")
    asked = hits("zs", [[1.0], [0.0]], pool="open", parameters={"lm": {}, "retriever": "dense"})
    opened = corpora([tfidf, asked, hits("popularity", [[0.0], [0.0]], pool="open")], 50)["open"]
    table = pool_tables.ablation_table(opened)
    assert [(row[0].text, row[1].text) for row in table.rows] == [("tfidf", "tfidf"), ("zs, dense", "dense")]
    assert column(table, "Recall@16 of the ranking")[0] == 0.5
    assert pool_tables.ablation_table(None) is None
    assert pool_tables.ablation_table(corpora([hits("popularity", [[0.0]], pool="open")], 50)["open"]) is None


def test_signs_that_mean_something_elsewhere_mean_nothing_in_a_table() -> None:
    table = Table("t", NASTY, ["system", "a|b"], [[words(NASTY), words("1\n2")], [words("שלום ‏(א)"), words("=1+1")]])
    lines = table.markdown().splitlines()
    assert all(line.replace(r"\|", "").count("|") == 3 for line in lines if line.startswith("|"))
    assert "<script>" not in table.markdown()
    assert "$x" not in table.latex().replace(r"\$", "")
    rows = list(csv.reader(io.StringIO(table.csv())))
    assert rows[1] == [NASTY, "1\n2"]
    assert rows[2][1] == "'=1+1"  # a spreadsheet must not run it
    assert markdown_text("a\nb") == "a b"
    assert latex_text("50%") == r"50\%"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path) -> None:
    table = main_table(corpora([hits(NASTY, [[1.0], [0.0]]), hits("b", [[0.0], [0.0]])], 100)["closed"])
    text = "\\documentclass{article}\\usepackage{booktabs}\\usepackage[T1]{fontenc}\\begin{document}%s\\end{document}"
    (tmp_path / "t.tex").write_text(text % table.latex())
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


def test_csv_has_value_interval_and_n() -> None:
    table = main_table(corpora([hits("a", [[1.0], [0.0]])], 200)["closed"])
    [row] = csv.DictReader(io.StringIO(table.csv()))
    assert float(row["R@1"]) == 0.5
    assert (float(row["R@1 low"]), float(row["R@1 high"]), row["R@1 n"]) == (0.0, 1.0, "2")
    assert row["runs"] == table.sources[0][0]


def test_what_a_grammar_and_what_a_model_wrote_never_share_a_table() -> None:
    by_grammar = hits("tfidf", [[1.0]], generator="trace-template")
    by_model = hits("tfidf", [[0.0]], generator="trace-lm", content_digest="f" * 64)
    with pytest.raises(UsageError, match="trace-lm and of trace-template"):
        corpora([by_grammar, by_model], 50)
    assert corpora([by_model], 50)["closed"].results == (by_model,)
    assert corpora([by_grammar, hits("popularity", [[0.0]])], 50)
