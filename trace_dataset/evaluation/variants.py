"""What a reviewer asks about a score: the same responses under other thresholds, windows and distances (definitions, 9).

These columns are stored beside the scores, so that a sensitivity table needs neither a model nor the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trace_dataset.evaluation.columns import DialogueColumns, TurnColumns
from trace_dataset.kb import KnowledgeBase
from trace_dataset.scoring.entailment import CATEGORIES, sentence_category
from trace_dataset.scoring.grounding import WINDOW, grounding_score, provenance_coverage, score_turns
from trace_dataset.scoring.practical import THRESHOLD_KM, spatial_coherence
from trace_dataset.scoring.ranking import recall_at_k
from trace_dataset.scoring.text import split_sentences, tokenize

VARIANTS_VERSION = 1  # rises when a column is added or changed
THRESHOLDS: dict[str, float | str] = {"gs_70": 0.70, "gs_80": 0.80, "gs_90": 0.90, "gs_exact": "exact"}
WINDOWS = {"pc_20": 20, "pc_40": 40, "pc_80": WINDOW, "pc_120": 120, "pc_160": 160}
DISTANCES = {"km_1": 1.0, "km_1_5": 1.5, "km_2": THRESHOLD_KM, "km_3": 3.0, "km_5": 5.0}
SENTENCES = {category: f"sentences_{category}" for category in CATEGORIES}


def turn_variants(columns: TurnColumns) -> dict[str, list[Any]]:
    """Return one entry a system turn: GS by threshold, PC by window, CD of all quotes, sentences by category.

    A turn without an answer is a miss in all of them, as in the scores; sentences are counted on recommending turns.
    """
    exact = score_turns(
        columns.texts, columns.cited_reviews, columns.offsets, columns.recommends, threshold="exact", count="quoted"
    )
    found: dict[str, list[Any]] = {
        "n_quotes": [int(count) for count in exact.n_quotes],
        "vacuous_pc": list(exact.vacuous_pc),
        "has_alternatives": [
            bool(other) and bool(gold) for other, gold in zip(columns.alternatives, columns.gold, strict=True)
        ],
        "cd_quoted": list(exact.cd),
        "ranking_recall_at_16": [
            recall_at_k(ranking, gold, k=16) for ranking, gold in zip(columns.rankings, columns.gold, strict=True)
        ],
    }
    for name, threshold in THRESHOLDS.items():
        found[name] = [
            0.0 if failed else value if value == 1.0 or threshold == "exact" else _grounding(columns, at, threshold)
            for at, (value, failed) in enumerate(zip(exact.gs, columns.failed, strict=True))
        ]
    for name, window in WINDOWS.items():
        found[name] = [
            None if not asked else 0.0 if failed else provenance_coverage(text, window=window)
            for text, asked, failed in zip(columns.texts, columns.recommends, columns.failed, strict=True)
        ]
    found |= _sentences(columns)
    return found


def dialogue_variants(columns: DialogueColumns, kb: KnowledgeBase) -> dict[str, list[Any]]:
    """Return one entry a dialogue: spatial coherence by distance."""
    located = [
        [[place, kb.pois[place].latitude, kb.pois[place].longitude] for place in places] for places in columns.places
    ]
    return {
        name: [spatial_coherence(places, threshold_km=distance) for places in located]
        for name, distance in DISTANCES.items()
    }


def _grounding(columns: TurnColumns, at: int, threshold: float | str) -> float:
    cited = columns.cited_reviews[columns.offsets[at] : columns.offsets[at + 1]]
    return grounding_score(columns.texts[at], cited, threshold)


def _sentences(columns: TurnColumns) -> dict[str, list[Any]]:
    kinds: dict[str, str] = {}
    counts: list[dict[str, int] | None] = []
    for text, asked in zip(columns.texts, columns.recommends, strict=True):
        sentences = [part for part in split_sentences(text) if tokenize(part)] if asked else []
        counts.append(_count(sentences, kinds) if asked else None)
    return {
        name: [None if count is None else count[category] for count in counts] for category, name in SENTENCES.items()
    }


def _count(sentences: Sequence[str], kinds: dict[str, str]) -> dict[str, int]:
    count = dict.fromkeys(CATEGORIES, 0)
    for sentence in sentences:
        if sentence not in kinds:
            kinds[sentence] = sentence_category(sentence)
        count[kinds[sentence]] += 1
    return count
