"""The one place where dialogues and responses become columns of plain values, so gold sets and turn masks are built once.

Turn gold: the place that the reference turn recommends first. Dialogue gold: every place that a recommend or compare turn of
the reference names. REC turns: system turns whose reference action is recommend or compare; ALL: every system turn
(definitions, section 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydrate.errors import BundleError
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.stored import restore_text
from trace_dataset.schema import RECOMMENDING, Dialogue, Turn
from trace_dataset.scoring.text import parse_citations


@dataclass(frozen=True)
class TurnColumns:
    """One entry a system turn, in the order of the run."""

    dialogue_ids: list[str]
    turn_indexes: list[int]
    actions: list[str]
    recommends: list[bool]
    failed: list[bool]
    texts: list[str]
    reference_texts: list[str]
    cited_reviews: list[str]
    offsets: list[int]
    predicted: list[tuple[str, ...]]
    rankings: list[tuple[str, ...]]
    gold: list[tuple[str, ...]]
    alternatives: list[tuple[str, ...]]
    user_turns: list[list[str]]


@dataclass(frozen=True)
class DialogueColumns:
    """One entry a dialogue. `turns` are the reference turns with the system's places in `pred`."""

    dialogue_ids: list[str]
    turns: list[list[dict[str, Any]]]
    gold: list[tuple[str, ...]]
    places: list[tuple[str, ...]]


def turn_columns(
    dialogues: Sequence[Dialogue], responses: Sequence[StoredResponse], texts: Mapping[str, str]
) -> TurnColumns:
    """Return the columns of a run; raises `BundleError` where a system turn has no response."""
    by_turn = {(item.dialogue_id, item.turn_index): item for item in responses}
    columns = TurnColumns([], [], [], [], [], [], [], [], [0], [], [], [], [], [])
    for dialogue in dialogues:
        said: list[str] = []
        for turn in dialogue.turns:
            if turn.role == "user":
                said.append(turn.text)
                continue
            response = by_turn.get((dialogue.dialogue_id, turn.index))
            if response is None:
                raise BundleError(
                    f"the run has no response for dialogue {dialogue.dialogue_id}, turn {turn.index}",
                    do="run the baseline again over the same split",
                )
            _add_turn(columns, dialogue, turn, response, list(said), texts)
    return columns


def dialogue_columns(dialogues: Sequence[Dialogue], turns: TurnColumns) -> DialogueColumns:
    """Return the dialogue-level columns that belong to turn columns."""
    named = dict(zip(zip(turns.dialogue_ids, turns.turn_indexes, strict=True), turns.predicted, strict=True))
    columns = DialogueColumns([], [], [], [])
    for dialogue in dialogues:
        rows = [
            {
                "role": turn.role,
                "action": turn.action,
                "pred": list(named[dialogue.dialogue_id, turn.index]) if turn.role == "system" else [],
                "rejected": list(turn.rejected_poi_ids),
            }
            for turn in dialogue.turns
        ]
        columns.dialogue_ids.append(dialogue.dialogue_id)
        columns.turns.append(rows)
        columns.gold.append(dialogue_gold(dialogue))
        columns.places.append(
            tuple(dict.fromkeys(place for row in rows if row["action"] in RECOMMENDING for place in row["pred"]))
        )
    return columns


def dialogue_gold(dialogue: Dialogue) -> tuple[str, ...]:
    """Return every place that a recommending turn of the reference names, in order of first mention."""
    return tuple(
        dict.fromkeys(
            place
            for turn in dialogue.turns
            if turn.role == "system" and turn.action in RECOMMENDING
            for place in turn.poi_ids
        )
    )


def _add_turn(
    columns: TurnColumns,
    dialogue: Dialogue,
    turn: Turn,
    response: StoredResponse,
    said: list[str],
    texts: Mapping[str, str],
) -> None:
    text = restore_text(response.text, texts)
    standing = set(parse_citations(text))
    cited = dict.fromkeys(
        item.review_id for item in response.citations if int(item.label[1:]) in standing and item.review_id in texts
    )
    columns.dialogue_ids.append(dialogue.dialogue_id)
    columns.turn_indexes.append(turn.index)
    columns.actions.append(turn.action)
    columns.recommends.append(turn.action in RECOMMENDING)
    columns.failed.append(response.error is not None)
    columns.texts.append(text)
    columns.reference_texts.append(turn.text)
    columns.cited_reviews.extend(texts[review] for review in cited)
    columns.offsets.append(len(columns.cited_reviews))
    columns.predicted.append(response.poi_ids)
    columns.rankings.append(response.ranking)
    columns.gold.append(turn.gold_poi_ids if turn.action in RECOMMENDING else ())
    columns.alternatives.append(turn.alternative_poi_ids)
    columns.user_turns.append(said)
