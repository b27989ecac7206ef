"""Tables 17 and 22 from stored probabilities: by hand, and through a run with a model that stands in for the real one."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from analysis.made import hits, results, turn

from trace_dataset.analysis.corpus import corpora
from trace_dataset.analysis.entailment_tables import entailment_tables
from trace_dataset.analysis.tables import stress_table
from trace_dataset.cli.report import scored as scored_runs
from trace_dataset.evaluation import run_baseline, score_run
from trace_dataset.evaluation.controls import control
from trace_dataset.evaluation.entailed import (
    CATEGORIES,
    PROBABILITIES,
    entailment_column,
    score_entailed,
    stored_entailment,
    with_entailment,
)


class Words:
    """Entails what stands in the premise word by word; counts how often it is asked."""

    name = "words"

    def __init__(self) -> None:
        self.asked = 0

    def probabilities(self, pairs):
        self.asked += len(pairs)
        return [float(set(claim.lower().split()) <= set(premise.lower().split())) for premise, claim in pairs]


def judged(result, probabilities, kinds, model="words"):
    turns = {**result.turns, PROBABILITIES: probabilities, CATEGORIES: kinds}
    return replace(result, turns=turns, entailment=model)


def table(tables, name):
    found = next(item for item in tables if item.name.startswith(name))
    return [dict(zip(found.header, (cell.value for cell in row), strict=True)) for row in found.rows], found


def test_by_hand() -> None:
    rows = [[turn(1.0, gs=1.0, cd=0.5, pc=1.0), turn(None)], [turn(0.0, gs=0.5, cd=0.5, pc=0.0)]]
    one = judged(results("one", rows), [[0.9, 0.2], [], [0.4]], [["quote", "framing"], [], ["other_claim"]])
    tables = entailment_tables(corpora([one, hits("two", [[1.0], [1.0]])], 50)["closed"])
    [first, second], found = table(tables, "table-17")
    label = "entailment (words)"  # another model than the paper's stands in the heading (definitions, M10)
    assert (first["turns n"], first["fuzzy"], first[label]) == (2, 0.75, 0.25)  # the turn without claims is out
    assert (second[label], second["turns n"]) == (None, 0)
    assert first["difference"] == pytest.approx(-0.5)
    assert any("nothing is stored of two" in note for note in found.notes)
    [first, _], _ = table(tables, "table-22")
    cd = (0.5 + 0.0 + 0.5) / 3
    assert first["CGSent"] == pytest.approx(0.25 * min(1, cd / 0.05) * (0.5 + 0.5 * 0.5))
    [first, _], _ = table(tables, "nli-threshold")
    assert [first[key] for key in ("0.3", "0.4", "0.5 (used)")] == [0.75, 0.75, 0.25]
    assert first["claims at 0.1 to 0.9"] == 1.0
    [first, _], _ = table(tables, "sentence-entailment")
    assert (first["quote"], first["framing"], first["other claim"], first["rating meta"]) == (0.9, 0.2, 0.4, None)


def test_kinds_of_sentences_are_those_of_recommending_turns() -> None:
    """Definitions, 9.11: every sentence of recommend and compare responses, with n."""
    one = judged(results("one", [[turn(None), turn(1.0)]]), [[0.9], [0.1]], [["framing"], ["framing"]])
    [row], _ = table(entailment_tables(corpora([one], 50)["closed"]), "sentence-entailment")
    assert (row["framing"], row["framing n"], row["quote n"]) == (0.1, 1, 0)


def test_orders_are_compared_within_a_group() -> None:
    """Definitions, 9.10: tau-b within the systems that ask no language model."""
    values = {"a": (0.9, 0.1), "b": (0.8, 0.2), "c": (0.7, 0.3)}
    runs = [judged(results(name, [[turn(1.0, gs=gs)]]), [[p]], [["quote"]]) for name, (gs, p) in values.items()]
    runs = [replace(run, turns={**run.turns, PROBABILITIES: [[0.9, *[0.1] * at]]}) for at, run in enumerate(runs)]
    runs = [replace(run, turns={**run.turns, CATEGORIES: [["quote"] * (at + 1)]}) for at, run in enumerate(runs)]
    for name, gs in (("zs", 0.1), ("dst", 0.2)):
        asked = results(name, [[turn(1.0, gs=gs)]], parameters={"lm": {"name": "m"}})
        runs.append(judged(asked, [[0.9 if name == "zs" else 0.1]], [["quote"]]))
    _, found = table(entailment_tables(corpora(runs, 50)["closed"]), "table-17")
    notes = " ".join(found.notes)
    assert "over 3 systems without a language model: 1.000" in notes
    assert "over 2 systems with a language model: -1.000" in notes


def test_table_6_holds_entailment_where_it_was_scored() -> None:
    one = judged(results("one", [[turn(1.0)], [turn(0.0)]]), [[0.9], [0.2]], [["quote"], ["quote"]])
    found = stress_table(corpora([one, hits("two", [[1.0], [1.0]])], 50)["closed"], None)
    at = list(found.header).index("entailment (words)")
    assert [row[at].value for row in found.rows] == [0.5, None]
    assert found.header[at - 1] == "PC"
    assert sum(found.groups.values()) == len(found.header) - 1
    assert any("not in two: entailment" in note for note in found.notes)


def test_two_models_are_warned_of_and_no_model_gives_no_table() -> None:
    one, two = (hits(name, [[1.0]]) for name in ("one", "two"))
    assert entailment_tables(corpora([one, two], 50)["closed"]) == []
    other = [judged(item, [[0.9]], [["quote"]], name) for item, name in ((one, "a"), (two, "b"))]
    for found in entailment_tables(corpora(other, 50)["closed"]):
        assert any("different entailment models" in warning for warning in found.warnings)


def test_a_turn_without_an_answer_is_a_miss() -> None:
    one = judged(results("one", [[turn(0.0, failed=True)], [turn(1.0)]]), [[], [0.9]], [[], ["quote"]])
    assert entailment_column(one) == [0.0, 1.0]


def test_a_run_is_asked_about_once_and_read_after_that(benchmark, tmp_path) -> None:
    run = run_baseline(control("oracle", benchmark.dialogues), benchmark, tmp_path / "oracle", limit=6)
    result, model = score_run(run, benchmark), Words()
    assert with_entailment(result, run).entailment is None
    stored = score_entailed(run, benchmark, model, limit=4)
    asked = model.asked
    assert asked > 0
    assert score_entailed(run, benchmark, model, limit=4) == stored
    assert model.asked == asked
    [found] = scored_runs([run], None)
    column = entailment_column(found)
    beyond = [identifier in result.dialogues["dialogue_id"][4:] for identifier in found.turns["dialogue_id"]]
    assert all(value is None for value, out in zip(column, beyond, strict=True) if out)
    assert any(value is not None for value in column)
    more = score_entailed(run, benchmark, model, limit=6)  # adds the other two dialogues, and asks about them alone
    assert [row for row in more[PROBABILITIES] if row is not None][: len(column) - sum(beyond)] == [
        row for row in stored[PROBABILITIES] if row is not None
    ]
    asked = model.asked
    assert score_entailed(run, benchmark, model, limit=2) == more, "fewer dialogues do not throw away what was computed"
    assert model.asked == asked
    kinds = {kind for group in found.turns[CATEGORIES] for kind in group or ()}
    assert "quote" in kinds
    # a quote alone in its sentence is entailed by the review it stands in; what is stored is no text
    assert "text" not in (run.folder / "entailment.json").read_text()
    whole = orjson.loads((run.folder / "entailment.json").read_bytes())
    (run.folder / "entailment.json").write_bytes(orjson.dumps({**whole, "responses": "0" * 32}))
    assert stored_entailment(run) is None, "claims of other responses"
    (run.folder / "entailment.json").write_text("{")
    assert stored_entailment(run) is None
