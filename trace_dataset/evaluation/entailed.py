"""Entailment grounding of a run's stored responses, kept beside its scores: what a model says is computed once (M10).

entailment.json    for each turn the best probability of each claim, and what kind of sentence it is; numbers, never text
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from trace_dataset.evaluation.columns import TurnColumns, turn_columns
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder, write_whole
from trace_dataset.release import Benchmark
from trace_dataset.scoring.entailment import THRESHOLD, EntailmentModel, entailment_grounding, score_entailment
from trace_dataset.scoring.module import SCORES_VERSION

ENTAILMENT = "entailment.json"
PROBABILITIES, CATEGORIES = "claim_probabilities", "claim_categories"


def score_entailed(
    run: RunFolder, benchmark: Benchmark, model: EntailmentModel, limit: int | None = None
) -> Mapping[str, Any]:
    """Score the claims of a run with a model; what is stored of the same model and responses is read, and added to.

    Args:
        limit: only the first dialogues; the paper takes 1,000 for systems that ask a language model. More that is stored
            already is kept.

    Returns:
        `model`, `limit`, and by turn (in the order of the run) probabilities and categories; None beyond the limit.
    """
    stored = stored_entailment(run)
    stored = stored if stored is not None and stored["model"] == model.name else None
    if stored is not None and (stored["limit"] is None or (limit is not None and limit <= stored["limit"])):
        return stored
    split = None if run.settings["split"] == "all" else str(run.settings["split"])
    dialogues = benchmark.split(split)[: run.settings["limit"]]
    columns = turn_columns(dialogues, run.responses(), benchmark.texts)
    wanted = {item.dialogue_id for item in dialogues[:limit]}
    rows: list[list[float] | None] = [None] * len(columns.texts) if stored is None else list(stored[PROBABILITIES])
    kinds: list[list[str] | None] = [None] * len(columns.texts) if stored is None else list(stored[CATEGORIES])
    chosen = [at for at, name in enumerate(columns.dialogue_ids) if name in wanted and rows[at] is None]
    premises, offsets = _premises(columns, chosen, benchmark)
    found = score_entailment([columns.texts[at] for at in chosen], premises, offsets, model)
    for place, at in enumerate(chosen):
        rows[at] = [round(float(value), 6) for value in found.probabilities[place]]
        kinds[at] = found.categories[place]
    content = {
        "run": run.fingerprint,
        "responses": run.response_digest(),
        "version": SCORES_VERSION,
        "model": model.name,
        "limit": limit,
        PROBABILITIES: rows,
        CATEGORIES: kinds,
    }
    write_whole(run.folder / ENTAILMENT, orjson.dumps(content))
    return content


def stored_entailment(run: RunFolder) -> Mapping[str, Any] | None:
    """Return what is stored of the claims of these responses by this version of the metric; None where there is nothing.

    A folder of scores alone, without responses, is taken at its word.
    """
    try:
        values = orjson.loads((run.folder / ENTAILMENT).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return None
    if not isinstance(values, dict) or (values.get("run"), values.get("version")) != (run.fingerprint, SCORES_VERSION):
        return None
    if (run.folder / "responses").is_dir() and (run.missing() or values.get("responses") != run.response_digest()):
        return None
    return values


def with_entailment(result: Results, run: RunFolder) -> Results:
    """Return results with the stored claims as turn columns, and the model among the versions; as they are without any."""
    stored = stored_entailment(run)
    if stored is None or len(stored[PROBABILITIES]) != len(result.turns["dialogue_id"]):
        return result
    turns = {**result.turns, **{name: stored[name] for name in (PROBABILITIES, CATEGORIES)}}
    return replace(result, turns=turns, entailment=str(stored["model"]))


def entailment_column(result: Results, threshold: float = THRESHOLD) -> list[float | None]:
    """Return entailment grounding of each turn; a turn without an answer is a miss, one without claims has no value."""
    claims: Sequence[Sequence[float] | None] = result.turns[PROBABILITIES]
    return [
        None if group is None else 0.0 if failed else entailment_grounding([[value] for value in group], threshold)
        for group, failed in zip(claims, result.turns["failed"], strict=True)
    ]


def _premises(columns: TurnColumns, chosen: Sequence[int], benchmark: Benchmark) -> tuple[list[str], list[int]]:
    """Return the reviews of the places that each turn names, cited ones first."""
    premises: list[str] = []
    offsets = [0]
    for at in chosen:
        cited = columns.cited_reviews[columns.offsets[at] : columns.offsets[at + 1]]
        named = [
            benchmark.texts[review]
            for place in columns.predicted[at]
            for review in benchmark.kb.reviews_of[place]
            if review in benchmark.texts
        ]
        premises += list(dict.fromkeys([*cited, *named]))
        offsets.append(len(premises))
    return premises, offsets
