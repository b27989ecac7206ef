"""From stored responses to stored scores: every metric that needs only responses and gold, by turn and by dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import orjson

from trace_dataset.evaluation.columns import (
    DialogueColumns,
    TurnColumns,
    dialogue_columns,
    turn_columns,
)
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.results import DIALOGUE_METRICS, Results
from trace_dataset.evaluation.run_folder import RunFolder, write_whole
from trace_dataset.evaluation.score_parts import Columns, score_in_parts
from trace_dataset.evaluation.variants import VARIANTS_VERSION, dialogue_variants, turn_variants
from trace_dataset.kb import KnowledgeBase
from trace_dataset.release import Benchmark
from trace_dataset.retrieval import place_facts
from trace_dataset.schema import Dialogue
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.scoring.module import SCORES_VERSION
from trace_dataset.scoring.practical import price_alignment, spatial_coherence
from trace_dataset.scoring.ranking import multi_ref_recall_at_k, recall_at_k, reciprocal_rank
from trace_dataset.scoring.recovery import recovery_counts, t2r, tsr
from trace_dataset.scoring.text import bleu4, rouge_l

SCORES = "scores.json"
Column = list[float | None]


def score_run(run: RunFolder, benchmark: Benchmark, workers: int = 1) -> Results:
    """Score a run, or read the scores that are stored for the same responses and metric version.

    Args:
        workers: local processes; the scores are the same for any number.

    Raises:
        BundleError: the run is unfinished, or belongs to another benchmark.
    """
    run.check_whole()
    stored = stored_scores(run)
    if stored is not None and stored.versions == versions():
        return stored
    split = None if run.settings["split"] == "all" else str(run.settings["split"])
    dialogues = benchmark.split(split)[: run.settings["limit"]]
    scored = score_in_parts(run, dialogues, partial(columns_of_scores, benchmark=benchmark), workers)
    results = Results(run.settings, *scored, versions())
    content = {
        "run": run.fingerprint,
        "responses": run.response_digest(),
        "versions": results.versions,
        "turns": results.turns,
        "dialogues": results.dialogues,
    }
    write_whole(run.folder / SCORES, orjson.dumps(content))
    return results


def score_responses(
    settings: Mapping[str, Any],
    dialogues: Sequence[Dialogue],
    responses: Sequence[StoredResponse],
    benchmark: Benchmark,
) -> Results:
    """Score responses to the system turns of dialogues; raises `BundleError` where a turn has none."""
    return Results(settings, *columns_of_scores(dialogues, responses, benchmark), versions())


def columns_of_scores(
    dialogues: Sequence[Dialogue], responses: Sequence[StoredResponse], benchmark: Benchmark
) -> tuple[Columns, Columns]:
    """Return the columns of system turns and those of dialogues; a value depends on its own dialogue alone."""
    columns = turn_columns(dialogues, responses, benchmark.texts)
    by_dialogue = dialogue_columns(dialogues, columns)
    turns = {**turn_variants(columns), **turn_scores(columns, benchmark.kb)}
    rows = {
        **dialogue_variants(by_dialogue, benchmark.kb),
        **dialogue_scores(by_dialogue, benchmark.kb),
        **dialogue_groups(dialogues, benchmark.split_of),
    }
    return turns, rows


def stored_scores(run: RunFolder) -> Results | None:
    """Return the scores that are stored for a run's responses, of whatever version; None where there are none.

    A folder of scores alone, without responses, is taken at its word.
    """
    try:
        values = orjson.loads((run.folder / SCORES).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return None
    if not isinstance(values, dict) or values.get("run") != run.fingerprint:
        return None
    if (run.folder / "responses").is_dir() and (run.missing() or values.get("responses") != run.response_digest()):
        return None
    return Results(run.settings, values["turns"], values["dialogues"], values["versions"])


def versions() -> dict[str, Any]:
    """Return what decides a score besides the responses; results of different versions are not comparable."""
    return {"scores": SCORES_VERSION, "variants": VARIANTS_VERSION, "rapidfuzz": version("rapidfuzz")}


def dialogue_groups(dialogues: Sequence[Dialogue], split_of: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return what tables are broken down by, one entry a dialogue."""
    return {
        "difficulty": [item.difficulty for item in dialogues],
        "city": [item.city for item in dialogues],
        "poi_type": [item.poi_type for item in dialogues],
        "persona": [item.persona for item in dialogues],
        "split": [split_of[item.dialogue_id] for item in dialogues],
    }


def turn_scores(columns: TurnColumns, kb: KnowledgeBase) -> dict[str, list[Any]]:
    """Return one value a system turn for every turn metric; None where it is undefined."""
    ground = score_turns(columns.texts, columns.cited_reviews, columns.offsets, columns.recommends)
    rows = list(zip(columns.predicted, columns.gold, columns.alternatives, strict=True))
    ranked = list(zip(columns.rankings, columns.gold, strict=True))
    pairs = list(zip(columns.reference_texts, columns.texts, strict=True))
    preference = preference_scores(columns, kb)
    return {
        "dialogue_id": columns.dialogue_ids,
        "turn_index": columns.turn_indexes,
        "action": columns.actions,
        "failed": columns.failed,
        "recall_at_1": [recall_at_k(predicted, gold, k=1) for predicted, gold, _ in rows],
        "recall_at_3": [recall_at_k(predicted, gold, k=3) for predicted, gold, _ in rows],
        "mrr": [reciprocal_rank(predicted, gold) for predicted, gold, _ in rows],
        "recall_at_1_multi": [
            multi_ref_recall_at_k(predicted, gold, other, k=1) if gold else None for predicted, gold, other in rows
        ],
        "ranking_recall_at_3": [recall_at_k(ranking, gold, k=3) for ranking, gold in ranked],
        "bleu4": [bleu4(reference, text) for reference, text in pairs],
        "rouge_l": [rouge_l(reference, text) for reference, text in pairs],
        **{name: _missed(getattr(ground, name), columns) for name in ("gs", "cd", "pc", "cgs")},
        "n_quotes": [int(count) for count in ground.n_quotes],
        "price_alignment": [
            price_alignment(said, [kb.pois[place].price for place in predicted]) if asked else None
            for said, predicted, asked in zip(columns.user_turns, columns.predicted, columns.recommends, strict=True)
        ],
        "preference_coverage": preference,
    }


def _missed(values: Sequence[float | None], columns: TurnColumns) -> Column:
    """Return a grounding column in which a turn without an answer is a miss, not a vacuous 1."""
    return [
        0.0 if failed and value is not None else value for value, failed in zip(values, columns.failed, strict=True)
    ]


def preference_scores(columns: TurnColumns, kb: KnowledgeBase) -> Column:
    """Return preference coverage (M13) of every recommending turn; terms of a place are found once."""
    terms: dict[str, frozenset[str]] = {}
    wishes: dict[str, frozenset[str]] = {}
    values: Column = []
    for said, predicted, asked in zip(columns.user_turns, columns.predicted, columns.recommends, strict=True):
        for text in said:
            if text not in wishes:
                wishes[text] = frozenset(find_terms(text))
        wanted = frozenset().union(*(wishes[text] for text in said)) if said else frozenset()
        if not asked or not wanted:
            values.append(None)
            continue
        for place in predicted:
            if place not in terms:
                terms[place] = frozenset(find_terms(place_facts(kb, place)))
        there = frozenset().union(*(terms[place] for place in predicted)) if predicted else frozenset()
        values.append(len(wanted & there) / len(wanted))
    return values


def dialogue_scores(columns: DialogueColumns, kb: KnowledgeBase) -> dict[str, list[Any]]:
    """Return one value a dialogue for every dialogue metric, and hits and episodes for rejection recovery."""
    scores: dict[str, list[Any]] = {"dialogue_id": columns.dialogue_ids, **{name: [] for name in DIALOGUE_METRICS}}
    for turns, gold, places in zip(columns.turns, columns.gold, columns.places, strict=True):
        scores["tsr"].append(tsr(turns, gold))
        scores["t2r"].append(t2r(turns, gold, misses="length"))
        scores["t2r_hits"].append(t2r(turns, gold, misses="drop"))
        episodes = sum(1 for turn in turns if turn["action"] == "reject_and_refine")
        scores["rejections"].append(episodes)
        for name, without in (("recovered", True), ("recovered_literal", False)):
            scores[name].append(recovery_counts(turns, gold, exclude_rejected=without)[0])
        located = [[place, kb.pois[place].latitude, kb.pois[place].longitude] for place in places]
        scores["spatial_coherence"].append(spatial_coherence(located))
    return scores
