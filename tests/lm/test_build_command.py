"""`trace-dataset build --lm` as a whole, against a server that misbehaves: never fatal, always told, nothing paid twice."""

from __future__ import annotations

import json
import re

import pytest

from tests.lm.misbehaving import KEY, Misbehaving, computed, cut_off, dropped, not_json, reply, slow, status
from tests.lm.test_builds import inventing, sound
from trace_dataset.cli.main import main
from trace_dataset.release import Generator, Source, build_release, open_release
from trace_dataset.schema import SPLITS

pytest.importorskip("dspy", reason="the extra llm is not installed")
pytestmark = pytest.mark.llm

GOOD = computed(sound)
N = 10


@pytest.fixture
def build(cell, tmp_path, monkeypatch, capsys):
    """Run the command against a server; gives exit status, the release if there is one, and what was printed."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("trace_dataset.lm.model.FIRST_WAIT", 0.01)

    def run(server, *more, out="release"):
        folder = tmp_path / out
        found = main(["build", str(folder), "--yelp", str(cell), "--dialogues", str(N), *model(server), *more])
        printed = capsys.readouterr()
        assert KEY not in printed.out + printed.err
        return found, open_release(folder) if folder.is_dir() else None, printed.out + printed.err

    return run


def model(server):
    return ["--lm", "openai/fake-1", "--api-base", server.api_base, "--lm-threads", "1"]


def dialogues(release):
    return sorted((item for split in SPLITS for item in release.dialogues(split)), key=lambda item: item.dialogue_id)


def test_a_model_that_answers_writes_the_whole_set(build):
    with Misbehaving(GOOD) as server:
        found, release, printed = build(server)
    assert found == 0
    assert {item.generator for item in dialogues(release)} == {"lm:openai/fake-1"}
    manifest = release.manifest
    assert (manifest.generator, manifest.writer["model"], manifest.writer["written"]) == (
        "trace-lm",
        "openai/fake-1",
        N,
    )
    assert manifest.writer["calls"] == len(server.requests)
    assert manifest.parameters["generator"]["api_base"] == server.api_base
    assert KEY not in (release.folder / "manifest.json").read_text()
    assert re.search(
        rf"openai/fake-1: {N} dialogues written .*\n.*0.0 % \(none\)\n{N} calls, 0 retries, 1,000 tokens", printed
    )
    card = (release.folder / "README.md").read_text()
    assert "\n- trace-lm\n" in card
    assert "a language model (`openai/fake-1`)" in card


@pytest.mark.parametrize(
    "fault",
    [status(429, [("Retry-After", "0")]), status(500), cut_off, not_json, dropped, slow(1.5)],
    ids=["429", "500", "cut off", "not JSON", "dropped", "time-out"],
)
def test_what_passes_is_tried_again(build, fault):
    with Misbehaving(fault, GOOD) as server:
        found, release, printed = build(server, "--lm-timeout", "1")
    assert found == 0
    assert {item.generator for item in dialogues(release)} == {"lm:openai/fake-1"}
    assert release.manifest.writer["retries"] == 1
    assert "1 retries" in printed


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (reply(""), "empty"),
        (reply("I'm sorry, but I can't help with that."), "refusal"),
        (reply("no JSON here"), "parse"),
        (computed(inventing), "invented_quote"),
    ],
    ids=["empty", "refusal", "not JSON", "invented quotes"],
)
def test_what_is_unsound_is_asked_for_again_and_counted(build, fault, complaint):
    with Misbehaving(fault, GOOD) as server:
        found, release, _ = build(server)
    assert found == 0
    assert [item.attempts for item in dialogues(release)] == [2, *[1] * (N - 1)]
    assert release.manifest.writer["complaints"][complaint] >= 1
    assert not any("finest" in turn.text for item in dialogues(release) for turn in item.turns)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(401, message=f"bad key {KEY}"), "authentication"),
        (computed(inventing), "tries"),
        (status(400), "rejected"),
    ],
    ids=["401", "invented quotes", "400"],
)
def test_a_model_that_writes_nothing_is_told_and_ends_with_status_1(build, fault, reason):
    with Misbehaving(fault) as server:
        found, release, printed = build(server)
    assert found == 1
    assert all(item.fallback and item.generator == "template" for item in dialogues(release))
    assert release.manifest.writer["fallbacks"] == {reason: N}
    assert f"by the template instead: 100.0 % ({reason}: {N})" in printed
    assert "the model wrote nothing" in printed
    assert "100.0 % of the dialogues by the template instead" in (release.folder / "README.md").read_text()


def test_a_spent_budget_stops_and_the_same_command_goes_on(build, tmp_path):
    with Misbehaving(GOOD) as server:
        found, release, printed = build(server, "--budget-tokens", "350")
        assert (found, release, len(server.requests)) == (1, None, 3)
        assert f"budget: 360 of 350 tokens: 3 of {N} dialogues are written" in printed
        assert f"kept in {tmp_path / 'release.journal.jsonl'}" in printed
        assert "pays for nothing twice" in printed
        found, release, printed = build(server, "--budget-tokens", "100000")
        assert (found, len(server.requests)) == (0, N)
        assert f"{N} dialogues written (3 of them in earlier runs)" in printed
        whole, other, _ = build(server, out="again")  # never stopped: the same benchmark
        assert (whole, len(server.requests)) == (0, 2 * N)
        assert other.manifest.content_digest == release.manifest.content_digest


def test_a_budget_in_dollars_needs_a_price(build):
    with Misbehaving(GOOD) as server:
        found, release, printed = build(server, "--budget-usd", "1")
        assert (found, release) == (1, None)
        assert "the price of this model is not known" in printed
        found, release, printed = build(server, "--budget-usd", "0.0002", "--lm-prices", "1", "1")
        assert (found, release) == (1, None)
        assert "0.0002 of 0.0002 USD" in printed


def test_a_killed_build_goes_on_without_paying_twice(build, monkeypatch):
    from trace_dataset.dialogues.lm_job import Job

    finished = []

    def killed(self, record, write=Job._record):
        write(self, record)
        if record["step"] == "done":
            finished.append(1)
            if len(finished) == 4:
                raise KeyboardInterrupt

    with Misbehaving(GOOD) as server:
        with monkeypatch.context() as patch:
            patch.setattr(Job, "_record", killed)
            found, release, printed = build(server)
            assert (found, release, len(server.requests)) == (130, None, 4)
            assert "the same command goes on" in printed
        found, release, _ = build(server)
    assert (found, len(server.requests)) == (0, N)
    assert release.manifest.writer["resumed"] == 4


def test_options_of_a_model_need_a_model(cell, tmp_path, capsys):
    for flag, value in (("--journal", "x.jsonl"), ("--budget-tokens", "5"), ("--api-base", "http://127.0.0.1:1/v1")):
        assert main(["build", str(tmp_path / "out"), "--yelp", str(cell), flag, value]) == 2
        assert f"{flag} needs --lm" in capsys.readouterr().err
    assert main(["build", str(tmp_path / "out"), "--yelp", str(cell), "--lm", "nonsense"]) == 2
    assert "names no provider" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_dspy_lm_and_a_name_give_the_same_set(cell, tmp_path):
    import dspy

    with Misbehaving(GOOD) as server:
        named = build_release(
            cell,
            tmp_path / "named",
            n_dialogues=N,
            generator="openai/fake-1",
            api_base=server.api_base,
            lm_options={"api_key": KEY},
        )
        given = build_release(
            cell,
            tmp_path / "given",
            n_dialogues=N,
            generator=dspy.LM("openai/fake-1", api_base=server.api_base, api_key=KEY),
        )
    assert named.manifest.content_digest == given.manifest.content_digest
    assert KEY not in f"{named.manifest} {given.manifest}"


def test_sets_of_template_and_model_never_share_a_key(cell):
    generators = [
        Generator(),
        Generator("openai/fake-1"),
        Generator("openai/fake-2"),
        Generator("openai/fake-1", "http://127.0.0.1:1/v1"),
        Generator("openai/fake-1", options={"temperature": 0.0}),
        Generator("openai/fake-1", options={"tries": 2}),
    ]
    keys = [Source(yelp_path=str(cell), generator=generator).key() for generator in generators]
    assert len(set(keys)) == len(keys)
    secret = Source(yelp_path=str(cell), generator=Generator("openai/fake-1", options={"api_key": KEY}))
    assert secret.key() == keys[1]
    assert KEY not in json.dumps(secret.parameters())
