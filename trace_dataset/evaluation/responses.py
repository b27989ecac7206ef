"""Responses as rows: what a shard's table and a part's lines hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from trace_dataset.evaluation.stored import Edit, StoredSpan, StoredText
from trace_dataset.schema import Citation

_STRINGS = pa.list_(pa.string())
SHARD_SCHEMA = pa.schema(
    [
        ("dialogue_id", pa.string()),
        ("turn_index", pa.int64()),
        ("action", pa.string()),
        ("template", pa.string()),
        (
            "spans",
            pa.list_(
                pa.struct(
                    [
                        ("n", pa.int64()),
                        ("review_id", pa.string()),
                        ("start", pa.int64()),
                        ("end", pa.int64()),
                        (
                            "edits",
                            pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())])),
                        ),
                    ]
                )
            ),
        ),
        ("sha256", pa.string()),
        ("poi_ids", _STRINGS),
        ("dropped_poi_ids", _STRINGS),
        (
            "citations",
            pa.list_(pa.struct([("label", pa.string()), ("business_id", pa.string()), ("review_id", pa.string())])),
        ),
        ("ranking", _STRINGS),
        ("usage", pa.string()),
        ("error", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """One answer as stored. `error` says why there is none; such a turn is scored as a miss."""

    dialogue_id: str
    turn_index: int
    action: str
    text: StoredText
    poi_ids: tuple[str, ...]
    dropped_poi_ids: tuple[str, ...]
    citations: tuple[Citation, ...]
    ranking: tuple[str, ...]
    usage: Mapping[str, float]
    error: str | None


def response_row(item: StoredResponse) -> dict[str, Any]:
    """Return a response as plain values, as shards and parts hold it."""
    return {
        "dialogue_id": item.dialogue_id,
        "turn_index": item.turn_index,
        "action": item.action,
        "template": item.text.template,
        "sha256": item.text.sha256,
        "spans": [
            {
                "n": span.n,
                "review_id": span.review_id,
                "start": span.start,
                "end": span.end,
                "edits": [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in span.edits],
            }
            for span in item.text.spans
        ],
        "poi_ids": list(item.poi_ids),
        "dropped_poi_ids": list(item.dropped_poi_ids),
        "citations": [
            {"label": c.label, "business_id": c.business_id, "review_id": c.review_id} for c in item.citations
        ],
        "ranking": list(item.ranking),
        "usage": orjson.dumps(dict(item.usage)).decode(),
        "error": item.error,
    }


def response_of(row: Mapping[str, Any]) -> StoredResponse:
    """Rebuild a response from its row; the inverse of `response_row`."""
    spans = tuple(
        StoredSpan(
            span["n"], span["review_id"], span["start"], span["end"], tuple(Edit(**edit) for edit in span["edits"])
        )
        for span in row["spans"]
    )
    return StoredResponse(
        row["dialogue_id"],
        row["turn_index"],
        row["action"],
        StoredText(row["template"], spans, row["sha256"]),
        tuple(row["poi_ids"]),
        tuple(row["dropped_poi_ids"]),
        tuple(Citation(**item) for item in row["citations"]),
        tuple(row["ranking"]),
        orjson.loads(row["usage"]),
        row["error"],
    )
