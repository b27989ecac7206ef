"""Parquet in and out, with the types of `schema.features` and row groups small enough to share out among workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hydrate.errors import BundleError
from trace_dataset import schema

ROWS_PER_GROUP = 250


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], config: str) -> None:
    """Write rows of a config (`dialogues`, `pois`, `reviews`) as one parquet file."""
    features = schema.features(config)
    table = pa.Table.from_pylist(list(rows), schema=features.arrow_schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=ROWS_PER_GROUP, compression="zstd")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return all rows of a parquet file as dictionaries; raises `BundleError` for a file that is none."""
    return [row for group in range(group_count(path)) for row in read_group(path, group)]


def read_group(path: Path, group: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of one row group."""
    yield from _open(path).read_row_group(group).to_pylist()


def group_count(path: Path) -> int:
    """Return the number of row groups of a parquet file."""
    return int(_open(path).num_row_groups)


def _open(path: Path) -> Any:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise BundleError(
            f"{path} cannot be read as parquet: {error}", do="build or download the release again"
        ) from None
