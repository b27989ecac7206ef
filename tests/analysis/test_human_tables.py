"""Tables 10 to 15 from annotators' files: by hand, and against the paper's printed ones where they follow from each other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from analysis.made import results, turn

from hydrate.errors import UsageError
from trace_dataset.analysis import human_tables
from trace_dataset.analysis.agreement import alpha_interval, alpha_replicates, krippendorff_alpha
from trace_dataset.analysis.annotations import load_annotations
from trace_dataset.analysis.statistics import correlation_p, stars
from trace_dataset.cli import main

PEOPLE = ("ann", "bob", "cy", "dee")


def write(path: Path, header: str, rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header.split(), *rows])


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    """Four people, three dialogues, two systems: `good` is rated 5 or 4, `bad` 1 or 2; bob sees an error in each of bad's."""
    ratings, quotes, choices = [], [], []
    for at in range(3):
        for system, base in (("good", 4), ("bad", 1)):
            item = f"{system}-{at}"
            for who in PEOPLE:
                errors = "too_vague" if system == "bad" and who != "ann" else "no_errors"
                ratings.append([item, who, system, f"t-{at}", 1, base + (at + (who == "bob")) % 2, base, errors])
                quotes.append([item, "q1", who, "supported" if system == "good" or who == "ann" else "not"])
        choices += [[f"t-{at}", who, "p1;p2" if who == "ann" else "p1"] for who in PEOPLE]
    write(
        tmp_path / "ratings.csv",
        "item annotator system dialogue_id turn_index informativeness naturalness errors",
        ratings,
    )
    write(tmp_path / "quotes.csv", "item quote annotator label", quotes)
    write(tmp_path / "choices.csv", "dialogue_id annotator places", choices)
    return tmp_path


def rows(table) -> dict[str, dict[str, object]]:
    return {row[0].text: dict(zip(table.header, (cell.value for cell in row), strict=True)) for row in table.rows}


def test_by_system(annotations: Path) -> None:
    found = rows(human_tables.systems_table(load_annotations(annotations)))
    assert found["good"]["naturalness"] == 4
    assert found["bad"]["naturalness"] == 1
    # item 0: three at the base and bob one above; item 1: three above and bob at the base; item 2 as item 0
    assert found["good"]["informativeness"] == pytest.approx((4.25 + 4.75 + 4.25) / 3)
    assert (found["good"]["supported"], found["bad"]["not"]) == (3, 3)
    assert (found["good"]["citation precision"], found["bad"]["citation precision"]) == (1.0, 0.0)
    assert found["bad"]["error-free rate"] == pytest.approx(0.25)
    errors = rows(human_tables.errors_table(load_annotations(annotations)))
    assert (errors["bad"]["too vague"], errors["good"]["too vague"]) == (1.0, 0.0)


def test_by_annotator(annotations: Path) -> None:
    found = rows(human_tables.annotators_table(load_annotations(annotations)))
    assert (found["ann"]["flag rate"], found["bob"]["flag rate"]) == (0.0, 0.5)
    assert found["bob"]["informativeness deviation"] == 1.0  # bob is always one away from the other three
    assert found["cy"]["informativeness deviation"] == 0.0


def test_leaving_out_the_one_who_disagrees_raises_alpha(annotations: Path) -> None:
    table = human_tables.leave_out_table(load_annotations(annotations), 1)
    found = rows(table)
    assert found["bob"]["informativeness"] == pytest.approx(1.0)
    assert found["bob"]["difference"] > max(found[name]["difference"] for name in ("cy", "dee"))
    assert found["nobody"]["difference"] == 0
    assert len(human_tables.leave_out_table(load_annotations(annotations), 2).rows) == 1 + 6


def test_pairs_of_systems(annotations: Path) -> None:
    equal = human_tables.t_tests_table(load_annotations(annotations), []).rows
    assert {row[5].text for row in equal if row[0].text == "naturalness"} == {"-"}  # all differences equal: no t
    path = annotations / "ratings.csv"
    lines = path.read_text().splitlines()
    changed = [
        ",".join([*line.split(",")[:6], "5", line.split(",")[7]]) if line.startswith("good-2") else line
        for line in lines
    ]
    path.write_text("\n".join(changed) + "\n")
    found = human_tables.t_tests_table(load_annotations(annotations), []).rows
    [row] = [row for row in found if row[0].text == "naturalness"]
    assert [row[0].text, row[1].text, row[2].text] == ["naturalness", "good", "bad"]
    # differences 3, 3, 4: mean 10/3, deviation 0.577, t = 10 with two degrees of freedom
    assert row[5].value == pytest.approx(10.0)
    assert row[6].value == pytest.approx(0.00985, abs=1e-5)
    assert row[7].text == "**"


def test_metrics_against_people(annotations: Path) -> None:
    good = results("good", [[turn(1.0, cgs=0.9, gs=1.0, cd=0.5)] for _ in range(3)])
    bad = results("bad", [[turn(0.0, cgs=0.1, gs=0.0, cd=0.1)] for _ in range(3)])
    table = human_tables.correlation_table(load_annotations(annotations), [good, bad])
    found = rows(table)
    assert found["citation precision"]["GS rho"] == pytest.approx(1.0)
    assert found["naturalness"]["CGS n"] == 6
    assert "6 of 6 items" in " ".join(table.notes)


def test_a_run_of_one_system_alone_leaves_the_other_without_values(annotations: Path) -> None:
    good = results("good", [[turn(1.0, cgs=0.9, gs=1.0, cd=0.5)] for _ in range(3)])
    loaded = load_annotations(annotations)
    found = {row[0].text: row for row in human_tables.t_tests_table(loaded, [good]).rows}
    assert (found["GS"][5].text, found["GS"][8].value) == ("-", 0)
    assert any("no run given of bad" in note for note in human_tables.correlation_table(loaded, [good]).notes)


def test_two_runs_of_one_name_are_refused_and_told_apart_by_the_name_of_a_report(annotations: Path) -> None:
    rows = [[turn(1.0, gs=float(at))] for at in range(3)]
    one, two = (results("good", rows, parameters={"lm": {"name": name}}) for name in ("x/one", "y/two"))
    with pytest.raises(UsageError, match="two runs of good"):
        human_tables.correlation_table(load_annotations(annotations), [one, two])
    named = results("else", rows, parameters={"lm": {"name": "m"}})
    path = annotations / "ratings.csv"
    path.write_text(path.read_text().replace(",good,", ',"else, m",'))
    notes = human_tables.correlation_table(load_annotations(annotations), [named]).notes
    assert any(note.startswith("3 of 6 items") for note in notes)


def test_runs_that_may_not_be_compared_are_warned_of_beside_people(annotations: Path) -> None:
    good, bad = (results(name, [[turn(1.0)]] * 3, **more) for name, more in (("good", {}), ("bad", {"split": "all "})))
    for make in (human_tables.correlation_table, human_tables.t_tests_table):
        table = make(load_annotations(annotations), [good, bad])
        assert any("split" in warning for warning in table.warnings)
        assert len(table.sources) == len(table.rows)


def test_who_only_chooses_places_changes_no_majority(annotations: Path) -> None:
    """The paper's second task had a sixth annotator on three dialogues: 17 x 10 + 3 x 15 = 215 pairs."""
    before = human_tables.human_tables(load_annotations(annotations))
    with (annotations / "choices.csv").open("a", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["t-0", who, "p1"] for who in ("eve", "fay", "gus")])
    after = human_tables.human_tables(load_annotations(annotations))
    for old, new in zip(before, after, strict=True):
        if old.name != "choices":
            assert (old.rows, old.notes) == (new.rows, new.notes), old.name
    assert rows(next(table for table in after if table.name == "kendall-w"))["informativeness"]["W"] is not None
    [row] = next(table for table in after if table.name == "choices").rows
    assert row[2].value == 21 + 6 + 6  # seven, four and four annotators


def test_what_annotations_lack_is_named(annotations: Path) -> None:
    whole = human_tables.human_tables(load_annotations(annotations), [results("good", [[turn(1.0)]] * 3)])
    assert "not-here" not in [table.name for table in whole]
    for name in ("quotes.csv", "choices.csv"):
        (annotations / name).unlink()
    path = annotations / "ratings.csv"
    kept = [line for line in path.read_text().splitlines() if ",dee," not in line]
    path.write_text("\n".join(kept) + "\n")
    tables = human_tables.human_tables(load_annotations(annotations))
    lacking = {row[1].text for row in tables[-1].rows}
    assert lacking == {"quotes.csv", "choices.csv", "scored runs: --runs", "four annotators"}
    assert rows(tables[0])["good"]["supported"] is None, "no labels are no count of 0"


def test_items_of_no_known_turn_are_named(annotations: Path) -> None:
    path = annotations / "ratings.csv"
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join(line.replace("bad,t-1,1,", "bad,t-1,,").replace("bad,t-2,1,", "bad,t-2,9,") for line in lines)
    )
    runs = [results(name, [[turn(1.0, gs=float(at))] for at in range(3)]) for name in ("good", "bad")]
    notes = " ".join(human_tables.correlation_table(load_annotations(annotations), runs).notes)
    assert "1 items do not say which turn" in notes
    assert "1 items name a dialogue and turn that their run did not answer: bad-2" in notes


def test_alpha_of_parts_draws_whole_items() -> None:
    """Eight categories of an item are not independent: drawn alone they would promise an interval that is too narrow."""
    draw = np.random.default_rng(4)
    items = draw.random(20) < 0.5
    ratings = [[int(flag ^ (draw.random() < 0.15)) for flag in items for _ in range(8)] for _ in range(3)]
    owners = [at for at in range(20) for _ in range(8)]
    found = alpha_replicates(ratings, "nominal", 60, 42, owners)
    draws = np.random.default_rng(42).integers(0, 20, size=(60, 20))
    table = np.array(ratings)
    wanted = [
        krippendorff_alpha([list(row) for row in table[:, np.concatenate([np.arange(8) + 8 * at for at in picks])]])
        for picks in draws
    ]
    assert found == pytest.approx(wanted, abs=1e-12)
    drawn_whole = alpha_interval(ratings, "nominal", 500, owners=owners)
    alone = alpha_interval(ratings, "nominal", 500)
    assert drawn_whole[1] - drawn_whole[0] > 1.3 * (alone[1] - alone[0])


def test_means_of_people_have_intervals_and_n(annotations: Path) -> None:
    found = rows(human_tables.systems_table(load_annotations(annotations)))["good"]
    assert (found["items n"], found["quotes n"]) == (3, 3)
    table = human_tables.systems_table(load_annotations(annotations))
    cell = table.rows[0][1]
    assert (cell.low, cell.high, cell.n) == (4.25, 4.75, 3)
    assert rows(human_tables.errors_table(load_annotations(annotations)))["bad"]["items n"] == 3


def test_who_says_nothing_of_errors_has_not_said_that_there_are_none(annotations: Path) -> None:
    path = annotations / "ratings.csv"
    lines = [line[: line.rindex(",") + 1] if ",bad,t-0" in line else line for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines))
    found = rows(human_tables.errors_table(load_annotations(annotations)))["bad"]
    assert found["too vague"] == 1.0  # in both of the two items of which anybody said something


def test_choices(annotations: Path) -> None:
    [row] = human_tables.choices_table(load_annotations(annotations)).rows
    found = [cell.value for cell in row]
    assert found[1] == pytest.approx((3 * 0.5 + 3 * 1.0) / 6)
    assert found[2:] == [18, 3, 3, 12]


def test_command(annotations: Path, tmp_path: Path, capsys) -> None:
    assert main(["agreement", str(annotations), "--out", str(tmp_path / "out")]) == 0
    assert "Krippendorff" in capsys.readouterr().out
    assert (tmp_path / "out" / "table-12.tex").exists()
    assert main(["agreement", str(annotations), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert "table-10" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("ratings.csv", "too_vague", "rude", "'rude' does not exist"),
        ("ratings.csv", "good-0,ann,good,t-0,1,4", "good-0,ann,good,t-0,1,9", "a rating of 9"),
        ("ratings.csv", "good-0,ann,good,t-0,1,4", "good-0,ann,good,t-0,1,x", "no number"),
        ("ratings.csv", "naturalness", "natural", "no column 'naturalness'"),
        ("ratings.csv", "good-0,bob", "good-0,ann", "rates item good-0 twice"),
        ("ratings.csv", "good-0,bob,good", "good-0,bob,bad", "line 3: item good-0 is of system bad, and was of good"),
        ("ratings.csv", "good-0,bob", "good-0,", "line 3: annotator is empty"),
        ("ratings.csv", "no_errors", "no_errors,too_vague", "1 more cells than columns"),
        ("quotes.csv", "good-0,q1,bob", "good-0,q1,ann", "line 3: ann labels quote q1 of item good-0 twice"),
        ("choices.csv", "t-0,bob", "t-0,ann", "line 3: ann chooses for t-0 twice"),
        ("choices.csv", "t-0,bob", ",bob", "dialogue_id is empty"),
        ("quotes.csv", "good-0", "good-9", "no line of ratings.csv"),
        ("quotes.csv", "supported", "yes", "'yes' does not exist"),
    ],
)
def test_a_wrong_line_is_named(annotations: Path, file: str, old: str, new: str, says: str) -> None:
    path = annotations / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=says):
        load_annotations(annotations)


def test_a_folder_without_ratings(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no ratings"):
        load_annotations(tmp_path)


def test_printed_differences_of_the_leave_out_tables(shared: Path) -> None:
    tables = {item["id"]: item for item in json.loads((shared / "cases" / "paper_tables.json").read_text())["tables"]}
    for name in ("TRACE.T12", "TRACE.T13"):
        for row in tables[name]["rows"]:
            _, *alphas, mean, delta = row
            found = human_tables._alpha_row("x", alphas, [0.578, 0.423, 0.319, 0.314])
            assert found[-2].value == pytest.approx(mean, abs=0.0011)
            assert found[-1].value == pytest.approx(delta, abs=0.0016)


def test_printed_stars_follow_from_the_printed_correlations(shared: Path) -> None:
    tables = {item["id"]: item for item in json.loads((shared / "cases" / "paper_tables.json").read_text())["tables"]}
    for row in tables["TRACE.T14"]["rows"]:
        for rho, printed in zip(row[1:4], row[4:7], strict=True):
            assert len(stars(correlation_p(rho, 90))) == (printed or 0)


def test_interval_of_alpha_is_a_loop_over_the_package() -> None:
    package = pytest.importorskip("krippendorff")
    draw = np.random.default_rng(3)
    truth = draw.integers(1, 6, 30)
    ratings = [
        [None if draw.random() < 0.1 else int(value if draw.random() < 0.7 else draw.integers(1, 6)) for value in truth]
        for _ in range(4)
    ]
    table = np.array([[np.nan if value is None else value for value in row] for row in ratings], dtype=float)
    for level in ("nominal", "ordinal", "interval"):
        found = alpha_replicates(ratings, level, n_boot=40)
        draws = np.random.default_rng(42).integers(0, 30, size=(40, 30))
        wanted = [package.alpha(reliability_data=table[:, at], level_of_measurement=level) for at in draws]
        assert found == pytest.approx(wanted, abs=1e-12)
        low, high = alpha_interval(ratings, level, n_boot=500)
        assert low < krippendorff_alpha(ratings, level) < high
    assert alpha_interval([[1, 1], [1, 1]]) is None
