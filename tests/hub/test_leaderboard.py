"""The leaderboard holds only scores that were computed again from responses, whatever a submission claims."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hydrate.errors import BundleError, HydrationError, LicensedTextError, TraceError, UsageError
from trace_dataset.apps.widgets.board import read_board
from trace_dataset.evaluation import RunFolder, evaluate_baseline
from trace_dataset.evaluation.stored import restore_text
from trace_dataset.hub import push_leaderboard, verify_submission
from trace_dataset.hub.leaderboard import merged, row_of

from .conftest import Person
from .standin import Hub

NAME = "org/trace-leaderboard"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def honest(benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "tfidf-closed"
    evaluate_baseline("tfidf", benchmark, limit=12, out=folder)
    return folder


@pytest.fixture
def submitted(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "tfidf-closed"))


def forge(folder: Path, change: Callable[[list[Row]], list[Row]]) -> None:
    """Rewrite the only shard of a run, keeping its schema and metadata."""
    [path] = folder.glob("responses/*.parquet")
    table = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema), path)


def rows_of(folder: Path) -> list[Row]:
    [path] = folder.glob("responses/*.parquet")
    return pq.read_table(path).to_pylist()


def test_an_honest_submission_scores_as_its_run_did(benchmark, submitted: Path):
    claimed = json.loads((submitted / "scores.json").read_text())
    found = verify_submission(submitted, benchmark)
    assert found.results.turns["recall_at_1"] == claimed["turns"]["recall_at_1"]
    assert found.results.turns["cgs"] == claimed["turns"]["cgs"]
    assert set(found.corrected.values()) == {0}


def test_claimed_scores_are_never_read(benchmark, submitted: Path, honest: Path):
    stored = json.loads((submitted / "scores.json").read_text())
    stored["turns"]["recall_at_1"] = [1.0] * len(stored["turns"]["recall_at_1"])
    (submitted / "scores.json").write_text(json.dumps(stored))
    assert row_of(verify_submission(submitted, benchmark)) == row_of(verify_submission(honest, benchmark))


def test_a_place_counts_only_where_the_text_names_it(benchmark, submitted: Path, honest: Path):
    gold = {(d.dialogue_id, t.index): t.gold_poi_ids for d in benchmark.dialogues for t in d.turns}

    def claim(rows: list[Row]) -> list[Row]:
        return [{**row, "poi_ids": list(gold[row["dialogue_id"], row["turn_index"]]) or row["poi_ids"]} for row in rows]

    forge(submitted, claim)
    found = verify_submission(submitted, benchmark)
    assert found.corrected["places"] > 0
    turns = found.results.turns
    said = {
        (r.dialogue_id, r.turn_index): restore_text(r.text, benchmark.texts) for r in RunFolder.open(honest).responses()
    }
    keys = zip(turns["dialogue_id"], turns["turn_index"], strict=True)
    hits = [key for key, hit in zip(keys, turns["recall_at_1"], strict=True) if hit]
    assert 0 < len(hits) < sum(value is not None for value in turns["recall_at_1"])
    assert all(benchmark.kb.pois[gold[key][0]].name in said[key] for key in hits)


def test_rankings_citations_and_failures_are_held_against_the_pool(benchmark, submitted: Path):
    outside = sorted(set(benchmark.kb.pois) - set(benchmark.dialogues[0].candidates))[0]
    strange = benchmark.kb.reviews_of[outside][0]
    citation = {"label": "R900", "business_id": outside, "review_id": strange}

    def claim(rows: list[Row]) -> list[Row]:
        first, second, *rest = rows
        first = {**first, "ranking": [outside, *first["ranking"]], "citations": [*first["citations"], citation]}
        second = {**second, "template": "", "spans": [], "sha256": SHA_OF_NOTHING, "poi_ids": []}
        return [first, second, *rest]

    forge(submitted, claim)
    found = verify_submission(submitted, benchmark)
    assert (found.corrected["rankings"], found.corrected["citations"], found.corrected["failures"]) == (1, 1, 1)
    assert found.results.n_failed == 1


SHA_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def _without_last(rows: list[Row]) -> list[Row]:
    return rows[:-1]


def _last_twice(rows: list[Row]) -> list[Row]:
    return [*rows, rows[-1]]


def _stranger(rows: list[Row]) -> list[Row]:
    return [*rows, {**rows[0], "dialogue_id": "nobody"}]


def _other_text(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "template": rows[0]["template"] + " And more."}, *rows[1:]]


def _other_action(rows: list[Row]) -> list[Row]:
    return [{**rows[0], "action": "close"}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (_without_last, BundleError, "has no response for 1 turns"),
        (_last_twice, BundleError, "answers more than once 1 turns"),
        (_stranger, BundleError, "answers 1 turns that are not in the benchmark, first dialogue nobody"),
        (_other_text, HydrationError, "no longer reads as it did"),
        (_other_action, BundleError, "answers 'close' where the benchmark asks for"),
    ],
)
def test_what_does_not_hold_is_refused(
    benchmark, submitted: Path, change: Callable[[list[Row]], list[Row]], error: type[TraceError], says: str
):
    forge(submitted, change)
    with pytest.raises(error, match=says):
        verify_submission(submitted, benchmark)


def test_review_text_in_a_submission_is_refused(benchmark, submitted: Path):
    import hydrate

    text = next(iter(benchmark.texts.values()))
    forge(
        submitted,
        lambda rows: [{**rows[0], "template": text, "spans": [], "sha256": hydrate.span_sha256(text)}, *rows[1:]],
    )
    with pytest.raises(LicensedTextError, match="review text stands in clear in dialogue") as failure:
        verify_submission(submitted, benchmark)
    assert " ".join(text.split()[:4]) not in str(failure.value)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("content_digest", "0" * 64, "was made on benchmark 000000000000, and this one is"),
        ("pool", "7", "there is no pool called '7'"),
        ("split", "dev", "there is no split called 'dev'"),
        ("limit", -3, "limit=-3"),
        ("baseline", "a" * 81, "no usable name"),
        ("baseline", "a\nb", "no usable name"),
    ],
)
def test_a_submission_that_describes_itself_wrongly(benchmark, submitted: Path, name: str, value: Any, says: str):
    path = submitted / "run.json"
    run = json.loads(path.read_text())
    run["settings"][name] = value
    path.write_text(json.dumps(run))
    with pytest.raises(TraceError, match=says):
        verify_submission(submitted, benchmark)


def test_a_folder_that_is_no_run_or_leads_elsewhere(benchmark, tmp_path: Path, submitted: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BundleError, match=r"empty holds no run"):
        verify_submission(tmp_path / "empty", benchmark)
    (submitted / "more").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="leads out of the folder"):
        verify_submission(submitted, benchmark)


def test_scores_without_responses_are_not_taken(benchmark, honest: Path):
    results = verify_submission(honest, benchmark).results
    with pytest.raises(UsageError, match=r"scores alone are not taken.*\n.*run folder"):
        push_leaderboard([results], NAME, benchmark=benchmark, replace=True, dry_run=True)


def test_a_row_has_everything_the_page_reads(benchmark, honest: Path, tmp_path: Path):
    found = verify_submission(honest, benchmark)
    table = merged({}, [found], benchmark, {"tfidf": "sparse retrieval"})
    path = tmp_path / "leaderboard.json"
    path.write_text(json.dumps(table))
    board = read_board(path)
    assert board.fault in (None, "")
    [setting] = board.settings()
    [entry] = board.entries(setting, "closed", "all", None)
    assert (entry.system, entry.family, entry.dialogues) == ("tfidf", "sparse retrieval", 12)
    assert entry.scores["recall_at_1"].value == found.results.estimates()["recall_at_1"].value
    tiers = table["rows"][0]["tiers"]
    assert sum(part["dialogues"] for part in tiers.values()) == 12
    assert merged(table, [found], benchmark, {"tfidf": "sparse retrieval"}) == table


def test_from_the_command_line_to_the_space(hub: Hub, pusher: Person, sample_bundle: Path, tmp_path: Path):
    """Two submissions, one after the other; the second push keeps the first row, and a table changed by hand is refused."""
    source = ("--yelp", str(sample_bundle), "--dialogues", "240")
    pusher.trace("run", "popularity", "random", *source, "--limit", "6", "--out", str(tmp_path))
    shown = pusher.trace("verify-submission", str(tmp_path / "popularity-closed"), *source).stdout
    assert "put right: nothing" in shown
    first = pusher.trace("push", "leaderboard", str(tmp_path / "popularity-closed"), NAME, *source).stdout
    assert "1 submissions scored again from their responses; 1 rows" in first
    second = pusher.trace("push", "leaderboard", str(tmp_path / "random-closed"), NAME, *source).stdout
    assert "2 rows" in second
    again = pusher.trace("push", "leaderboard", str(tmp_path / "random-closed"), NAME, *source).stdout
    assert "nothing to do" in again
    assert hub.commits("spaces", NAME) == 2
    table = json.loads(hub.store.read("spaces", NAME, "leaderboard.json"))
    assert [(row["system"], row["control"]) for row in table["rows"]] == [("popularity", False), ("random", True)]

    table["rows"][0]["scores"]["recall_at_1"]["value"] = 0.99
    entry = hub.store.add(json.dumps(table).encode(), lfs=False)
    hub.store.commit("spaces", NAME, "main", "better", {"leaderboard.json": entry}, [], "me")
    done = pusher.trace("push", "leaderboard", str(tmp_path / "random-closed"), NAME, *source, check=False)
    assert done.returncode == 2
    assert "its rows are not known to be verified" in done.stderr
