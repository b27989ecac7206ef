"""From stored responses to stored scores: every metric that needs only responses and gold, by turn and by dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from trace_dataset.evaluation.columns import (
    DialogueColumns,
    TurnColumns,
    dialogue_columns,
    turn_columns,
)
from trace_dataset.evaluation.results import DIALOGUE_METRICS, Results
from trace_dataset.evaluation.run_folder import RunFolder, write_whole
from trace_dataset.kb import KnowledgeBase
from trace_dataset.release import Benchmark
from trace_dataset.retrieval import place_facts
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.scoring.module import SCORES_VERSION
from trace_dataset.scoring.practical import price_alignment, spatial_coherence
from trace_dataset.scoring.ranking import multi_ref_recall_at_k, recall_at_k, reciprocal_rank
from trace_dataset.scoring.recovery import recovery_counts, t2r, tsr
from trace_dataset.scoring.text import bleu4, rouge_l
from trace_dataset.streams import digest

COLUMNS_VERSION = 2  # rises when this module changes what is scored; SCORES_VERSION when a metric changes
Column = list[float | None]


def score_run(run: RunFolder, benchmark: Benchmark) -> Results:
    """Score a run, or read the scores that are stored for the same responses and metric version.

    Raises:
        BundleError: the run is unfinished, or belongs to another benchmark.
    """
    path = run.folder / "scores.json"
    key = digest(run.fingerprint, COLUMNS_VERSION, SCORES_VERSION).hex()[:32]
    stored = _stored(path, key)
    if stored is not None:
        return Results(run.settings, stored["turns"], stored["dialogues"])
    split = None if run.settings["split"] == "all" else str(run.settings["split"])
    dialogues = benchmark.split(split)[: run.settings["limit"]]
    turns = turn_columns(dialogues, run.responses(), benchmark.texts)
    by_dialogue = dialogue_columns(dialogues, turns)
    results = Results(run.settings, turn_scores(turns, benchmark.kb), dialogue_scores(by_dialogue, benchmark.kb))
    write_whole(path, orjson.dumps({"key": key, "turns": results.turns, "dialogues": results.dialogues}))
    return results


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


def _stored(path: Path, key: str) -> Mapping[str, Any] | None:
    try:
        values = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return None
    return values if isinstance(values, dict) and values.get("key") == key else None
