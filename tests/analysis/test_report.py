"""A report from stored scores alone: files, traces, marks of licensed text, and what happens to odd runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import orjson
import pytest
from analysis.made import dialogue, folder, hits, results, turn

from hydrate.errors import BundleError, StorageError, UsageError
from trace_dataset.analysis import figures
from trace_dataset.analysis.corpus import corpora
from trace_dataset.analysis.drawing import style
from trace_dataset.analysis.page import script_json
from trace_dataset.analysis.report import write_report
from trace_dataset.baseline import load_baseline
from trace_dataset.cli import main
from trace_dataset.evaluation import RunFolder, run_baseline, score_run
from trace_dataset.evaluation.controls import control
from trace_dataset.licence import MARKER_FILE, META_TAG, licensed_files

QUICK = ["--resamples", "100"]
NASTY = "a|b <img src=x onerror=alert(1)> $x_1$ & 50% שלום"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[str]:
    tmp_path = tmp_path_factory.mktemp("made")
    values = {
        "tfidf": [[1.0, 0.0], [1.0], [0.0]],
        "popularity": [[0.0, 0.0], [1.0], [0.0]],
        "c": [[1.0, 1.0], [1.0], [0.0]],
    }
    systems = [hits(name, rows) for name, rows in values.items()]
    systems += [hits("random", values["c"], control=True), hits("tfidf", values["c"], pool="open")]
    return [str(folder(item, tmp_path / "runs" / f"{at}")) for at, item in enumerate(systems)]


@pytest.fixture(scope="module")
def out(runs, tmp_path_factory) -> Path:
    """The report of those runs."""
    out = tmp_path_factory.mktemp("out")
    assert main(["report", *runs, "--out", str(out), *QUICK]) == 0
    return out


@pytest.fixture(scope="module")
def scored(benchmark, tmp_path_factory):
    """Two controls, run and scored over the first dialogues of the sample."""
    out = tmp_path_factory.mktemp("scored")
    found = [
        run_baseline(control(name, benchmark.dialogues), benchmark, out / name, limit=12)
        for name in ("oracle", "random")
    ]
    return found, [score_run(run, benchmark) for run in found]


def test_numbers_need_neither_bundle_nor_text(out) -> None:
    manifest = json.loads((out / "report.json").read_text())
    assert manifest["licensed_text"] is False
    assert licensed_files(out) == []
    page = (out / "report.html").read_text()
    assert META_TAG not in page
    for name in manifest["files"]:
        assert (out / name).stat().st_size > 0
    names = {table["name"] for table in manifest["tables"]}
    assert {
        "table-5-closed",
        "table-6-closed",
        "table-16-closed",
        "table-18-closed",
        "table-19-closed",
        "table-20-closed",
    } <= names
    assert {
        "table-21-closed",
        "cgs-formulas-closed",
        "independence-closed",
        "multi-reference-closed",
        "pools",
        "runs",
    } <= names
    for name in names:
        assert {path.suffix for path in (out / "tables").glob(f"{name}.*")} == {".md", ".tex", ".csv"}
    for figure in ("competencies-closed", "radar-closed", "gap-closed", "forest-closed", "components-closed", "pools"):
        assert (out / "figures" / f"{figure}.png").stat().st_size > 5_000
        assert "<svg" in (out / "figures" / f"{figure}.svg").read_text()


def test_every_row_with_a_number_names_runs_of_the_report(out) -> None:
    manifest = json.loads((out / "report.json").read_text())
    page = (out / "report.html").read_text()
    for table in manifest["tables"]:
        if table["name"] in ("runs", "not-here"):
            continue
        assert len(table["runs"]) == len(table["rows"]), table["name"]
        for keys in table["runs"]:
            assert keys
            assert set(keys) <= set(manifest["runs"])
    for key, run in manifest["runs"].items():
        assert f'id="run-{key}"' in page
        assert run["fingerprint"].startswith(key)
        assert set(run["scores"]) == {"scores", "variants", "rapidfuzz"}


def test_the_same_report_twice_is_the_same_bytes(runs, out, tmp_path, capsys) -> None:
    assert main(["report", *runs, "--out", str(tmp_path), *QUICK]) == 0
    for path in sorted(out.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / path.relative_to(out)).read_bytes(), path.name


def test_a_report_with_text_is_marked_twice_and_a_later_one_without_is_not(scored, benchmark, tmp_path) -> None:
    found, values = scored
    written = write_report(found, values, tmp_path, benchmark, dialogues=3, resamples=100)
    assert written.licensed
    mark = json.loads((tmp_path / MARKER_FILE).read_text())
    assert mark["licensed_text"] is True
    assert "report.html" in mark["files"]
    assert META_TAG in (tmp_path / "report.html").read_text()[:2000]
    assert "forbid passing it on" in (tmp_path / "report.html").read_text()
    moved = tmp_path / "else" / "page.htm"
    moved.parent.mkdir()
    shutil.copy(tmp_path / "report.html", moved)
    assert licensed_files(tmp_path) == [tmp_path / MARKER_FILE, moved, tmp_path / "report.html"]
    moved.unlink()
    write_report(found, values, tmp_path, None, resamples=100)
    assert licensed_files(tmp_path) == []
    assert not (tmp_path / "figures" / "map.png").exists()
    for text in benchmark.texts.values():
        assert text not in (tmp_path / "report.html").read_text()


def test_the_viewer_holds_text_quotes_and_reviews(scored, benchmark, tmp_path) -> None:
    found, values = scored
    write_report(found, values, tmp_path, benchmark, dialogues=3, resamples=100)
    page = (tmp_path / "report.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    assert len(data["dialogues"]) == 3
    assert "The first 3 of 12 dialogues that all runs answered" in page, "of those answered, not of the whole benchmark"
    by_id = {item.dialogue_id: item for item in benchmark.dialogues}
    for item in data["dialogues"]:
        reference = by_id[item["id"]]
        for row, original in zip(item["turns"], reference.turns, strict=True):
            assert "".join(piece["t"] for piece in row["text"]) == original.text
            statuses = [piece["status"] for piece in row["text"] if "status" in piece]
            assert statuses.count("verified") >= len(original.quotes)
            for piece in row["text"]:
                if piece.get("status") == "verified":
                    assert all(data["reviews"][review] == benchmark.texts[review] for review in piece["reviews"])
            assert len(row.get("answers", {})) == (2 if original.role == "system" else 0)


def test_one_run_is_a_report(runs, tmp_path, capsys) -> None:
    assert main(["report", runs[0], "--out", str(tmp_path / "out"), *QUICK]) == 0
    names = {table["name"] for table in json.loads((tmp_path / "out" / "report.json").read_text())["tables"]}
    assert "table-5-closed" in names
    assert "table-21-closed" not in names


def test_what_a_report_lacks_is_named_with_what_it_takes(runs, out, tmp_path, capsys) -> None:
    def lacking(folder: Path) -> str:
        tables = {table["name"]: table for table in json.loads((folder / "report.json").read_text())["tables"]}
        return " ".join(cell for row in tables["not-here"]["rows"] for cell in row)

    some = lacking(out)
    assert "--pool 16, 32" in some
    assert "trace-dataset entail" in some
    assert "trace-dataset run random_unseen parrot oracle" in some, "random is there"
    assert "Table 21" not in some
    assert main(["report", runs[0], "--out", str(tmp_path), *QUICK]) == 0
    one = lacking(tmp_path)
    for what in ("Table 21", "Table 25", "open-set", "runs of 3 systems", "--yelp"):
        assert what in one, what
    assert "What is not here" in (tmp_path / "report.html").read_text()


def test_resamples_asked_for_are_those_of_everything_printed(runs, tmp_path, capsys) -> None:
    assert main(["report", runs[0], "--out", str(tmp_path), *QUICK]) == 0
    assert "100 resamples" in capsys.readouterr().out
    assert main(["report", runs[0], "--out", str(tmp_path), "--json", *QUICK]) == 0
    found = json.loads(capsys.readouterr().out)[0]["scores"]["recall_at_1"]
    wanted = hits("tfidf", [[1.0, 0.0], [1.0], [0.0]]).estimates(100)["recall_at_1"]
    assert (found["low"], found["high"]) == (wanted.low, wanted.high)


@pytest.mark.parametrize(
    "odd",
    [
        results("empty", []),
        results("failed", [[turn(0.0, failed=True, gs=0.0, cd=0.0, pc=0.0, cgs=0.0, n_quotes=0)]], [dialogue()]),
        results(
            "quiet", [[turn(None)]], [dialogue(rejections=0, recovered=0, spatial_coherence=None, tsr=None, t2r=None)]
        ),
        hits(NASTY, [[1.0], [0.0]]),
    ],
    ids=["no dialogue", "nothing but failures", "no recommendation", "a name full of signs"],
)
def test_odd_runs_alone_and_beside_another(odd, tmp_path, capsys) -> None:
    one, other = folder(odd, tmp_path / "one"), folder(hits("other", [[1.0], [0.0]]), tmp_path / "other")
    assert main(["report", str(one), "--out", str(tmp_path / "alone"), *QUICK]) == 0
    assert main(["report", str(one), str(other), "--out", str(tmp_path / "both"), *QUICK]) == 0
    page = (tmp_path / "both" / "report.html").read_text()
    assert "<img src=x" not in page


def test_two_bundles_are_warned_of_on_the_page_and_in_every_format(tmp_path, capsys) -> None:
    paths = [
        folder(hits("a", [[1.0]]), tmp_path / "a"),
        folder(hits("b", [[0.0], [1.0]], content_digest="f" * 64), tmp_path / "b"),
    ]
    assert main(["report", *map(str, paths), "--out", str(tmp_path / "out"), *QUICK]) == 0
    assert "WARNING" in capsys.readouterr().out
    assert 'role="alert"' in (tmp_path / "out" / "report.html").read_text()
    for suffix in ("md", "tex", "csv"):
        text = (tmp_path / "out" / "tables" / f"table-5-closed.{suffix}").read_text()
        assert "may not be compared" in text
        assert "(1 dialogues: a; 2 dialogues: b)" in text
        assert f"({'d' * 12}: a; {'f' * 12}: b)" in text


def test_what_cannot_be_reported_is_one_error(runs, scored, tmp_path, capsys) -> None:
    unscored = tmp_path / "unscored"
    shutil.copytree(scored[0][1].folder, unscored)
    (unscored / "scores.json").unlink()
    assert main(["report", str(unscored)]) == 2
    assert "trace-dataset score" in capsys.readouterr().err
    shutil.rmtree(unscored / "responses")  # as a run that was killed before its first shard
    (unscored / "responses").mkdir()
    assert main(["report", str(unscored)]) == 1
    assert "unfinished" in capsys.readouterr().err
    old = json.loads((Path(runs[0]) / "scores.json").read_text())
    old["versions"]["columns"] = 1
    shutil.copytree(runs[0], tmp_path / "old")
    (tmp_path / "old" / "scores.json").write_bytes(orjson.dumps(old))
    assert main(["report", str(tmp_path / "old")]) == 2
    assert "no scores of this version" in capsys.readouterr().err
    assert main(["report", runs[1], runs[1], "--out", str(tmp_path / "out")]) == 2
    assert "more than once" in capsys.readouterr().err
    assert main(["report", runs[1], "--resamples", "5"]) == 2


def test_a_file_in_the_place_of_the_folder(runs, tmp_path, capsys) -> None:
    (tmp_path / "out").write_text("not a folder")
    assert main(["report", runs[0], "--out", str(tmp_path / "out"), *QUICK]) == 1
    assert "\nStorageError: " in capsys.readouterr().err  # on a line of its own, below the bar
    found = [RunFolder.open(runs[0])]
    with pytest.raises(StorageError):
        write_report(found, [hits("a", [[1.0]])], tmp_path / "out", resamples=100)


def test_files_that_are_not_of_a_report_are_left_alone(runs, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "figures").mkdir()
    (out / "figures" / "own.png").write_text("mine")
    (tmp_path / "precious").write_text("mine")
    (out / "report.json").write_text(json.dumps({"format": "trace-report/1", "files": ["../precious"]}))
    for _ in range(2):  # the second removes what the first says it wrote
        assert main(["report", runs[0], "--out", str(out), *QUICK]) == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "figures" / "own.png").read_text() == "mine"
    assert (tmp_path / "precious").read_text() == "mine"


def test_nothing_ends_the_script_that_holds_the_data() -> None:
    text = script_json({"t": "</script><!-- \u2028"})
    assert "<" not in text
    assert json.loads(text) == {"t": "</script><!-- \u2028"}


def test_run_folder_without_scores_is_named(tmp_path) -> None:
    with pytest.raises(BundleError, match="holds no run"):
        RunFolder.open(tmp_path)
    with pytest.raises(UsageError):
        write_report([], [], tmp_path / "out")


def test_no_interval_of_the_gap_figure_is_cut_off(tmp_path, monkeypatch) -> None:
    """The limits follow the intervals, not the marks alone: an interval that leaves the panel looks shorter than it is."""
    drawn = []
    monkeypatch.setattr(figures, "save", lambda figure, folder, name: drawn.append(figure) or [])
    draw = np.random.default_rng(2)
    systems = [
        hits(name, [[float(draw.random() < rate)] for _ in range(40)]) for name, rate in (("a", 0.2), ("b", 0.5))
    ]
    corpus = corpora([*systems, hits("oracle", [[1.0]] * 40, control=True)], 200)["closed"]
    figures.gap(corpus, tmp_path, "gap")
    [panel] = drawn[0].axes
    for (low, high), metric in ((panel.get_xlim(), "recall_at_1"), (panel.get_ylim(), "cgs")):
        found = [estimates[metric] for estimates in corpus.estimates[:2]]
        assert low < min(item.low for item in found)
        assert high > max(item.high for item in found)
        assert high <= 1.02
    assert panel.get_xlim()[1] < 0.9, "the oracle would press all others together"


def test_the_page_and_the_map_open_with_systems_on_the_closed_pool(scored, benchmark, tmp_path) -> None:
    tfidf = {
        pool: run_baseline(load_baseline("tfidf"), benchmark, tmp_path / f"tfidf-{pool}", pool=pool, limit=12)
        for pool in ("16", "closed")
    }
    runs = [tfidf["16"], scored[0][0], tfidf["closed"]]
    write_report(runs, [score_run(run, benchmark) for run in runs], tmp_path / "out", benchmark, resamples=100)
    page = (tmp_path / "out" / "report.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    names = [item["name"] for item in data["systems"]]
    assert names[:2] == ["tfidf, pool closed", "tfidf, pool 16"]


def test_marks_of_figures_differ_for_as_many_systems_as_there_are_rows() -> None:
    looks = [(style(at)["color"], style(at)["linestyle"]) for at in range(18)]
    assert len(set(looks)) == 18
