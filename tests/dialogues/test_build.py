"""The build as a whole: determinism, retries, falls, errors, the report."""

import json

import pytest

from hydrate.errors import BundleError, UsageError
from trace_dataset.dialogues import TemplateWriter, build_dialogues, default_dialogue_count
from trace_dataset.dialogues.report import Effort, summarize


def test_the_ratio_of_the_paper():
    assert [default_dialogue_count(places) for places in (6, 240, 2400, 150_000)] == [25, 1000, 10_000, 10_000]


def test_a_dialogue_does_not_depend_on_how_many_there_are(built):
    few, _ = build_dialogues(built.kb, built.evidence, n_dialogues=60)
    assert few == built.dialogues[:60]


def test_another_seed_gives_other_dialogues(built):
    other, _ = build_dialogues(built.kb, built.evidence, n_dialogues=20, seed=7)
    assert not any(a.turns == b.turns for a, b in zip(other, built.dialogues, strict=False))


def test_workers_change_nothing(built):
    calls = []
    many, report = build_dialogues(
        built.kb, built.evidence, n_dialogues=120, workers=2, progress=lambda done, total: calls.append((done, total))
    )
    assert many == built.dialogues[:120]
    assert report.dialogues == 120
    assert calls[-1] == (120, 120)


class Clumsy(TemplateWriter):
    """Fails its first attempts."""

    name = "clumsy"

    def __init__(self, bad_attempts):
        super().__init__()
        self.bad_attempts = bad_attempts

    def write(self, plan, names, seed, attempt):
        texts = super().write(plan, names, seed, attempt)
        if attempt > self.bad_attempts:
            return texts
        return (f"Take me to {names[plan.candidates[0]]}.", *texts[1:])


def test_words_that_fail_are_written_again(built):
    dialogues, report = build_dialogues(built.kb, built.evidence, n_dialogues=20, writer=Clumsy(2))
    assert {(item.generator, item.attempts) for item in dialogues} == {("clumsy", 3)}
    assert report.rewrites["user_names_place"] == 40
    assert report.generators == {"clumsy": 20}


def test_a_scenario_that_fails_three_times_is_replaced_and_counted(built):
    dialogues, report = build_dialogues(built.kb, built.evidence, n_dialogues=20, writer=Clumsy(3))
    assert len(dialogues) == 20
    assert sum(report.discards.values()) == 20
    assert report.missing == 0


def test_a_dialogue_that_never_succeeds_is_missing_and_counted(built):
    dialogues, report = build_dialogues(built.kb, built.evidence, n_dialogues=5, writer=Clumsy(100))
    assert dialogues == []
    assert report.missing == 5
    assert report.dialogues == 0
    assert "dialogues" in str(report)


def test_unknown_writers_and_numbers_are_refused(built):
    with pytest.raises(UsageError, match="parrot"):
        build_dialogues(built.kb, built.evidence, n_dialogues=1, writer="parrot")
    with pytest.raises(UsageError, match="n_dialogues=0"):
        build_dialogues(built.kb, built.evidence, n_dialogues=0)


def test_a_bundle_without_a_full_cell_is_refused(town):
    kb, evidence = town([["quiet"]] * 7)
    with pytest.raises(BundleError, match="8 places"):
        build_dialogues(kb, evidence, n_dialogues=1)


def test_a_tier_that_no_pool_carries_out_falls_and_is_counted(town):
    # Two wishes: one refusal can be carried out, two or three cannot.
    kb, evidence = town([["quiet", "parking"]] * 4 + [["quiet"]] * 4)
    dialogues, report = build_dialogues(kb, evidence, n_dialogues=60)
    assert {item.difficulty for item in dialogues} == {"easy", "medium"}
    assert report.tier_falls > 0
    assert report.pool_redraws >= 20 * report.tier_falls


def test_a_town_where_nothing_tells_places_apart_gives_no_dialogue(town):
    kb, evidence = town([["quiet"]] * 9)
    dialogues, report = build_dialogues(kb, evidence, n_dialogues=3)
    assert dialogues == []
    assert report.discards == {"no_plan": 15}


def test_the_report_is_json_and_stands_beside_the_paper(built):
    values = json.loads(json.dumps(built.report.to_json()))
    assert values["paper"]["turns_mean"] == 10.5
    assert values["dialogues"] == 1000
    lines = str(built.report).splitlines()
    assert any(line.startswith("turns per dialogue") and "10.5 (sd 1.9)" in line for line in lines)


def test_an_empty_report_divides_by_nothing():
    assert summarize([], Effort(), 3).requested == 3
