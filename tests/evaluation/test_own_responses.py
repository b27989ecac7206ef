"""A stranger's responses: scored by what their columns allow, and for the rest it is said what it takes."""

from __future__ import annotations

import json

import jsonschema
import pytest

from hydrate import BundleError
from trace_dataset.baseline import load_baseline
from trace_dataset.cli import main
from trace_dataset.evaluation import run_baseline, score_run
from trace_dataset.evaluation.own_responses import REQUIRED, read_responses, responses_schema
from trace_dataset.evaluation.own_scores import ELSEWHERE, NEEDS, score_against, score_alone
from trace_dataset.evaluation.stored import restore_text

REVIEW = "We loved it, the patio is quiet and shaded."
FULL = {
    "dialogue_id": "d1", "turn_index": 1, "action": "recommend",
    "text": 'Go to Blue Door: "the patio is quiet" [R1].', "poi_ids": ["a"], "ranking": ["a", "b"],
    "citations": [{"label": "R1", "text": REVIEW}], "reference_text": "I would go to Blue Door.",
    "reference_poi_ids": ["a"], "alternative_poi_ids": ["b"], "rejected_poi_ids": [],
    "user_turns": ["Somewhere quiet and cheap, please."],
    "places": [{"business_id": "a", "latitude": 40.0, "longitude": -75.0, "price": 1, "facts": REVIEW}],
}  # fmt: skip
AFTER_A_NO = FULL | {
    "turn_index": 3, "text": "Then go to Elm.", "poi_ids": ["b"], "citations": [], "reference_poi_ids": ["c"],
    "rejected_poi_ids": ["a"], "places": [{"business_id": "b", "latitude": 40.01, "longitude": -75.0}],
}  # fmt: skip


def written(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def test_every_column_gives_every_metric(tmp_path):
    rows = read_responses(written(tmp_path / "own.jsonl", [FULL, AFTER_A_NO]))
    found = score_alone(rows, "own")
    assert set(found.estimates) == set(NEEDS)
    assert set(found.missing) == set(ELSEWHERE)
    value = {name: estimate.value for name, estimate in found.estimates.items()}
    assert value["recall_at_1"] == 0.5
    assert value["recall_at_1_multi"] == 1.0
    assert value["gs"] == 1.0
    assert value["tsr"] == 1.0
    assert value["t2r"] == 1.0
    assert value["rejection_recovery"] == 0.0, "c was to be named after the no"
    assert value["price_alignment"] == 1.0, "of the one place whose price is known"
    assert value["spatial_coherence"] == 1.0, "1.1 km apart"
    assert value["preference_coverage"] == 0.25, "of quiet and cheap one in two, then none in two"


def test_three_columns_give_no_metric_and_what_each_needs_is_named(tmp_path, capsys):
    path = written(tmp_path / "own.jsonl", [{name: FULL[name] for name in REQUIRED} | {"gold_poi_id": "a"}])
    assert main(["score", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "recall_at_1                  columns action, poi_ids, reference_poi_ids" in shown
    assert "columns that mean nothing here: gold_poi_id" in shown
    assert "annotators" in shown
    assert main(["score", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {}


def test_the_published_schema_takes_what_is_read_and_refuses_what_is_not(tmp_path, capsys):
    assert main(["score", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema == responses_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    check.validate(FULL)
    wrong = {
        "text is an object": {"text": {}},
        "turn_index is a string": {"turn_index": "1"},
        "turn_index is -1, out of range": {"turn_index": -1},
        "action is none of greet": {"action": "sing"},
        "poi_ids is a string, not array": {"poi_ids": "a"},
        "poi_ids holds an entry that is an integer": {"poi_ids": [1]},
        "citations holds an entry that has no label": {"citations": [{"text": REVIEW}]},
        "citations holds an entry that has a label that is no label": {"citations": [{"label": "[R1]"}]},
        "places holds an entry that has a price that is 7": {"places": [{"business_id": "a", "price": 7}]},
    }
    for says, change in wrong.items():
        assert not check.is_valid(FULL | change)
        with pytest.raises(BundleError, match=rf"line 1: {says}"):
            read_responses(written(tmp_path / "wrong.jsonl", [FULL | change]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no responses"),
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: an array, not an object"),
        (json.dumps(FULL) + "\n" + json.dumps(FULL), "there twice"),
        ('{"turn_index": 1}', "dialogue_id is missing"),
    ],
)
def test_a_file_that_will_not_do(tmp_path, text, says, capsys):
    path = tmp_path / "own.jsonl"
    path.write_text(text)
    assert main(["score", str(path)]) == 1
    assert says in capsys.readouterr().err


def test_against_a_benchmark_a_run_and_its_responses_as_a_file_score_alike(benchmark, tmp_path):
    run = run_baseline(load_baseline("tfidf"), benchmark, tmp_path / "run", limit=30)
    rows = [
        {
            "dialogue_id": answer.dialogue_id,
            "turn_index": answer.turn_index,
            "text": restore_text(answer.text, benchmark.texts),
            "poi_ids": list(answer.poi_ids),
            "ranking": list(answer.ranking),
            "citations": [{"label": item.label, "review_id": item.review_id} for item in answer.citations],
        }
        for answer in run.responses()
    ]
    found = score_against(read_responses(written(tmp_path / "own.jsonl", rows)), benchmark, "own")
    assert found.estimates == score_run(run, benchmark).estimates()
    fewer = score_against([*rows[:-1], rows[-1] | {"poi_ids": ["nowhere"]}], benchmark, "own")
    assert fewer.results.n_failed == 1
    fewer = score_against(rows[1:], benchmark, "own")
    assert fewer.results.n_failed == 1, "a turn without a row is a miss"
    assert "1 without a row" in fewer.notes[1]
    with pytest.raises(BundleError, match="no system turn"):
        score_against([rows[0] | {"turn_index": 0}], benchmark, "own")
