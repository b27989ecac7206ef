"""The leaderboard's data: verified rows only, and which of them belong into one table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
MARKER = "trace.json"  # written by the publisher: the SHA256 of every file it put into the Space
WRITERS = {"trace-template": "template-written", "trace-lm": "LM-written"}
TIERS = ("all", "easy", "medium", "hard", "expert")
_VERIFIED = re.compile(r"[0-9a-f]{64}")
_NEEDED = ("system", "family", "benchmark", "pool", "split", "scores", "scores_version")


@dataclass(frozen=True)
class Score:
    """A mean with its 95 % interval over dialogues, over n units; None where nothing was measured."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True)
class Entry:
    """One system in one table."""

    system: str
    family: str
    origin: str
    control: bool
    dialogues: int
    failed: int
    submission: str
    scores: Mapping[str, Score]


@dataclass(frozen=True, order=True)
class Setting:
    """What all rows of a table have in common besides the pool; rows that differ in it never share a table."""

    benchmark: str
    split: str
    limit: str
    scores_version: str


@dataclass(frozen=True)
class Board:
    """A leaderboard: its benchmarks by digest, its rows, how many were left out as not verified, and what is wrong with it."""

    benchmarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    n_left_out: int = 0
    fault: str = ""

    def settings(self) -> list[Setting]:
        """Return the tables that there are; those with most systems first."""
        found: dict[Setting, int] = {}
        for row in self.rows:
            found[_setting(row)] = found.get(_setting(row), 0) + 1
        return sorted(found, key=lambda setting: (-found[setting], setting))

    def pools(self, setting: Setting) -> list[str]:
        """Return the pools that were run, smallest first."""
        names = {str(row["pool"]) for row in self.rows if _setting(row) == setting}
        return sorted(names, key=lambda name: (_pool_size(name), name))

    def families(self, setting: Setting) -> list[str]:
        """Return the families of systems, without the controls."""
        return sorted({str(row["family"]) for row in self.rows if _setting(row) == setting and not row.get("control")})

    def entries(
        self, setting: Setting, pool: str, tier: str = "all", families: Iterable[str] | None = None
    ) -> list[Entry]:
        """Return the rows of a table. Controls are always among them: a score means little without chance beside it.

        Args:
            tier: `all`, or a difficulty; systems without scores for it are left out.
            families: None for all.
        """
        wanted = None if families is None else set(families)
        chosen = []
        for row in self.rows:
            fits = _setting(row) == setting and str(row["pool"]) == pool
            if fits and (row.get("control") or wanted is None or str(row["family"]) in wanted):
                part = row if tier == "all" else (row.get("tiers") or {}).get(tier)
                if isinstance(part, Mapping) and isinstance(part.get("scores"), Mapping):
                    chosen.append(_entry(row, part))
        return chosen

    def describe(self, setting: Setting) -> str:
        """Return a setting in words: who wrote the dialogues, how many, which benchmark."""
        about = self.benchmarks.get(setting.benchmark) or {}
        writer = WRITERS.get(str(about.get("generator")), "of unknown writer")
        count = (about.get("counts") or {}).get("dialogues")
        parts = [
            f"{writer} dialogues" + (f" ({count:,})" if isinstance(count, int) else ""),
            f"benchmark {setting.benchmark[:12]}",
            "all splits" if setting.split == "all" else f"split {setting.split}",
        ]
        parts += [f"first {setting.limit} only"] if setting.limit else []
        return " · ".join([*parts, f"scores {setting.scores_version}"])


def read_published(folder: Path, name: str = "leaderboard.json") -> Board:
    """Return the leaderboard of a Space, if its data are what the publisher put there; edited by hand they are not shown.

    Only the publisher scores submissions again, so rows of any other origin are not known to be verified.
    """
    path, marker = folder / name, folder / MARKER
    if not path.is_file():
        return Board(fault=f"{name} is not in this Space yet")
    try:
        promised = json.loads(marker.read_text(encoding="utf-8"))["files"][name]
    except (OSError, ValueError, KeyError, TypeError):
        return Board(
            fault=f"{MARKER} does not vouch for {name}, so its scores are not known to be verified and are not shown"
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != promised:
        return Board(fault=f"{name} was changed since it was published, so its scores are not shown")
    return read_board(path)


def read_board(path: Path) -> Board:
    """Return a leaderboard's data; a file that is missing or damaged gives an empty board that says so."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return Board(fault=f"{path.name} is not in this Space yet")
    except ValueError:
        return Board(fault=f"{path.name} is damaged: it is not JSON")
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("rows"), list):
        return Board(fault=f"{path.name} is of another format than {FORMAT}; this page is older or newer than its data")
    rows = [row for row in data["rows"] if _verified(row)]
    benchmarks = data.get("benchmarks")
    return Board(benchmarks if isinstance(benchmarks, dict) else {}, rows, len(data["rows"]) - len(rows))


def _verified(row: Any) -> bool:
    """Return whether a row carries the digest of the responses it was re-scored from, and everything a table needs."""
    return (
        isinstance(row, dict)
        and all(name in row for name in _NEEDED)
        and isinstance(row["scores"], dict)
        and isinstance(row.get("submission"), str)
        and _VERIFIED.fullmatch(row["submission"]) is not None
    )


def _setting(row: Mapping[str, Any]) -> Setting:
    limit = row.get("limit")
    return Setting(
        str(row["benchmark"]), str(row["split"]), "" if limit is None else str(limit), str(row["scores_version"])
    )


def _entry(row: Mapping[str, Any], part: Mapping[str, Any]) -> Entry:
    scores = {str(name): _score(value) for name, value in part["scores"].items()}
    return Entry(
        str(row["system"]),
        str(row["family"]),
        str(row.get("origin") or ""),
        bool(row.get("control")),
        _whole(part.get("dialogues")),
        _whole(row.get("failed")),
        str(row["submission"]),
        scores,
    )


def _score(value: Any) -> Score:
    if not isinstance(value, Mapping):
        return Score()
    numbers = [_real(value.get(name)) for name in ("value", "low", "high")]
    return Score(numbers[0], numbers[1], numbers[2], _whole(value.get("n")))


def _real(value: Any) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    return float(value) if good else None


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _pool_size(name: str) -> int:
    digits = re.sub(r"\D", "", name)
    return int(digits[:9]) if digits else {"closed": 8}.get(name, 10**9)
