"""A journal of paid work: one JSON line a record, appended and flushed, so that a killed run goes on where it stopped.

The first line holds the settings of the run; a journal of other settings is refused. A last line that a crash tore is cut off.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hydrate.errors import StorageError, UsageError

FORMAT = 1


class Journal:
    """Records by key, in order; made or taken up by opening it.

    Args:
        path: the file; its folder is made if it does not exist.
        settings: everything that the records depend on besides their key; JSON values.

    Attributes:
        repaired: whether a torn last line was cut off.

    Raises:
        UsageError: the journal was written with other settings, or another process has it open.
        StorageError: the file cannot be written, or a line other than the last is damaged.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
        >>> with Journal(path, {"model": "a"}) as journal: journal.append("item-1", {"text": "hello"})
        >>> with Journal(path, {"model": "a"}) as journal: journal.records("item-1")
        [{'text': 'hello'}]
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path).expanduser()
        self.repaired = False
        self._records: dict[str, list[dict[str, Any]]] = {}
        self._thread_lock = threading.Lock()
        self._lock = FileLock(f"{self.path}.lock")
        self._file: Any = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise UsageError(
                f"another run is writing {self.path}", do="wait for it to end, or name another journal"
            ) from None
        except OSError as error:
            raise self._cannot(error) from error
        try:
            self._take_up(json.loads(json.dumps(dict(settings))))
        except BaseException:
            self.close()
            raise

    def _take_up(self, settings: dict[str, Any]) -> None:
        try:
            data = self.path.read_bytes() if self.path.exists() else b""
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self.path, whole)
                self.repaired = True
            self._file = self.path.open("ab", buffering=0)
        except OSError as error:
            raise self._cannot(error) from error
        lines = data[:whole].splitlines()
        if not lines:
            self._write({"trace_journal": FORMAT, "settings": settings})
            return
        self._compare(self._parsed(lines[0], 1), settings)
        for number, line in enumerate(lines[1:], 2):
            record = self._parsed(line, number)
            self._records.setdefault(record.pop("key", ""), []).append(record)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise StorageError(
                f"{self.path}, line {number}: not a record of a journal", do="name another journal"
            ) from None
        return value

    def _compare(self, header: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        if header.get("trace_journal") != FORMAT:
            raise StorageError(f"{self.path} is no journal of this version", do="name another journal")
        earlier = header.get("settings", {})
        differing = sorted(name for name in {*earlier, *settings} if earlier.get(name) != settings.get(name))
        if differing:
            raise UsageError(
                f"the journal {self.path} was written with other settings: {', '.join(differing)} differ",
                do="name another journal, or go on with the settings it was begun with",
            )

    def records(self, key: str) -> list[dict[str, Any]]:
        """Return what was recorded under a key, oldest first."""
        with self._thread_lock:
            return [dict(record) for record in self._records.get(key, ())]

    def append(self, key: str, record: Mapping[str, Any]) -> None:
        """Write a record; it is in the file when this returns."""
        with self._thread_lock:
            self._write({"key": key, **record})
            self._records.setdefault(key, []).append(dict(record))

    def _write(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
        try:
            self._file.write(line)
        except OSError as error:
            raise self._cannot(error) from error

    def _cannot(self, error: OSError) -> StorageError:
        return StorageError(
            f"the journal {self.path} cannot be written: {error.strerror or error}",
            do="name a file in a folder that can be written to",
        )

    def close(self) -> None:
        """Close the file and let other runs have it."""
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
