"""The evaluate modules: they load, their cards run, every row is checked, and the library's other calls work with them."""

from __future__ import annotations

import doctest
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import evaluate
import pytest
from metric_examples import CALLS, METRICS, NAMES, inputs

from hydrate.errors import TraceError
from trace_dataset.scoring import rows
from trace_dataset.scoring.composite import cgs_corpus
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.shapes import cited_columns

ROOT = METRICS.parent
CARD_PARTS = (
    "How to use",
    "Inputs",
    "Outputs",
    "Values from the paper",
    "Limits, and how it can be fooled",
    "Citation",
)


@pytest.fixture(scope="module")
def loaded():
    return {name: evaluate.load(str(METRICS / name)) for name in NAMES}


@pytest.fixture
def fresh():
    return lambda name: evaluate.load(str(METRICS / name))


def test_every_module_has_a_call_here() -> None:
    assert sorted(CALLS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_one_module_and_one_card(name: str) -> None:
    assert sorted(path.name for path in (METRICS / name).iterdir() if path.is_file()) == ["README.md", f"{name}.py"]
    script = (METRICS / name / f"{name}.py").read_text(encoding="utf-8")
    classes = re.findall(r"^class (\w+)\(", script, flags=re.M)
    assert classes == ["".join(part.capitalize() for part in name.split("_"))]
    lines = re.findall(r"^(?:import|from)\b.*", script, flags=re.M)
    for line in lines:  # what evaluate's line scanner can read
        assert re.fullmatch(r"import \w+|from trace_dataset\.scoring\.\w+ import [\w, ]+", line), line
    assert lines[:2] == ["import datasets", "import evaluate"]


@pytest.mark.parametrize("name", NAMES)
def test_the_card_has_its_parts_and_runs(name: str) -> None:
    card = (METRICS / name / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# ")
    assert re.findall(r"^## (.*)$", card, flags=re.M) == [*CARD_PARTS[:-1], "Large runs", CARD_PARTS[-1]]
    assert _doctest(card, name) > 3


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_description_runs_and_names_every_key(name: str, loaded) -> None:
    metric = loaded[name]
    assert metric.name == name
    assert _doctest(metric.inputs_description, name, evaluate=evaluate) > 2
    card = (METRICS / name / "README.md").read_text(encoding="utf-8")
    for key in metric.compute(**inputs(name), **CALLS[name]["options"]):
        stem = re.sub(r"_at_\d+$", "_at_", re.sub(r"^n_claims_.*", "n_claims_", key))
        assert stem in metric.inputs_description.replace("_at_K", "_at_") or stem == "n_claims_", key
        assert stem.removeprefix("entailment_") in card.replace("_at_k", "_at_"), key


def _doctest(text: str, name: str, **names: object) -> int:
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    return result.attempted


@pytest.mark.parametrize("name", NAMES)
def test_results_are_flat_and_json(name: str, loaded) -> None:
    result = loaded[name].compute(**inputs(name, 3), **CALLS[name]["options"])
    assert {"n", "n_null", "n_vacuous", "signature"} <= set(result)
    assert all(value is None or isinstance(value, (bool, int, float, str)) for value in result.values())
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["signature"].startswith(f"{name}|version:1|")


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_give_no_score(name: str, loaded) -> None:
    empty = {key: [] for key in inputs(name)}
    result = loaded[name].compute(**empty, **CALLS[name]["options"])
    assert result["n"] == 0
    assert all(value is None for value in result.values() if isinstance(value, float))


def _bad_rows():
    for name in NAMES:
        for side in ("prediction", "reference"):
            for at, bad in enumerate(CALLS[name][f"bad_{side}s"]):
                yield pytest.param(name, side, bad, id=f"{name}-{side}-{at}")


@pytest.mark.parametrize(("name", "side", "bad"), list(_bad_rows()))
@pytest.mark.parametrize("position", [0, 2])
def test_every_row_is_checked_and_nothing_stays_behind(name: str, side: str, bad, position: int, loaded) -> None:
    metric, options = loaded[name], CALLS[name]["options"]
    given = inputs(name, 3)
    given[f"{side}s"][position] = bad
    with pytest.raises(TraceError, match=r"right shape|two different texts") as failure:
        metric.compute(**given, **options)
    assert f"[{position}]" in str(failure.value)
    good = metric.compute(**inputs(name, 2), **options)
    assert good == metric.compute(**inputs(name, 2), **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", ["text", None, 5, {"a": 1}])
def test_what_is_no_list_is_one_error(name: str, bad, loaded) -> None:
    with pytest.raises(TraceError):
        loaded[name].compute(**{**inputs(name), "predictions": bad}, **CALLS[name]["options"])


@pytest.mark.parametrize("name", [name for name in NAMES if CALLS[name]["reference"] is not None])
def test_lists_of_different_lengths_are_one_error(name: str, loaded) -> None:
    given = inputs(name, 2)
    given["references"] = given["references"][:1]
    with pytest.raises(TraceError, match="different lengths"):
        loaded[name].compute(**given, **CALLS[name]["options"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cgs", {"threshold": 80}),
        ("cgs", {"count": "all"}),
        ("grounding_score", {"threshold": "fuzzy"}),
        ("entailment_grounding", {"threshold": 2}),
        ("entailment_grounding", {"model": 5}),
        ("cgs_ent", {"quote_threshold": -1}),
        ("poi_recall", {"ks": [0]}),
        ("poi_recall", {"alternatives": [[], []]}),
        ("price_alignment", {"dialogue_ids": ["a", "b"]}),
        ("spatial_coherence", {"threshold_km": float("nan")}),
        ("task_success", {"mode": "turns"}),
    ],
)
def test_wrong_options_are_one_error_and_add_nothing(name: str, options, loaded) -> None:
    metric, good = loaded[name], CALLS[name]["options"]
    with pytest.raises(TraceError):
        metric.compute(**inputs(name), **{**good, **options})
    assert len(metric) == 0
    first = metric.compute(**inputs(name), **good)
    assert first == metric.compute(**inputs(name), **good)


def test_an_option_that_does_not_exist_adds_nothing(loaded) -> None:
    with pytest.raises(TypeError, match="treshold"):
        loaded["cgs"].compute(**inputs("cgs"), treshold=0.8)
    assert len(loaded["cgs"]) == 0


def test_a_configuration_is_refused() -> None:
    with pytest.raises(TraceError, match="no configuration"):
        evaluate.load(str(METRICS / "cgs"), "strict")


def test_nothing_to_score_is_one_error(fresh) -> None:
    with pytest.raises(TraceError, match="nothing to score"):
        fresh("cgs").compute()


def test_plain_texts_are_told_of_the_helper(loaded) -> None:
    with pytest.raises(TraceError, match=r"scoring\.rows"):
        loaded["cgs"].compute(predictions=["Try Blue Door."], references=[[]])
    result = loaded["cgs"].compute(predictions=rows(["Try Blue Door."]), references=[[]])
    assert (result["n"], result["pc"], result["n_vacuous_pc"]) == (1, 1.0, 1)
    for wrong in ((["a"], [True, False]), (["a"], ["yes"]), ("a", True), ([None], True)):
        with pytest.raises(TraceError):
            rows(*wrong)


def test_error_messages_hold_no_text(loaded) -> None:
    secret = "Nobody may print this review."
    given = {"predictions": [{"text": secret}], "references": [[]]}
    for bad in (given, {**given, "predictions": [secret]}, {"predictions": rows([""]), "references": [secret]}):
        with pytest.raises(TraceError) as failure:
            loaded["cgs"].compute(**bad)
        assert secret not in str(failure.value)


@pytest.mark.parametrize("name", NAMES)
def test_batches_and_single_rows_add_up(name: str, fresh) -> None:
    metric, options, given = fresh(name), CALLS[name]["options"], inputs(name, 3)
    wanted = metric.compute(**given, **options)
    metric.add_batch(**{key: column[:2] for key, column in given.items()})
    metric.add(**{key.removesuffix("s"): column[2] for key, column in given.items()})
    assert len(metric) == 3
    assert metric.compute(**options) == wanted


def test_combine_and_save(tmp_path: Path) -> None:
    together = evaluate.combine([str(METRICS / "grounding_score"), str(METRICS / "citation_density")])
    result = together.compute(**inputs("grounding_score", 2))
    assert result["grounding_score"] == 1.0
    assert result["citation_density"] > 0
    assert {"grounding_score_n", "citation_density_n"} <= set(result)
    composites = evaluate.combine([str(METRICS / "cgs"), str(METRICS / "provenance_coverage")])
    assert composites.compute(**inputs("cgs"))["provenance_coverage"] == 1.0
    file = evaluate.save(tmp_path / "scores.json", **result)
    assert json.loads(file.read_text())["grounding_score"] == 1.0


def test_other_containers_of_rows(loaded) -> None:
    import datasets
    import numpy as np

    wanted = loaded["grounding_score"].compute(**inputs("grounding_score", 2))
    given = inputs("grounding_score", 2)
    table = datasets.Dataset.from_dict(given)
    for predictions in (tuple(given["predictions"]), np.array(given["predictions"]), table["predictions"]):
        assert loaded["grounding_score"].compute(predictions=predictions, references=given["references"]) == wanted
    assert loaded["grounding_score"].compute(predictions=table["predictions"], references=table["references"]) == wanted


def test_relative_names_work_in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert evaluate.load("metrics/cgs").compute(**inputs("cgs"))["cgs"] == 1.0


def test_several_processes(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = [{root!r}, {tests!r}]\n"
        "import evaluate; from metric_examples import METRICS, inputs\n"
        "m = evaluate.load(str(METRICS / 'cgs'), num_process=2, process_id={process}, experiment_id='two',"
        " cache_dir={cache!r}, timeout=60)\n"
        "m.add_batch(**inputs('cgs', 2 + {process}))\n"
        "r = m.compute(); print(None if r is None else r['n'])"
    )
    names = {"root": str(ROOT), "tests": str(Path(__file__).parents[1]), "cache": str(tmp_path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code.format(process=process, **names)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for process in (0, 1)
    ]
    printed = [process.communicate(timeout=120)[0].split()[-1] for process in running]
    assert printed == ["5", "None"]


def test_all_reviews_of_the_pool_raise_nothing(loaded) -> None:
    text = 'Try it: "nobody rushed us" [R1].'
    cited = [{"label": "R1", "text": "Smoky and tender."}]
    pool = [*cited, {"label": "R2", "text": "We stayed two hours and nobody rushed us."}]
    for name, prediction in (("grounding_score", text), ("citation_density", text), ("cgs", rows([text])[0])):
        few, many = (loaded[name].compute(predictions=[prediction], references=[row]) for row in (cited, pool))
        assert few == many
        assert few.get("gs", 0.0) == few.get("cd", 0.0) == 0.0


def test_a_question_is_never_vacuously_covered(loaded) -> None:
    question = rows(["Which part of town do you prefer?"], recommends=False)
    assert loaded["cgs"].compute(predictions=question, references=[[]])["pc"] is None
    result = loaded["provenance_coverage"].compute(predictions=question)
    assert (result["provenance_coverage"], result["n"], result["n_null"], result["n_vacuous"]) == (None, 0, 1, 0)


def test_labels_that_do_not_resolve(loaded) -> None:
    row = rows(["A quiet patio [R99]."])
    metric = loaded["provenance_coverage"]
    assert metric.compute(predictions=row)["pc"] == 1.0
    assert metric.compute(predictions=row, references=[[]])["pc"] == 0.0
    assert loaded["cgs"].compute(predictions=row, references=[[]])["pc"] == 1.0
    assert loaded["cgs"].compute(predictions=row, references=[[]], resolvable_only=True)["pc"] == 0.0


def test_lone_surrogates_do_not_break_a_run(loaded) -> None:
    result = loaded["grounding_score"].compute(
        predictions=['It is "cut\ud83c off here" [R1]'], references=[[{"label": "R1", "text": "so cut\ud83c off here"}]]
    )
    assert result["grounding_score"] == 1.0
    assert loaded["poi_recall"].compute(predictions=[["\ud800"]], references=[["\ud800"]])["mrr"] == 1.0


def test_modules_give_what_the_plain_functions_give(loaded) -> None:
    draw = random.Random(11)
    parts = [
        '"nobody rushed us"',
        "[R1]",
        "[R2, R9]",
        "quiet",
        "parking",
        "“the patio”",
        "text",
        '"',
        "🌮",
        "\n",
        "[R99]",
    ]
    texts = [" ".join(draw.choices(parts, k=draw.randint(0, 9))) for _ in range(200)]
    flags = [draw.random() < 0.6 for _ in texts]
    reviews = [{"label": "R1", "text": "We sat on the patio and nobody rushed us."}, {"label": "R2", "text": "Loud."}]
    given = rows(texts, flags)
    flat, offsets, _ = cited_columns(texts, [reviews] * 200)
    columns = score_turns(texts, flat, offsets, flags)
    result = loaded["cgs"].compute(predictions=given, references=[reviews] * 200)
    assert result["cgs"] == cgs_corpus(list(zip(columns.gs, columns.cd, columns.pc, strict=True)))
    assert result["n_null"] == flags.count(False)
    for name, key in (("grounding_score", "gs"), ("citation_density", "cd")):
        assert loaded[name].compute(predictions=texts, references=[reviews] * 200)[key] == result[key]
    assert loaded["provenance_coverage"].compute(predictions=given)["pc"] == result["pc"]
    assert all(0 <= result[key] <= 1 for key in ("cgs", "cgs_mean_of_turns", "gs", "cd", "pc"))


def test_unlocated_places_and_odd_prices(loaded) -> None:
    places = [
        {"business_id": "a", "latitude": 0.0, "longitude": 179.999},
        {"business_id": "b", "latitude": 0.0, "longitude": -179.999},
        {"business_id": "c", "latitude": float("nan"), "longitude": 1.0},
        {"business_id": "d", "latitude": 95.0, "longitude": 1.0},
        {"business_id": "e", "latitude": None, "longitude": None},
    ]
    result = loaded["spatial_coherence"].compute(predictions=[places])
    assert (result["spatial_coherence"], result["n_unlocated"]) == (1.0, 3)
    prices = [["$$", "2", 2, 2.0, None, float("nan"), "None"]]
    assert loaded["price_alignment"].compute(predictions=prices, references=[["cheap"]])["price_alignment"] == 1.0


def test_dialogues_weigh_the_same_whatever_their_length(loaded) -> None:
    result = loaded["price_alignment"].compute(
        predictions=[[1], [1], [1], [4]], references=[["cheap"]] * 4, dialogue_ids=["a", "a", "a", "b"]
    )
    assert (result["price_alignment"], result["n"]) == (0.5, 2)


def test_turns_of_the_data_set_are_taken_as_they_are(loaded) -> None:
    turn = {"index": 3, "text": "secret", "quotes": [], "poi_ids": ["a"], "rejected_poi_ids": None}
    dialogue = [{**turn, "role": "system", "action": "recommend"}]
    assert loaded["task_success"].compute(predictions=[dialogue], references=[["a"]])["tsr"] == 1.0
