"""Files of records: JSON lines (also gzipped) and parquet, told apart by their bytes; pyarrow is loaded for parquet only."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from hydrate.cache import local_path
from hydrate.errors import BundleError, UsageError
from hydrate.jsonlines import BYTE_ORDER_MARK, parse_object
from hydrate.streams import GZIP, reading

_PARQUET = b"PAR1"
_ROWS_A_GROUP = 250


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the records of a JSON-lines or parquet file.

    Raises:
        BundleError: there is no such file, or it is neither, with the line where it stops being JSON lines.
    """
    with reading(str(path)), path.open("rb") as file:
        head = file.read(len(_PARQUET))
        file.seek(0)
        if head == _PARQUET:
            return _parquet_rows(file, path)
        lines: Iterable[bytes] = gzip.GzipFile(fileobj=file) if head.startswith(GZIP) else file
        rows = []
        for number, line in enumerate(lines, 1):
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if line.strip():
                try:
                    rows.append(parse_object(line)[0])
                except ValueError as error:
                    raise BundleError(
                        f"{path} line {number:,}: {error}", do="give a file of JSON lines or parquet"
                    ) from None
        return rows


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], like: Path | None = None) -> None:
    """Write records in the form of the file `like`, or as the name says: parquet for `.parquet`, else JSON lines.

    Parquet keeps the types of `like`. The file is written where it is named; see `writing.whole_file` for doing so safely.
    """
    if _is_parquet(like) if like else path.name.endswith(".parquet"):
        _write_parquet(path, list(rows), like)
        return
    packed = _head(like).startswith(GZIP) if like else path.name.endswith(".gz")
    with path.open("wb") as file:
        target = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) if packed else file
        for row in rows:
            target.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        if target is not file:
            target.close()


def read_texts(
    path: str | Path, id_field: str = "id", text_field: str = "text", *, only: Collection[str] | None = None
) -> dict[str, str]:
    """Return id to text from a JSON-lines or parquet file, for `hydrate(…, fields=…)` and `dehydrate(…, fields=…)`.

    Args:
        only: leave out all other ids.

    Raises:
        BundleError: the file cannot be read.
        UsageError: a record lacks one of the two fields.
    """
    texts: dict[str, str] = {}
    rows = read_rows(local_path(path))
    if not rows:
        raise BundleError(f"{path} holds no texts", do="give the file with the licensed texts")
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get(text_field), str) or not isinstance(row.get(id_field), (str, int)):
            raise UsageError(
                f"{path} record {number:,} has no {id_field} or no {text_field}; it has {', '.join(sorted(row))}",
                do="name the fields with id_field=… and text_field=…",
            )
        key = str(row[id_field])
        if (only is None or key in only) and texts.setdefault(key, row[text_field]) != row[text_field]:
            raise BundleError(
                f"{path} record {number:,}: {key} stands twice with different text", do="keep one of them"
            )
    return texts


def _is_parquet(path: Path) -> bool:
    return _head(path) == _PARQUET


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_PARQUET))


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("parquet files need pyarrow", do="pip install pyarrow, or use JSON lines") from None
    return pyarrow


def _parquet_rows(file: BinaryIO, path: Path) -> list[dict[str, Any]]:
    arrow = _arrow()
    try:
        rows: list[dict[str, Any]] = arrow.parquet.read_table(file).to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise BundleError(f"{path} cannot be read as parquet: {error}", do="build or download it again") from None
    return rows


def _write_parquet(path: Path, rows: list[Mapping[str, Any]], like: Path | None) -> None:
    arrow = _arrow()
    schema = arrow.parquet.read_schema(like) if like is not None and _is_parquet(like) else None
    table = arrow.Table.from_pylist(rows, schema=schema)
    arrow.parquet.write_table(table, path, row_group_size=_ROWS_A_GROUP, compression="zstd")
