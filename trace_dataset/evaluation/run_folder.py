"""A run on disk: what was run (`run.json`), and its responses in shards that appear whole or not at all.

run.json                      fingerprint, and the settings that it is a digest of
responses/00000.parquet       the answers to a hundred dialogues; its metadata hold the fingerprint
responses/00001.part.jsonl    the answers so far to a shard under way
scores.json                   scores of exactly these responses
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import BaseFileLock, FileLock, Timeout

from hydrate.errors import BundleError, StorageError, UsageError
from trace_dataset.evaluation.responses import SHARD_SCHEMA, StoredResponse, response_of, response_row
from trace_dataset.evaluation.results import settings_digest
from trace_dataset.streams import digest

FINGERPRINT = b"trace_run"  # key of a shard's metadata
HALF_WRITTEN = ".half-"
LOCK_WAIT = 5.0  # seconds: the workers of a killed run need some to notice


@dataclass(frozen=True)
class RunFolder:
    """A folder of one baseline on one pool and split."""

    folder: Path
    settings: Mapping[str, Any]

    @functools.cached_property
    def fingerprint(self) -> str:
        """Digest of everything that the responses depend on: baseline, parameters, data and code."""
        return settings_digest(self.settings)

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> RunFolder:
        """Open a folder for a run, or continue the one that is there.

        Raises:
            UsageError: the folder holds responses of another baseline, benchmark, version or parameters.
            StorageError: the folder cannot be written.
        """
        run = cls(folder, settings)
        path = folder / "run.json"
        try:
            (folder / "responses").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{folder} cannot be written: {error.strerror}", do="choose another --out") from error
        there = _description(path)
        if there is not None:
            if there["fingerprint"] != run.fingerprint:
                earlier = there["settings"]
                differs = sorted(key for key in {*earlier, *settings} if earlier.get(key) != settings.get(key))
                raise UsageError(
                    f"{folder} holds a run that differs in {', '.join(differs)}",
                    do="give another --out, or remove that folder",
                )
            return run
        if any((folder / "responses").glob("[0-9]*.parquet")):
            raise UsageError(
                f"{folder} holds responses without the description of their run (run.json is missing or damaged)",
                do="give another --out, or remove that folder",
            )
        values = {"fingerprint": run.fingerprint, "settings": settings}
        write_whole(path, orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        return run

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> RunFolder:
        """Open a run that exists; raises `BundleError` where the folder holds none."""
        there = _description(Path(folder) / "run.json")
        if there is None:
            raise BundleError(
                f"{folder} holds no run: run.json is missing or damaged",
                do="give a folder that `trace-dataset run` wrote",
            )
        return cls(Path(folder), there["settings"])

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder alone, and clear away what a killed run left half-written.

        A run that was killed gives the folder back as soon as its last worker has gone.

        Raises:
            UsageError: another process is writing this run.
        """
        lock = _acquired(self.folder / ".lock", self.folder)
        try:
            for path in (self.folder / "responses").glob(f"{HALF_WRITTEN}*"):
                path.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def shard(self, number: int) -> Path:
        """Return the path of one shard."""
        return self.folder / "responses" / f"{number:05d}.parquet"

    def part(self, number: int) -> Path:
        """Return the path of the answers to a shard that is not finished."""
        return self.folder / "responses" / f"{number:05d}.part.jsonl"

    def has_shard(self, number: int) -> bool:
        """Return whether a shard of this run is there and whole; any other is answered anew."""
        try:
            metadata = pq.ParquetFile(self.shard(number)).schema_arrow.metadata or {}
        except (OSError, pa.ArrowException):
            return False
        return bool(metadata.get(FINGERPRINT) == self.fingerprint.encode())

    def write_shard(self, number: int, responses: Iterable[StoredResponse]) -> None:
        """Write one shard by an atomic rename; its part is no longer needed then."""
        schema = SHARD_SCHEMA.with_metadata({FINGERPRINT: self.fingerprint})
        table = pa.Table.from_pylist([response_row(item) for item in responses], schema=schema)
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
        write_whole(self.shard(number), sink.getvalue().to_pybytes())
        self.part(number).unlink(missing_ok=True)

    def missing(self) -> list[int]:
        """Return the numbers of the shards that are missing, damaged, or of another run."""
        return [number for number in range(int(self.settings["shards"])) if not self.has_shard(number)]

    def check_whole(self) -> None:
        """Raise `BundleError` where shards are missing."""
        wanted, missing = int(self.settings["shards"]), self.missing()
        if missing:
            raise BundleError(
                f"{self.folder} is unfinished: {len(missing)} of {wanted} shards are missing or damaged",
                do="run the same `trace-dataset run` command again; it goes on where it stopped",
            )

    def responses(self) -> list[StoredResponse]:
        """Return all responses, in the order of the run; raises `BundleError` where shards are missing or damaged."""
        self.check_whole()
        wanted = int(self.settings["shards"])
        return [answer for number in range(wanted) for answer in self.shard_responses(number)]

    def shard_responses(self, number: int) -> list[StoredResponse]:
        """Return the responses of one shard; raises `BundleError` where it cannot be read."""
        try:
            rows = pq.read_table(self.shard(number), page_checksum_verification=True).to_pylist()
        except (OSError, pa.ArrowException):
            raise BundleError(
                f"{self.shard(number)} is missing or damaged", do="remove that file and run the same command again"
            ) from None
        return [response_of(row) for row in rows]

    def first_dialogue(self, number: int) -> str | None:
        """Return the id of the dialogue that a shard begins with; None where it cannot be read, or is empty."""
        try:
            found = pq.read_table(self.shard(number), columns=["dialogue_id"])["dialogue_id"]
        except (OSError, pa.ArrowException):
            return None
        return str(found[0]) if len(found) else None

    def reopen(self, number: int, answers: Iterable[StoredResponse]) -> None:
        """Turn a finished shard into one under way that holds these answers alone."""
        rows = [orjson.dumps(response_row(item), option=orjson.OPT_APPEND_NEWLINE) for item in answers]
        write_whole(self.part(number), b"".join([part_header(self), *rows]))
        self.shard(number).unlink()

    def response_digest(self) -> str:
        """Return a digest of the stored responses themselves, which scores are kept under."""
        parts = [hashlib.sha256(self.shard(n).read_bytes()).digest() for n in range(int(self.settings["shards"]))]
        return digest(*parts).hex()[:32]


class Part:
    """The answers to a shard under way, one JSON line each: a kill loses no finished answer, and none is asked for twice.

    A last line that was torn is cut off; a file of another run is begun anew. A worker that outlives its run by a moment holds
    the part until it has gone (the run's own lock does not reach it: a lock is not inherited by a forked process).
    """

    def __init__(self, run: RunFolder, number: int) -> None:
        self._path = run.part(number)
        self._lock = _acquired(self._path.with_name(f".{self._path.name}.lock"), run.folder)
        header = part_header(run)
        try:
            data = self._path.read_bytes() if self._path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]
            lines = whole.splitlines(keepends=True)
            self.answers = _answers(lines[1:]) if lines[:1] == [header] else []
            kept = b"".join(lines[: len(self.answers) + 1]) if self.answers else header
            if kept != data:
                self._path.write_bytes(kept)
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise _cannot_write(self._path, error) from error

    def append(self, answer: StoredResponse) -> None:
        """Write an answer; it is in the file when this returns."""
        try:
            self._file.write(orjson.dumps(response_row(answer), option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise _cannot_write(self._path, error) from error

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release()


def _acquired(path: Path, folder: Path) -> BaseFileLock:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=LOCK_WAIT)
    except Timeout:
        raise UsageError(
            f"another process is writing {folder}", do="wait until it has ended, or give another --out"
        ) from None
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return lock


def part_header(run: RunFolder) -> bytes:
    """Return the first line of a part."""
    return orjson.dumps({"fingerprint": run.fingerprint}, option=orjson.OPT_APPEND_NEWLINE)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place and rename it there; on an error nothing is left."""
    name = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{HALF_WRITTEN}{path.name}-", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> StorageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StorageError(
        f"{path} cannot be written: {error.strerror or error}",
        do=f"{'free some space' if full else 'clear the way'}; the same command goes on where this one stopped",
    )


def _description(path: Path) -> dict[str, Any] | None:
    try:
        values = orjson.loads(path.read_bytes())
        return values if isinstance(values["settings"], dict) and isinstance(values["fingerprint"], str) else None
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _answers(lines: Iterable[bytes]) -> list[StoredResponse]:
    """Return the answers of a part up to the first line that is none: a crash of the machine may tear more than the last."""
    answers = []
    for line in lines:
        try:
            answers.append(response_of(orjson.loads(line)))
        except (orjson.JSONDecodeError, KeyError, TypeError):
            break
    return answers
