"""Scores of responses that a system of one's own wrote: what the columns allow, and for the rest what it would take.

With a benchmark, golds, user turns and places come from there. Without one, each comes from the rows, and no Yelp data is
needed. The functions are those that score a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydrate.errors import BundleError
from trace_dataset.evaluation.answers import Fault, clean_response, reason
from trace_dataset.evaluation.columns import DialogueColumns, TurnColumns
from trace_dataset.evaluation.mentions import scored_places
from trace_dataset.evaluation.own_responses import Row, present
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.evaluation.score import dialogue_scores, score_responses, turn_scores, versions
from trace_dataset.evaluation.stored import PoolReviews, store_text
from trace_dataset.kb import KnowledgeBase
from trace_dataset.release import Benchmark
from trace_dataset.schema import POI, RECOMMENDING, Citation, Dialogue, Review, Turn
from trace_dataset.scoring.text import parse_citations
from trace_dataset.turns import Response

GOLD = ("action", "poi_ids", "reference_poi_ids")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "recall_at_1": GOLD,
    "recall_at_3": GOLD,
    "mrr": GOLD,
    "recall_at_1_multi": (*GOLD, "alternative_poi_ids"),
    "ranking_recall_at_3": ("action", "ranking", "reference_poi_ids"),
    "bleu4": ("reference_text",),
    "rouge_l": ("reference_text",),
    "gs": ("citations.text",),
    "cd": ("citations.text",),
    "pc": ("action", "citations.text"),
    "cgs": ("action", "citations.text"),
    "cgs_mean_of_turns": ("action", "citations.text"),
    "price_alignment": ("action", "poi_ids", "user_turns", "places.price"),
    "preference_coverage": ("action", "poi_ids", "user_turns", "places.facts"),
    "tsr": GOLD,
    "t2r": GOLD,
    "t2r_hits": GOLD,
    "rejection_recovery": (*GOLD, "rejected_poi_ids"),
    "rejection_recovery_literal": (*GOLD, "rejected_poi_ids"),
    "spatial_coherence": ("action", "poi_ids", "places.latitude", "places.longitude"),
}
ELSEWHERE: Mapping[str, str] = {
    "entailment_grounding": "an NLI model: evaluate.load('trace/entailment_grounding')",
    "cgs_ent": "an NLI model: evaluate.load('trace/cgs_ent')",
    "judge ratings (5)": "a judge model: trace_dataset.evaluation.judge",
    "human metrics (4)": "annotators: trace-dataset report --annotations",
}


@dataclass(frozen=True)
class OwnScores:
    """What was computed, and why the rest was not. `notes` say what the figures rest on."""

    results: Results
    estimates: Mapping[str, Estimate]
    missing: Mapping[str, str]
    notes: tuple[str, ...]


def score_alone(rows: Sequence[Row], name: str) -> OwnScores:
    """Score rows by their own columns, without a benchmark."""
    there = present(rows)
    turns = _turn_columns(rows)
    kb = _places(rows)
    settings = {
        "baseline": name,
        "dialogues": len(dict.fromkeys(turns.dialogue_ids)),
        "pool": "unknown",
        "control": False,
    }
    results = Results(settings, turn_scores(turns, kb), dialogue_scores(_dialogue_columns(rows), kb), versions())
    lacking = {
        metric: "columns " + ", ".join(column for column in needs if column not in there)
        for metric, needs in NEEDS.items()
        if not there.issuperset(needs)
    }
    estimates = {metric: value for metric, value in results.estimates().items() if metric not in lacking}
    return OwnScores(
        results, estimates, {**lacking, **ELSEWHERE}, (f"{len(rows):,} turns, scored by their own columns",)
    )


def score_against(rows: Sequence[Row], benchmark: Benchmark, name: str) -> OwnScores:
    """Score rows against a benchmark. Of every dialogue that has a row each system turn counts, a missing one as a miss.

    Raises:
        BundleError: a row belongs to no system turn of the benchmark.
    """
    dialogues = {item.dialogue_id: item for item in benchmark.dialogues}
    by_turn = {(row["dialogue_id"], row["turn_index"]): row for row in rows}
    for dialogue_id, index in by_turn:
        dialogue = dialogues.get(dialogue_id)
        if dialogue is None or index >= len(dialogue.turns) or dialogue.turns[index].role != "system":
            raise BundleError(
                f"dialogue {dialogue_id}, turn {index} is no system turn of this benchmark",
                do="name the release, seed and size that the responses were written for",
            )
    chosen = [item for item in benchmark.dialogues if any(key[0] == item.dialogue_id for key in by_turn)]
    asked = [(item, turn) for item in chosen for turn in item.turns if turn.role == "system"]
    answers = [_stored(item, turn, by_turn.get((item.dialogue_id, turn.index)), benchmark) for item, turn in asked]
    settings = {"baseline": name, "dialogues": len(chosen), "pool": "unknown", "control": False}
    results = score_responses(settings, chosen, answers, benchmark)
    lost = len(asked) - len(by_turn)
    notes = (
        f"{len(chosen):,} of {len(dialogues):,} dialogues of the benchmark {benchmark.release.manifest.content_digest[:12]}",
        f"{len(asked):,} system turns, {lost:,} without a row, {results.n_failed:,} without an answer, which are misses",
    )
    there = present(rows)
    lacking = {
        metric: "columns "
        + ", ".join(column for column in ("poi_ids", "ranking") if column in needs and column not in there)
        for metric, needs in NEEDS.items()
        if {"poi_ids", "ranking"} & set(needs) - there
    }
    if "citations" not in there:
        lacking |= dict.fromkeys(("gs", "cd", "pc", "cgs", "cgs_mean_of_turns"), "column citations")
    estimates = {metric: value for metric, value in results.estimates().items() if metric not in lacking}
    return OwnScores(results, estimates, {**lacking, **ELSEWHERE}, notes)


def _stored(dialogue: Dialogue, turn: Turn, row: Row | None, benchmark: Benchmark) -> StoredResponse:
    cell = benchmark.kb.cells[dialogue.city, dialogue.poi_type]
    try:
        if row is None:
            raise Fault("there is no row for this turn")
        cited = [_citation(item, benchmark.kb) for item in row.get("citations") or ()]
        places, ranking = tuple(row.get("poi_ids") or ()), tuple(row.get("ranking") or ())
        given = Response(row["text"], places, tuple(item for item in cited if item), ranking)
        response = clean_response(given, frozenset(cell), ())
    except Fault as fault:
        response = Response("", error=reason(str(fault)))
    named, dropped = scored_places(
        response.text, response.poi_ids, {place: benchmark.kb.pois[place].name for place in response.poi_ids}
    )
    text = store_text(response, PoolReviews.of(()), benchmark.finder)
    return StoredResponse(
        dialogue.dialogue_id,
        turn.index,
        turn.action,
        text,
        named,
        dropped,
        response.citations,
        response.ranking,
        {},
        response.error,
    )


def _citation(item: Mapping[str, Any], kb: KnowledgeBase) -> Citation | None:
    review = kb.reviews.get(item.get("review_id") or "")
    return None if review is None else Citation(item["label"], review.business_id, review.review_id)


def _turn_columns(rows: Sequence[Row]) -> TurnColumns:
    columns = TurnColumns([], [], [], [], [], [], [], [], [0], [], [], [], [], [])
    for row in rows:
        standing = set(parse_citations(row["text"]))
        texts = {item["label"]: item["text"] for item in row.get("citations") or () if item.get("text") is not None}
        recommends = row.get("action") in RECOMMENDING
        columns.dialogue_ids.append(row["dialogue_id"])
        columns.turn_indexes.append(row["turn_index"])
        columns.actions.append(row.get("action") or "")
        columns.recommends.append(recommends)
        columns.failed.append(not row["text"].strip())
        columns.texts.append(row["text"])
        columns.reference_texts.append(row.get("reference_text") or "")
        columns.cited_reviews.extend(text for label, text in texts.items() if int(label[1:]) in standing)
        columns.offsets.append(len(columns.cited_reviews))
        columns.predicted.append(tuple(dict.fromkeys(row.get("poi_ids") or ())))
        columns.rankings.append(tuple(dict.fromkeys(row.get("ranking") or ())))
        columns.gold.append(tuple(row.get("reference_poi_ids") or ())[:1] if recommends else ())
        columns.alternatives.append(tuple(row.get("alternative_poi_ids") or ()))
        columns.user_turns.append(list(row.get("user_turns") or ()))
    return columns


def _dialogue_columns(rows: Sequence[Row]) -> DialogueColumns:
    """Return dialogues put together from their rows: a user's turn stands before each, a rejection if it turned places down."""
    columns = DialogueColumns([], [], [], [])
    for dialogue_id in dict.fromkeys(row["dialogue_id"] for row in rows):
        own = sorted((row for row in rows if row["dialogue_id"] == dialogue_id), key=lambda row: int(row["turn_index"]))
        turns: list[dict[str, Any]] = []
        for row in own:
            rejected = list(row.get("rejected_poi_ids") or ())
            said = "reject_and_refine" if rejected else "inform"
            turns.append({"role": "user", "action": said, "pred": [], "rejected": rejected})
            named = list(dict.fromkeys(row.get("poi_ids") or ()))
            turns.append({"role": "system", "action": row.get("action") or "", "pred": named, "rejected": []})
        recommending = [row for row in own if row.get("action") in RECOMMENDING]
        columns.dialogue_ids.append(dialogue_id)
        columns.turns.append(turns)
        columns.gold.append(_union(recommending, "reference_poi_ids"))
        columns.places.append(tuple(place for place in _union(recommending, "poi_ids")))
    return columns


def _union(rows: Sequence[Row], column: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place for row in rows for place in row.get(column) or ()))


def _places(rows: Sequence[Row]) -> KnowledgeBase:
    """Return the places that the rows name, with what they say of them."""
    known: dict[str, dict[str, Any]] = {place: {} for row in rows for place in row.get("poi_ids") or ()}
    for row in rows:
        for item in row.get("places") or ():
            known.setdefault(item["business_id"], {}).update(
                {key: value for key, value in item.items() if value is not None}
            )
    pois = [
        POI(place, "", "", "", "", "", item.get("latitude"), item.get("longitude"), (), 0.0, 0, item.get("price"))
        for place, item in known.items()
    ]
    facts = [(place, item["facts"]) for place, item in known.items() if "facts" in item]
    return KnowledgeBase.from_tables(pois, [Review(place, place, len(text), "", text) for place, text in facts])
