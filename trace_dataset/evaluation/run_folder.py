"""A run on disk: what was run (`run.json`), and its responses in shards that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from hydrate.errors import BundleError, StorageError, UsageError
from trace_dataset.evaluation.results import settings_digest
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


@dataclass(frozen=True)
class RunFolder:
    """A folder of one baseline on one pool and split."""

    folder: Path
    settings: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """Digest of everything that the responses depend on."""
        return settings_digest(self.settings)

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> RunFolder:
        """Open a folder for a run, or continue the one that is there.

        Raises:
            UsageError: the folder holds responses of another baseline, benchmark, version or parameters.
        """
        run = cls(folder, settings)
        path = folder / "run.json"
        try:
            (folder / "responses").mkdir(parents=True, exist_ok=True)
            if path.exists():
                there = orjson.loads(path.read_bytes())
                if there["fingerprint"] != run.fingerprint:
                    differs = sorted(
                        key
                        for key in {*there["settings"], *settings}
                        if there["settings"].get(key) != settings.get(key)
                    )
                    raise UsageError(
                        f"{folder} holds a run that differs in {', '.join(differs)}",
                        do="give another --out, or remove that folder",
                    )
            else:
                write_whole(
                    path,
                    orjson.dumps(
                        {"fingerprint": run.fingerprint, "settings": settings},
                        option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS,
                    ),
                )
        except OSError as error:
            raise StorageError(f"{folder} cannot be written: {error.strerror}", do="choose another --out") from error
        return run

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> RunFolder:
        """Open a run that exists; raises `BundleError` where the folder holds none."""
        path = Path(folder) / "run.json"
        try:
            return cls(Path(folder), orjson.loads(path.read_bytes())["settings"])
        except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
            raise BundleError(
                f"{folder} holds no run: {path.name} is missing or damaged",
                do="give a folder that `trace-dataset run` wrote",
            ) from None

    def shard(self, number: int) -> Path:
        """Return the path of one shard."""
        return self.folder / "responses" / f"{number:05d}.parquet"

    def has_shard(self, number: int) -> bool:
        """Return whether a shard is there and whole; a damaged one is answered anew."""
        try:
            return pq.ParquetFile(self.shard(number)).metadata is not None
        except (OSError, pa.ArrowException):
            return False

    def write_shard(self, number: int, responses: Iterable[StoredResponse]) -> None:
        """Write one shard by an atomic rename."""
        table = pa.Table.from_pylist([_row(item) for item in responses], schema=SHARD_SCHEMA)
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        write_whole(self.shard(number), sink.getvalue().to_pybytes())

    def responses(self) -> list[StoredResponse]:
        """Return all responses, in the order of the run; raises `BundleError` where shards are missing."""
        wanted = int(self.settings["shards"])
        missing = [number for number in range(wanted) if not self.has_shard(number)]
        if missing:
            raise BundleError(
                f"{self.folder} is unfinished: {len(missing)} of {wanted} shards are missing or damaged",
                do="run the same `trace-dataset run` command again; it goes on where it stopped",
            )
        return [answer for number in range(wanted) for answer in self.shard_responses(number)]

    def shard_responses(self, number: int) -> list[StoredResponse]:
        """Return the responses of one shard that is there, in the order of the run."""
        return [_response(row) for row in pq.read_table(self.shard(number)).to_pylist()]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it there; on an error nothing is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise StorageError(f"{path} cannot be written: {error.strerror}", do="free some space") from error


def _row(item: StoredResponse) -> dict[str, Any]:
    spans: Sequence[StoredSpan] = item.text.spans
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
            for span in spans
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


def _response(row: Mapping[str, Any]) -> StoredResponse:
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
