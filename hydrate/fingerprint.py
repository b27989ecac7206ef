"""What identifies a bundle's content, equal for a folder and every kind of archive of the same files."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableInfo:
    """Of one table: number of lines, decompressed bytes, SHA256 of these bytes in hexadecimal."""

    rows: int
    bytes: int
    sha256: str

    @classmethod
    def of(cls, blocks: Iterable[builtins.bytes]) -> TableInfo:
        """Read a table's bytes through."""
        total, rows, size, last = hashlib.sha256(), 0, 0, b"\n"
        for block in blocks:
            total.update(block)
            rows += block.count(b"\n")
            size += len(block)
            last = block[-1:] or last
        return cls(rows + (last != b"\n"), size, total.hexdigest())


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`digest` is the SHA256 over (table, rows, bytes, sha256) of every table, sorted by name."""

    digest: str
    tables: Mapping[str, TableInfo]


def combine(tables: Mapping[str, TableInfo]) -> Fingerprint:
    """Return the fingerprint of a bundle with these tables."""
    lines = [f"{name}\t{info.rows}\t{info.bytes}\t{info.sha256}\n" for name, info in sorted(tables.items())]
    return Fingerprint(hashlib.sha256("".join(lines).encode()).hexdigest(), dict(sorted(tables.items())))
