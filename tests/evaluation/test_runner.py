"""A run: teacher-forced, resumable, the same with any number of workers, and honest about failures."""

from __future__ import annotations

import ast
import dataclasses
import os
from pathlib import Path
from types import FunctionType

import pytest

from hydrate import BundleError, TraceError, UsageError
from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.evaluation import RunFolder, evaluate_baseline, run_baseline, score_run
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.evaluation.controls import control
from trace_dataset.evaluation.identity import ANSWERING, baseline_digest
from trace_dataset.evaluation.runner import DIALOGUES_PER_SHARD
from trace_dataset.installed import hub_names
from trace_dataset.kb import KnowledgeBase
from trace_dataset.schema import Constraint, Turn
from trace_dataset.turns import Response

ROOT = Path(__file__).resolve().parents[2]


class Faulty(Baseline):
    """Does something wrong at every recommendation."""

    name = "faulty"

    def __init__(self, fault):
        self.fault = fault

    def rank(self, turn):
        pool = list(turn.pool)
        if turn.action != "recommend":
            return pool
        if self.fault == "raises":
            raise RuntimeError("out of memory, say")
        return {"outside": ["nowhere"], "twice": pool + pool[:1], "nothing": None, "text": pool}[self.fault]

    def respond(self, turn, ranking):
        if self.fault == "text" and turn.action == "recommend":
            return Response("   ")
        return super().respond(turn, ranking)


def test_two_baselines_and_the_controls_order_as_they_must(benchmark):
    scores = {
        name: evaluate_baseline(name, benchmark).estimates()
        for name in ("popularity", "tfidf", "random", "oracle", "parrot")
    }
    assert scores["oracle"]["recall_at_1"].value == 1.0
    assert scores["oracle"]["rejection_recovery"].value == 1.0
    assert scores["parrot"]["rejection_recovery_literal"].value == 1.0
    assert scores["random"]["recall_at_1"].value == pytest.approx(1 / 8, abs=0.04)
    assert scores["tfidf"]["recall_at_1"].value > scores["random"]["recall_at_1"].value
    assert all(found["gs"].value >= 0.99 for found in scores.values())


def test_open_pools_are_harder(benchmark):
    closed, wide = (
        evaluate_baseline("tfidf", benchmark, pool=pool).estimates()["recall_at_1"].value for pool in ("closed", "open")
    )
    assert wide < closed


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("raises", "RuntimeError"),
        ("outside", "not in the pool"),
        ("twice", "twice"),
        ("nothing", "NoneType"),
        ("text", "empty text"),
    ],
)
def test_a_faulty_baseline_costs_turns_and_never_the_run(benchmark, tmp_path, fault, says):
    run = run_baseline(Faulty(fault), benchmark, tmp_path / "run", limit=20)
    failed = [answer for answer in run.responses() if answer.error]
    assert failed
    assert all(says in (answer.error or "") for answer in failed)
    assert {answer.action for answer in failed} == {"recommend"}
    results = score_run(run, benchmark)
    assert results.n_failed == len(failed)
    for value, missed in zip(results.turns["recall_at_1"], results.turns["failed"], strict=True):
        assert value == 0 or not missed
    assert {value for value, missed in zip(results.turns["gs"], results.turns["failed"], strict=True) if missed} == {
        0.0
    }
    with pytest.raises(TraceError, match=says):
        run_baseline(Faulty(fault), benchmark, tmp_path / "strict", limit=20, strict=True)


def test_any_number_of_workers_gives_the_same_bytes(benchmark, tmp_path):
    one = run_baseline(load_baseline("tfidf"), benchmark, tmp_path / "one")
    two = run_baseline(load_baseline("tfidf"), benchmark, tmp_path / "two", workers=2)
    assert one.fingerprint == two.fingerprint
    shards = sorted((tmp_path / "one" / "responses").iterdir())
    assert len(shards) > 1
    assert [path.read_bytes() for path in shards] == [
        (tmp_path / "two" / "responses" / path.name).read_bytes() for path in shards
    ]


def test_an_interrupted_run_continues_and_answers_nothing_twice(benchmark, tmp_path):
    class Counting(Baseline):
        name = "counting"
        asked = 0
        stop_after = 10**9

        def rank(self, turn):
            Counting.asked += 1
            if Counting.asked > self.stop_after:
                raise KeyboardInterrupt
            return sorted(turn.pool)

    whole = run_baseline(Counting(), benchmark, tmp_path / "whole")
    turns, Counting.asked, Counting.stop_after = Counting.asked, 0, int(DIALOGUES_PER_SHARD * 5.5)
    with pytest.raises(KeyboardInterrupt):
        run_baseline(Counting(), benchmark, tmp_path / "broken")
    with pytest.raises(BundleError, match="unfinished"):
        RunFolder.open(tmp_path / "broken").responses()
    Counting.asked, Counting.stop_after = 0, 10**9
    broken = run_baseline(Counting(), benchmark, tmp_path / "broken")
    assert 0 < Counting.asked < turns
    assert broken.responses() == whole.responses()


def test_a_folder_of_another_run_is_not_mixed_with_this_one(benchmark, tmp_path):
    run_baseline(load_baseline("tfidf"), benchmark, tmp_path, limit=5)
    with pytest.raises(UsageError, match="differs in dialogues, limit"):
        run_baseline(load_baseline("tfidf"), benchmark, tmp_path, limit=6)


def test_nothing_a_baseline_can_reach_tells_the_answer(benchmark):
    """Walk everything reachable from a turn context and the knowledge base: no constraint, no gold, no evidence."""
    dialogue = benchmark.dialogues[0]
    contexts = [context for _, context in turn_contexts(dialogue, benchmark.kb.cells, "closed", 42, "walk")]
    seen, stack = set(), [contexts, benchmark.kb]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, (str, int, float, bytes, type(None))):
            continue
        seen.add(id(value))
        assert not isinstance(value, (Turn, Constraint)), value
        assert "evidence" not in type(value).__module__
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = {field.name for field in dataclasses.fields(value)}
            assert not names & {"constraints", "gold_poi_ids", "alternative_poi_ids", "difficulty"}
            stack.extend(getattr(value, name) for name in names)
        elif isinstance(value, dict):
            stack.extend([*value.keys(), *value.values()])
        elif isinstance(value, (list, tuple, set, frozenset)):
            stack.extend(value)
    assert isinstance(benchmark.kb, KnowledgeBase)


def test_the_history_ends_before_the_turn_to_be_written(benchmark):
    for dialogue in benchmark.dialogues[:20]:
        for index, context in turn_contexts(dialogue, benchmark.kb.cells, "closed", 42, "x"):
            assert len(context.history) == index
            assert context.history[-1].role == "user"


def test_listing_the_pool_does_not_win(benchmark):
    class Lister(Baseline):
        name = "lister"

        def rank(self, turn):
            return sorted(turn.pool)

        def respond(self, turn, ranking):
            names = ", ".join(self.kb.pois[place].name for place in ranking)
            return Response(f"One of these: {names}.", tuple(ranking), ranking=tuple(ranking))

    class Liar(Lister):
        name = "liar"

        def respond(self, turn, ranking):
            return Response("Somewhere nice.", tuple(ranking), ranking=tuple(ranking))

    answers = [answer for answer in run_in_memory(Lister(), benchmark) if answer.poi_ids]
    assert max(len(answer.poi_ids) for answer in answers) == 3
    assert all(answer.poi_ids == () and len(answer.dropped_poi_ids) == 8 for answer in run_in_memory(Liar(), benchmark))


def run_in_memory(baseline, benchmark):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as scratch:
        return run_baseline(baseline, benchmark, Path(scratch) / "run", limit=10).responses()


def test_unknown_names_list_those_there_are(benchmark):
    with pytest.raises(UsageError, match="popularity"):
        load_baseline("tf-idf")
    with pytest.raises(UsageError, match="closed, 16, 32, open"):
        evaluate_baseline("tfidf", benchmark, pool=12)
    with pytest.raises(UsageError, match="train, validation, test"):
        evaluate_baseline("tfidf", benchmark, split="dev")
    with pytest.raises(UsageError, match="oracle"):
        control("psychic", [])


def test_a_loaded_dataset_can_be_run_as_it_is(sample_bundle):
    import datasets

    loaded = datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240)
    results = evaluate_baseline("popularity", loaded["test"])
    assert len(results.dialogues["dialogue_id"]) == len(loaded["test"])
    with pytest.raises(UsageError, match="limit="):
        evaluate_baseline(
            "popularity",
            datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240, split="test[:3]"),
        )
    with pytest.raises(UsageError, match="no TRACE dataset"):
        evaluate_baseline("popularity", datasets.Dataset.from_dict({"a": [1]}))


def test_a_filtered_dataset_is_refused_rather_than_run_whole(sample_bundle, benchmark):
    import datasets

    loaded = datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240)
    for changed in (
        loaded["test"].select(range(5)),
        loaded["test"].filter(lambda row: False),
        datasets.DatasetDict(test=loaded["test"]),
    ):
        with pytest.raises(UsageError, match="whole split"):
            evaluate_baseline("popularity", changed)
    with pytest.raises(UsageError, match="limit=0"):
        evaluate_baseline("popularity", benchmark, limit=0)
    assert len(repr(evaluate_baseline("popularity", loaded["test"]))) < 300


def test_a_damaged_shard_is_told_and_then_answered_anew(benchmark, tmp_path):
    run = run_baseline(load_baseline("popularity"), benchmark, tmp_path / "run", limit=120)
    before = [path.read_bytes() for path in sorted((tmp_path / "run" / "responses").iterdir())]
    with run.shard(1).open("r+b") as stream:
        stream.truncate(500)
    with pytest.raises(BundleError, match="missing or damaged"):
        run.responses()
    run_baseline(load_baseline("popularity"), benchmark, tmp_path / "run", limit=120)
    assert [path.read_bytes() for path in sorted((tmp_path / "run" / "responses").iterdir())] == before


def test_what_is_no_baseline_is_told(benchmark):
    with pytest.raises(UsageError, match="NoneType is no baseline"):
        evaluate_baseline(None, benchmark)


class Careless(Baseline):
    """Does to its surroundings what it is told to."""

    name = "careless"

    def __init__(self, deed):
        self.deed = deed

    def rank(self, turn):
        self.deed(self, turn)
        return sorted(turn.pool)


@pytest.mark.parametrize(
    ("deed", "says"),
    [
        (lambda own, turn: own.kb.pois.clear(), "AttributeError"),
        (lambda own, turn: own.kb.reviews.__setitem__("r", None), "AttributeError"),
        (lambda own, turn: turn.pool.remove(turn.pool[0]), "AttributeError"),
        (lambda own, turn: setattr(turn, "action", "close"), "FrozenInstanceError"),
    ],
)
def test_a_baseline_cannot_change_what_others_read(benchmark, tmp_path, deed, says):
    before = len(benchmark.kb.pois), len(benchmark.kb.reviews)
    run = run_baseline(Careless(deed), benchmark, tmp_path / "run", limit=1)
    assert {says in (answer.error or "") for answer in run.responses()} == {True}
    assert (len(benchmark.kb.pois), len(benchmark.kb.reviews)) == before


def test_a_baseline_that_forks_answers_once(benchmark, tmp_path):
    run = run_baseline(Careless(lambda own, turn: os.fork()), benchmark, tmp_path / "run", limit=3)
    plain = run_baseline(Careless(lambda own, turn: None), benchmark, tmp_path / "plain", limit=3)
    assert run.responses() == plain.responses()


def test_what_an_exception_says_of_a_review_is_not_stored(benchmark, tmp_path):
    review = next(iter(benchmark.kb.reviews.values())).text

    def tell(own, turn):
        raise KeyError(f"no such key: {review}")

    run = run_baseline(Careless(tell), benchmark, tmp_path / "run", limit=1)
    assert all("[review text]" in answer.error for answer in run.responses())
    assert not any(benchmark.finder.any_run(answer.error) for answer in run.responses())
    with pytest.raises(TraceError) as stop:
        run_baseline(Careless(tell), benchmark, tmp_path / "strict", limit=1, strict=True)
    assert benchmark.finder.any_run(str(stop.value)) is None


@pytest.mark.parametrize("method", ["prepare", "reset", "observe"])
def test_a_baseline_that_fails_outside_of_its_answers(benchmark, tmp_path, method):
    def broken(self, argument):
        raise RuntimeError("not now")

    kind = type("Broken", (Baseline,), {"rank": lambda self, turn: sorted(turn.pool), method: broken})
    if method == "prepare":
        with pytest.raises(TraceError, match="could not be prepared: RuntimeError: not now"):
            run_baseline(kind(), benchmark, tmp_path / "run", limit=1)
        return
    run = run_baseline(kind(), benchmark, tmp_path / "run", limit=1)
    assert {answer.error for answer in run.responses()} == {"RuntimeError: not now"}


def test_a_baseline_that_cannot_be_closed_has_answered_all_the_same(benchmark, tmp_path, caplog):
    review = next(iter(benchmark.kb.reviews.values())).text

    class Open(Careless):
        def close(self):
            raise RuntimeError(f"still open: {review}")

    run = run_baseline(Open(lambda own, turn: None), benchmark, tmp_path / "run", limit=1)
    assert not any(answer.error for answer in run.responses())
    assert "could not be closed: RuntimeError: still open: [review text]" in caplog.text


@pytest.mark.parametrize("parameters", [{"index": object()}, {3: "three"}, ["weight"], property(lambda self: 1 / 0)])
def test_parameters_that_cannot_be_stored_are_told(benchmark, tmp_path, parameters):
    kind = type("Odd", (Careless,), {"parameters": parameters})
    with pytest.raises(UsageError, match="parameters of the baseline careless cannot be stored"):
        run_baseline(kind(lambda own, turn: None), benchmark, tmp_path / "run", limit=1)
    assert not (tmp_path / "run").exists()


def test_the_order_of_a_set_in_the_code_is_no_other_code():
    def digest_of(places):
        code = (lambda self, turn: None).__code__.replace(co_consts=(frozenset(places),))
        return baseline_digest(type("Own", (Baseline,), {"__module__": "prompt", "rank": FunctionType(code, {})})())

    assert repr(frozenset([0, 8])) != repr(frozenset([8, 0]))
    assert digest_of([0, 8]) == digest_of([8, 0]) != digest_of([0, 9])


def test_all_turns_at_once_give_what_each_gives_alone(benchmark):
    turns = [t for item in benchmark.dialogues[:12] for _, t in turn_contexts(item, benchmark.kb.cells, "16", 42, "x")]
    for name in hub_names("baselines"):
        baseline = load_baseline(name)
        if baseline.uses_lm or name in ("dense", "hybrid_rrf"):  # these in tests/baselines, with their extras
            continue
        baseline.prepare(benchmark.kb)
        assert baseline.rank_many(turns) == [baseline.rank(turn) for turn in turns], name


def test_where_ranking_all_at_once_fails_each_turn_is_asked_for(benchmark, tmp_path):
    class Batch(Baseline):
        name = "batch"

        def rank(self, turn):
            return sorted(turn.pool)

        def rank_many(self, turns):
            raise MemoryError("too many")

    assert not any(answer.error for answer in run_baseline(Batch(), benchmark, tmp_path / "run", limit=5).responses())


def test_another_parameter_is_another_run(benchmark, tmp_path):
    class Tuned(Baseline):
        name = "tuned"

        def __init__(self, weight):
            self.weight = weight

        @property
        def parameters(self):
            return {"weight": self.weight}

        def rank(self, turn):
            return sorted(turn.pool)

    run_baseline(Tuned(1), benchmark, tmp_path / "run", limit=1)
    with pytest.raises(UsageError, match="differs in parameters"):
        run_baseline(Tuned(2), benchmark, tmp_path / "run", limit=1)


def test_a_runs_version_covers_every_module_of_ours_that_decides_an_answer():
    found, left = set(), ["job"]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        tree = ast.parse((ROOT / "trace_dataset" / "evaluation" / f"{name}.py").read_text(encoding="utf-8"))
        modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        left += [module.rsplit(".", 1)[1] for module in modules if module.startswith("trace_dataset.evaluation.")]
    assert found <= set(ANSWERING)
    assert "bootstrap" not in ANSWERING, "a run that was paid for survives a mended report"
