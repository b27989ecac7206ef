"""Results made by hand: a few dialogues with stated values, without a bundle or a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from trace_dataset.evaluation.results import Results, settings_digest
from trace_dataset.evaluation.score import versions
from trace_dataset.evaluation.variants import DISTANCES, SENTENCES, THRESHOLDS, WINDOWS

Turn = dict[str, Any]
NO_RECOMMENDATION = {
    "recall_at_1": None, "recall_at_3": None, "mrr": None, "recall_at_1_multi": None, "ranking_recall_at_3": None,
    "pc": None, "cgs": None, "price_alignment": None, "preference_coverage": None,
}  # fmt: skip


def turn(hit: float | None = 0.0, **values: Any) -> Turn:
    """A recommending turn that hits or not; None for a turn that does not recommend."""
    base: Turn = {
        "action": "recommend", "failed": False, "recall_at_1": hit, "recall_at_3": hit, "mrr": hit,
        "recall_at_1_multi": hit, "ranking_recall_at_3": hit, "bleu4": 0.1, "rouge_l": 0.2, "gs": 1.0, "cd": 0.4,
        "pc": 0.5, "cgs": 0.75, "n_quotes": 1, "price_alignment": None, "preference_coverage": 0.5,
        "vacuous_pc": False, "has_alternatives": False, "cd_quoted": 0.4, "ranking_recall_at_16": hit,
        **dict.fromkeys(THRESHOLDS, 1.0), **dict.fromkeys(WINDOWS, 0.5), **dict.fromkeys(SENTENCES.values(), 1),
    }  # fmt: skip
    if hit is None:
        base |= {**NO_RECOMMENDATION, "action": "greet", "cd": 0.0, "n_quotes": 0, **dict.fromkeys(SENTENCES.values())}
        base |= dict.fromkeys(WINDOWS)
    return base | values


def dialogue(**values: Any) -> dict[str, Any]:
    """A dialogue's own values."""
    base = {
        "tsr": 1.0, "t2r": 3.0, "t2r_hits": 3.0, "rejections": 1, "recovered": 1, "recovered_literal": 1,
        "spatial_coherence": 0.5, "difficulty": "easy", "city": "Reno", "poi_type": "hotel", "persona": "p",
        "split": "test", **dict.fromkeys(DISTANCES, 0.5),
    }  # fmt: skip
    return base | values


def results(
    name: str,
    turns: Sequence[Sequence[Turn]],
    dialogues: Sequence[dict[str, Any]] | None = None,
    scored: dict[str, Any] | None = None,
    **settings: Any,
) -> Results:
    """Results of one run: for each dialogue its turns, and its own values."""
    every = {
        "baseline": name, "bundle_fingerprint": "b" * 64, "code": "c" * 16, "content_digest": "d" * 64,
        "control": False, "dialogues": len(turns), "limit": None, "pool": "closed", "seed": 42,
        "session_isolated": True, "shards": 1, "split": "all", "version": "e" * 16,
    } | settings  # fmt: skip
    rows = [
        {"dialogue_id": f"t-{at}", "turn_index": 2 * i + 1, **one}
        for at, mine in enumerate(turns)
        for i, one in enumerate(mine)
    ]
    own = [{"dialogue_id": f"t-{at}", **item} for at, item in enumerate(dialogues or [dialogue() for _ in turns])]
    columns = {"dialogue_id": None, "turn_index": None, **turn()}
    return Results(
        every,
        {key: [row[key] for row in rows] for key in columns},
        {key: [row[key] for row in own] for key in {"dialogue_id": None, **dialogue()}},
        versions() | (scored or {}),
    )


def hits(name: str, values: Sequence[Sequence[float | None]], **settings: Any) -> Results:
    """Results whose turns hit as stated."""
    return results(name, [[turn(value) for value in mine] for mine in values], **settings)


def folder(result: Results, path: Path) -> Path:
    """Write a run folder that holds only settings and scores, which is all that a report of numbers reads."""
    path.mkdir(parents=True)
    fingerprint = settings_digest(result.settings)
    (path / "run.json").write_bytes(orjson.dumps({"fingerprint": fingerprint, "settings": result.settings}))
    content = {
        "run": fingerprint,
        "versions": result.versions,
        "turns": result.turns,
        "dialogues": result.dialogues,
    }
    (path / "scores.json").write_bytes(orjson.dumps(content))
    return path
