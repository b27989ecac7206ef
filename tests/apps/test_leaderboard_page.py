"""The leaderboard's Space: verified rows only, kinds of dialogues apart, controls always there, damage told."""

import json
import re
import sys
from xml.etree import ElementTree

import pytest
from apps import boards
from apps.spaces import leaderboard_space

from trace_dataset.apps.widgets.board import Board, read_board, read_published
from trace_dataset.apps.widgets.gap_figure import draw_gaps
from trace_dataset.apps.widgets.leaderboard_page import COLUMNS, LeaderboardPage, build


def written(folder, data):
    path = folder / "leaderboard.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_board(path)


@pytest.fixture
def page(tmp_path):
    return LeaderboardPage(written(tmp_path, boards.board()))


def named(page, word):
    return next(name for name in page.settings if word in name)


def systems(html):
    return re.findall(r"<td>(?:<b>|<i>)([a-z_]+)<", html.partition("<details")[0])


def test_systems_stand_best_first_and_controls_below_them(page):
    shown, _ = page.draw(named(page, "template"), "closed", "all", None, "R@1")
    assert systems(shown) == [
        "llm_zero_shot", "spatial", "tfidf", "multi_review_synthesis", "popularity", "oracle", "parrot", "random",
    ]  # fmt: skip
    by_grounding, _ = page.draw(named(page, "template"), "closed", "all", None, "CGS")
    assert systems(by_grounding)[:3] == ["tfidf", "spatial", "popularity"]


def test_a_system_without_a_value_is_last_of_the_systems_and_shown_as_none(page):
    shown, _ = page.draw(named(page, "template"), "closed", "all", None, "RejRec")
    assert systems(shown)[4] == "multi_review_synthesis"
    assert "nothing was measured" in shown


def test_every_value_has_its_interval_and_its_number_of_units(page):
    shown, _ = page.draw(named(page, "template"), "closed", "all", None, "R@1")
    assert '0.235<br><span class="quiet">[0.205, 0.265]</span>' in shown
    assert "[0.205, 0.265], n 812" in shown


def test_template_written_and_lm_written_dialogues_never_share_a_table(page):
    assert len(page.settings) == 2
    shown, _ = page.draw(named(page, "LM-written"), "closed", "all", None, "R@1")
    assert systems(shown) == ["tfidf", "oracle", "random"]
    assert "LM-written dialogues (60)" in shown


@pytest.mark.parametrize(
    "other", [{"split": "test"}, {"limit": 20}, {"scores_version": "1.3"}, {"benchmark": "ee" * 32}]
)
def test_rows_that_differ_in_split_limit_version_or_benchmark_never_share_a_table(tmp_path, other):
    data = boards.board()
    data["rows"].append({**boards.row("tfidf"), **other})
    page = LeaderboardPage(written(tmp_path, data))
    assert len(page.settings) == 3
    assert systems(page.draw(list(page.settings)[-1], "closed", "all", None, "R@1")[0]) == ["tfidf"]


def test_filters_take_systems_out_and_leave_the_controls(page):
    name = named(page, "template")
    assert systems(page.draw(name, "closed", "all", ["language model"], "R@1")[0]) == [
        "llm_zero_shot", "multi_review_synthesis", "oracle", "parrot", "random",
    ]  # fmt: skip
    assert systems(page.draw(name, "closed", "all", [], "R@1")[0]) == ["oracle", "parrot", "random"]
    assert "0.185<br>" in page.draw(name, "open", "all", None, "R@1")[0]
    assert "0.175<br>" in page.draw(name, "closed", "expert", None, "R@1")[0]
    assert page.choices(name, "open") == (
        ["closed", "open"],
        "open",
        ["language model", "non-personalised", "sparse retrieval"],
    )


def test_a_choice_that_does_not_exist_gives_one_that_does(page):
    name = named(page, "LM-written")
    assert systems(page.draw(name, "open", "nightmare", None, "Nonsense")[0]) == ["tfidf", "oracle", "random"]
    assert "No verified submission" in page.draw("nothing", "open", "all", None, "R@1")[0]


@pytest.mark.parametrize(
    "change", [{"submission": None}, {"submission": "claimed"}, {"scores": None}, {"scores_version": ...}]
)
def test_a_row_that_was_not_verified_is_left_out_and_counted(tmp_path, change):
    data = boards.board()
    bad = {**boards.row("tfidf"), "system": "claims_much", **change}
    data["rows"].append({key: value for key, value in bad.items() if value is not ...})
    board = written(tmp_path, data)
    assert board.n_left_out == 1
    assert all(row["system"] != "claims_much" for row in board.rows)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": 2, "rows": []}', '{"format": 1}', '{"format": 1, "rows": 3}', "null"]
)
def test_damaged_data_give_an_empty_board_that_says_so(tmp_path, text):
    board = written(tmp_path, text)
    assert board.fault
    page = LeaderboardPage(board)
    assert "No verified submission" in page.draw("", "", "all", None, "R@1")[0]
    assert "not in this Space yet" in read_board(tmp_path / "missing.json").fault


def test_rows_of_odd_shapes_are_survived(tmp_path):
    data = boards.board()
    odd = boards.row("tfidf")
    odd["scores"] = {
        "recall_at_1": 0.5,
        "cgs": {"value": True, "low": "x"},
        "rejection_recovery": {"value": float("nan")},
    }
    data["rows"] = [None, 7, {}, {**odd, "tiers": [], "dialogues": "many", "origin": None}]
    page = LeaderboardPage(written(tmp_path, data))
    shown, figure = page.draw(next(iter(page.settings)), "closed", "all", None, "R@1")
    assert systems(shown) == ["tfidf"]
    assert "no value" in figure
    assert page.board.n_left_out == 3


def test_text_of_submitters_stands_escaped(tmp_path):
    data = boards.board()
    attack = "<script>alert(1)</script>"
    data["rows"] = [
        {**boards.row("tfidf"), "system": attack, "family": attack, "origin": f"{attack}@{attack}", "pool": attack}
    ]
    page = LeaderboardPage(written(tmp_path, data))
    for html in page.draw(next(iter(page.settings)), attack, "all", None, "R@1"):
        assert "<script" not in html


def test_the_gap_figure_spans_from_the_weakest_to_the_strongest_competency(page):
    entries = page.board.entries(page.settings[named(page, "template")], "closed")
    figure = draw_gaps(entries)
    svg = ElementTree.fromstring(figure[: figure.index("</svg>") + 6])
    label = svg.get("aria-label")
    assert "tfidf: accuracy 0.23, grounding 0.90, recovery 0.55" in label or "tfidf: accuracy 0.24" in label
    notes = [text.text for text in svg.iter("text") if text.text and text.text.startswith("weakest")]
    assert "weakest: accuracy · gap 0.67" in notes
    assert len(notes) == len(entries)
    assert draw_gaps([]) == '<p class="quiet">There is nothing to draw.</p>'


def test_a_thousand_submissions_are_drawn(tmp_path):
    data = boards.board()
    data["rows"] = [{**boards.row("tfidf"), "system": f"system_{at}"} for at in range(1000)]
    page = LeaderboardPage(written(tmp_path, data))
    shown, figure = page.draw(next(iter(page.settings)), "closed", "all", None, "R@1")
    assert shown.count("system_") == 2000
    assert len(shown) + len(figure) < 5_000_000
    assert set(COLUMNS.values()) <= set(boards.row("tfidf")["scores"])


def test_a_table_that_was_edited_by_hand_is_not_shown(tmp_path):
    folder = leaderboard_space(tmp_path / "space", boards.board())
    assert len(read_published(folder).rows) == len(boards.board()["rows"])
    data = boards.board()
    data["rows"][0]["scores"]["recall_at_1"]["value"] = 1.0
    (folder / "leaderboard.json").write_text(json.dumps(data))
    assert "changed since it was published" in read_published(folder).fault
    assert not read_published(folder).rows
    for text in ("", "{}", "[]", '{"files": []}'):
        (folder / "trace.json").write_text(text)
        assert "does not vouch" in read_published(folder).fault
    (folder / "trace.json").unlink()
    assert "does not vouch" in read_published(folder).fault
    (folder / "leaderboard.json").unlink()
    assert "not in this Space yet" in read_published(folder).fault


def test_without_gradio_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(ImportError, match=r'pip install "trace-dataset\[app\]"'):
        build(Board())
