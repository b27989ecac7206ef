"""What identifies a bundle's content, equal for a folder and every kind of archive of the same files.

A fingerprint costs one read of the whole bundle, so it is remembered in the user's cache by real path, size, time of
change and inode of the bundle's files. What is remembered wrongly, or cannot be remembered, is computed again.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.cache import cache_dir
from hydrate.writing import whole_file

RELEASE_ROWS = {"business": 150_346, "checkin": 131_930, "review": 6_990_280, "tip": 908_915, "user": 1_987_897}
_VERSION = 1
_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Of one table: number of lines, decompressed bytes, SHA256 of these bytes in hexadecimal; `name` in its bundle."""

    rows: int
    bytes: int
    sha256: str
    name: str = field(default="", compare=False)

    @classmethod
    def of(cls, stream: Any, name: str = "", progress: Callable[[int], None] | None = None) -> TableInfo:
        """Read a table's bytes through."""
        total, rows, size, last = hashlib.sha256(), 0, 0, b"\n"
        buffer = bytearray(_BUFFER)
        while count := stream.readinto(buffer):
            total.update(memoryview(buffer)[:count])
            rows += buffer.count(b"\n", 0, count)
            size += count
            last = builtins.bytes(buffer[count - 1 : count])
            if progress:
                progress(stream.base.tell())
        return cls(rows + (last != b"\n"), size, total.hexdigest(), name)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`digest` is the SHA256 over (table, rows, bytes, sha256) of every table, sorted by name."""

    digest: str
    tables: Mapping[str, TableInfo]

    @property
    def remark(self) -> str:
        """What the row counts say beside those of Yelp's current release; empty for a bundle that is none of it.

        A file that was cut off exactly at the end of a line shows nowhere else.
        """
        found = {table: info.rows for table, info in self.tables.items() if table in RELEASE_ROWS}
        if not any(rows == RELEASE_ROWS[table] for table, rows in found.items()):
            return ""
        short = [
            f"{table} has {rows:,} rows instead of {RELEASE_ROWS[table]:,}"
            for table, rows in found.items()
            if rows != RELEASE_ROWS[table]
        ]
        if not short:
            return "row counts are those of Yelp's current release"
        return f"some row counts are those of Yelp's current release, but {', '.join(short)}: a file may be incomplete"


@dataclass(frozen=True, slots=True)
class Signature:
    """How the files behind a bundle stood: (real path, size, time of change in nanoseconds, inode) of each."""

    files: tuple[tuple[str, int, int, int], ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Signature:
        """Look at the files; one that is gone counts as empty."""
        found = []
        for path in sorted(paths):
            size = changed = inode = 0
            with contextlib.suppress(OSError):
                status = path.stat()
                size, changed, inode = status.st_size, status.st_mtime_ns, status.st_ino
            found.append((str(path.resolve()), size, changed, inode))
        return cls(tuple(found))

    @property
    def memory(self) -> Path:
        """Where a fingerprint for these files is remembered."""
        names = "\0".join(name for name, *_ in self.files)
        return (
            cache_dir()
            / "fingerprints"
            / f"{hashlib.sha256(names.encode(errors='surrogateescape')).hexdigest()[:32]}.json"
        )


def combine(tables: Mapping[str, TableInfo]) -> Fingerprint:
    """Return the fingerprint of a bundle with these tables."""
    lines = [f"{name}\t{info.rows}\t{info.bytes}\t{info.sha256}\n" for name, info in sorted(tables.items())]
    return Fingerprint(hashlib.sha256("".join(lines).encode()).hexdigest(), dict(sorted(tables.items())))


def recall(signature: Signature) -> Fingerprint | None:
    """Return the remembered fingerprint of files that have not changed since; None for anything doubtful."""
    try:
        known = json.loads(signature.memory.read_bytes())
        if known["version"] != _VERSION or known["files"] != [list(file) for file in signature.files]:
            return None
        fingerprint = combine(
            {
                table: TableInfo(int(rows), int(size), str(sha256), str(name))
                for table, (rows, size, sha256, name) in known["tables"].items()
            }
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return fingerprint if fingerprint.digest == known["digest"] else None


def remember(signature: Signature, fingerprint: Fingerprint) -> None:
    """Remember a fingerprint; where the cache cannot be written, it will be computed again next time."""
    tables = {table: [info.rows, info.bytes, info.sha256, info.name] for table, info in fingerprint.tables.items()}
    known = {"version": _VERSION, "files": signature.files, "tables": tables, "digest": fingerprint.digest}
    with contextlib.suppress(OSError), whole_file(signature.memory) as part:
        part.write_text(json.dumps(known, indent=1))
