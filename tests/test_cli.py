"""The command line: one verb a job, exit status 0, 1 or 2, and one clear error for bad input."""

from __future__ import annotations

import argparse
import json

import pytest

from trace_dataset.cli import main
from trace_dataset.cli.main import parser

SMALL = ["--dialogues", "240"]


def verbs() -> dict[str, argparse.ArgumentParser]:
    [action] = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return action.choices


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_every_verb_has_help_with_an_example(verb, capsys):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    assert f"example: trace-dataset {verb}" in " ".join(capsys.readouterr().out.split())


def test_inspect_says_what_is_there(sample_bundle, capsys):
    assert main(["inspect", str(sample_bundle)]) == 0
    shown = capsys.readouterr().out
    assert "a benchmark can be built" in shown
    assert main(["inspect", str(sample_bundle), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "folder"
    assert len(found["fingerprint"]) == 64


def test_run_score_and_report(sample_bundle, tmp_path, capsys):
    source = ["--yelp", str(sample_bundle), *SMALL]
    assert (
        main(
            [
                "run",
                "tfidf",
                "popularity",
                "random_unseen",
                *source,
                "--out",
                str(tmp_path),
                "--limit",
                "60",
                "--workers",
                "2",
            ]
        )
        == 0
    )
    folders = [str(tmp_path / f"{name}-closed") for name in ("tfidf", "popularity", "random_unseen")]
    capsys.readouterr()
    assert main(["score", folders[0], *source, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert scores["recall_at_1"]["n"] > 100
    assert main(["report", *folders, *source, "--out", str(tmp_path / "report"), "--full"]) == 0
    assert "95 % bootstrap interval" in capsys.readouterr().out
    assert (tmp_path / "report" / "figures" / "competencies-closed.png").stat().st_size > 10_000
    assert "| tfidf |" in (tmp_path / "report" / "report.md").read_text()
    assert (tmp_path / "report" / "LICENSED-TEXT.json").exists()
    without_bundle = ["report", *folders, "--out", str(tmp_path / "numbers"), "--resamples", "200"]
    assert main(without_bundle) == 0
    assert not (tmp_path / "numbers" / "LICENSED-TEXT.json").exists()
    capsys.readouterr()
    assert main(["score", folders[0], "--yelp", str(sample_bundle), "--dialogues", "250"]) == 2
    assert "another benchmark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["inspect", "/nowhere"], 1, "/nowhere"),
        (["run", "tfidff", "--yelp", "BUNDLE"], 2, "popularity"),
        (["run", "tfidf"], 2, "--yelp"),
        (["build", "BUNDLE", "--yelp", "BUNDLE"], 2, "exists already"),
        (["score", "BUNDLE", "--yelp", "BUNDLE"], 1, "holds no run"),
        (["sample", "BUNDLE"], 2, "exists already"),
    ],
)
def test_a_mistake_is_one_error_without_a_traceback(sample_bundle, arguments, status, says, capsys):
    assert main([str(sample_bundle) if word == "BUNDLE" else word for word in arguments]) == status
    shown = capsys.readouterr().err
    assert says in shown
    assert "do: " in shown
    assert "Traceback" not in shown


def test_a_pool_that_does_not_exist_lists_those_that_do(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "tfidf", "--yelp", "x", "--pool", "9"])
    assert stop.value.code == 2
    assert "closed" in capsys.readouterr().err


def test_hydrate_verifies_and_writes(sample_bundle, tmp_path, capsys):
    release, out = tmp_path / "release", tmp_path / "hydrated"
    assert main(["build", str(release), "--yelp", str(sample_bundle), *SMALL]) == 0
    assert main(["hydrate", str(release), "--yelp", str(sample_bundle), "--check"]) == 0
    assert "verified" in capsys.readouterr().out
    assert main(["hydrate", str(release), "--yelp", str(sample_bundle), "--out", str(out)]) == 0
    assert sorted(path.name for path in (out / "dialogues").iterdir()) == [
        "test.parquet",
        "train.parquet",
        "validation.parquet",
    ]
    assert main(["hydrate", str(release), "--yelp", str(sample_bundle)]) == 2


def test_a_baseline_that_never_answers_is_a_failed_run(sample_bundle, tmp_path, capsys):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "broken.py").write_text(
        "from trace_dataset.baseline import Baseline\n\n\nclass Broken(Baseline):\n"
        "    def rank(self, turn):\n        raise RuntimeError('no tables today')\n"
    )
    arguments = [
        "run",
        str(folder),
        "--yelp",
        str(sample_bundle),
        *SMALL,
        "--limit",
        "5",
        "--out",
        str(tmp_path / "runs"),
    ]
    assert main(arguments) == 1
    assert "no tables today" in capsys.readouterr().out


def test_a_folder_in_use_is_refused_before_anything_is_built(sample_bundle, monkeypatch, capsys):
    monkeypatch.setattr("trace_dataset.release.build.build_knowledge_base", lambda *a, **k: pytest.fail("built"))
    assert main(["build", str(sample_bundle), "--yelp", str(sample_bundle)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("trace-dataset ")


def own_folder(tmp_path, rank):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(
        "import os, sys, time\nfrom trace_dataset.baseline import Baseline\n\n\n"
        f"class Own(Baseline):\n    def rank(self, turn):\n        {rank}\n        return sorted(turn.pool)\n"
    )
    return str(folder)


def arguments(sample_bundle, tmp_path, name, *more):
    return ["run", name, "--yelp", str(sample_bundle), *SMALL, "--limit", "2", "--out", str(tmp_path / "runs"), *more]


def test_what_a_baseline_prints_is_not_the_output_of_the_command(sample_bundle, tmp_path, capsys):
    name = own_folder(tmp_path, 'print("hello"); sys.stdout.write("there")')
    assert main(arguments(sample_bundle, tmp_path, name, "--json")) == 0
    shown = capsys.readouterr()
    (found,) = json.loads(shown.out)
    assert found["failed"] == 0
    assert found["dialogues"] == 2
    assert "hello" in shown.err


def test_a_strict_run_stops_and_a_turn_that_hangs_has_failed(sample_bundle, tmp_path, capsys):
    name = own_folder(tmp_path, 'time.sleep(60 if turn.action == "greet" else 0)')
    assert main(arguments(sample_bundle, tmp_path, name, "--turn-seconds", "0.2")) == 0
    assert "2 failed turns, first: no answer within 0.2 s" in capsys.readouterr().out
    strict = arguments(sample_bundle, tmp_path, name, "--turn-seconds", "0.2", "--strict", "--out", str(tmp_path / "s"))
    assert main(strict) == 1
    assert "no answer within 0.2 s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--budget-usd", "3"], "belong to --lm"),
        (["--lm", "local"], "none of tfidf asks a language model"),
        (["--lm", "local", "--lm-option", "temperature"], "is not NAME=VALUE"),
        (["--workers", "0"], "workers=0"),
        (["--turn-seconds", "-1"], "turn_seconds=-1.0"),
        (["--turn-seconds", "inf"], "at most a day"),
        (["--revision", "abc"], "none of tfidf comes from the Hub"),
        (["--ray", "127.0.0.1:1"], "Ray"),
    ],
)
def test_options_that_do_not_go_together_are_told(sample_bundle, tmp_path, more, says, capsys):
    assert main(arguments(sample_bundle, tmp_path, "tfidf", *more)) == 2
    assert says.lower() in capsys.readouterr().err.lower()


def test_a_baseline_that_asks_a_model_needs_one(sample_bundle, tmp_path, capsys):
    assert main(arguments(sample_bundle, tmp_path, "dst")) == 2
    assert "--lm" in capsys.readouterr().err
