"""A small release folder, made by hand so that these tests need nothing above `hydrate`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hydrate import span_sha256
from tests.hydrate.helpers import identifier, review

TEXT = pa.string()
QUOTE = pa.struct(
    {
        "n": pa.int64(),
        "business_id": TEXT,
        "label": TEXT,
        "review_id": TEXT,
        "start": pa.int64(),
        "end": pa.int64(),
        "sha256": TEXT,
    }
)
TURN = pa.struct(
    {
        "index": pa.int64(),
        "role": TEXT,
        "text": TEXT,
        "quotes": pa.list_(QUOTE),
        "citations": pa.list_(pa.struct({"label": TEXT, "business_id": TEXT, "review_id": TEXT})),
    }
)
DIALOGUE = pa.schema({"dialogue_id": TEXT, "city": TEXT, "turns": pa.list_(TURN)}, metadata={b"made by": b"tests"})
REVIEW = pa.schema({"review_id": TEXT, "business_id": TEXT, "n_chars": pa.int64(), "sha256": TEXT, "text": TEXT})
KEPT = 12  # code points of a review that the benchmark keeps


def dialogue(number: int) -> dict[str, Any]:
    """Return a dialogue that quotes one review, once."""
    row = review(number)
    text = row["text"]
    start = text.index("so quiet")
    quote = {
        "n": 0,
        "business_id": row["business_id"],
        "label": "R1",
        "review_id": row["review_id"],
        "start": start,
        "end": start + 8,
        "sha256": span_sha256(text[start : start + 8]),
    }
    cited = {"label": "R1", "business_id": row["business_id"], "review_id": row["review_id"]}
    return {
        "dialogue_id": f"d{number:03}",
        "city": "Reno",
        "turns": [
            {"index": 0, "role": "user", "text": "Hello \\[Q:0]", "quotes": [], "citations": []},
            {"index": 1, "role": "system", "text": 'They say "[Q:0]" [R1].', "quotes": [quote], "citations": [cited]},
        ],
    }


def hydrated_text(number: int) -> list[str]:
    """Return the turns of a dialogue as they read hydrated."""
    return ["Hello [Q:0]", 'They say "so quiet" [R1].'] if number >= 0 else []


def review_row(number: int) -> dict[str, Any]:
    """Return a row of the reviews table."""
    row = review(number)
    return {
        "review_id": row["review_id"],
        "business_id": row["business_id"],
        "n_chars": KEPT,
        "sha256": span_sha256(row["text"][:KEPT]),
        "text": None,
    }


def write_release(folder: Path, numbers: range = range(20)) -> Path:
    """Write a release folder whose manifest is right."""
    (folder / "dialogues").mkdir(parents=True)
    for split, part in (("train", numbers[:14]), ("validation", numbers[14:17]), ("test", numbers[17:])):
        table = pa.Table.from_pylist([dialogue(number) for number in part], schema=DIALOGUE)
        pq.write_table(table, folder / "dialogues" / f"{split}.parquet")
    pq.write_table(
        pa.Table.from_pylist([review_row(number) for number in numbers], schema=REVIEW), folder / "reviews.parquet"
    )
    pq.write_table(pa.table({"business_id": [identifier("place 1")]}), folder / "pois.parquet")
    (folder / "README.md").write_text("---\nconfigs: []\n---\nA release.\n")
    write_manifest(folder)
    return folder


def write_manifest(folder: Path) -> None:
    """Write the manifest of what is there."""
    files = {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "manifest.json"
    }
    (folder / "manifest.json").write_text(json.dumps({"files": files, "bundle_fingerprint": "f" * 64}))
