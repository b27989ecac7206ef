"""What hydration found: one status for every placeholder, counted, with the cases that need a person's eye."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from hydrate.errors import HydrationError
from hydrate.spans import EMITTED, MISSING, REFUSED, STATUSES, VERIFIED

EXAMPLES = 5
_ID = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(frozen=True, slots=True)
class Case:
    """What became of one placeholder; hashes and lengths stand for text.

    `record` is its dialogue, `place` the index of its turn (or the name of its field), `text_id` its review.
    `found_sha256` is that of what stands at its offsets, empty where nothing does. `text_length` is the length of the
    review in code points, -1 where there is none. `unit` is set where offsets fit in another unit than code points.
    """

    status: str
    record: str
    place: int | str
    placeholder: str
    text_id: str
    start: int
    end: int
    wanted_sha256: str
    found_sha256: str = ""
    text_length: int = -1
    unit: str = ""

    def __str__(self) -> str:
        found = f"found {self.found_sha256[:12]}" if self.found_sha256 else "nothing found"
        length = f" in a text of {self.text_length}" if self.text_length >= 0 else ""
        unit = f"; the offsets fit as {self.unit}" if self.unit else ""
        place = f"turn {self.place}" if isinstance(self.place, int) else f"field {self.place}"
        return (
            f"{self.status}: {self.record} {place} {self.placeholder}, {self.text_id}[{self.start}:{self.end}], wanted "
            f"{self.wanted_sha256[:12]} of length {self.end - self.start}, {found}{length}{unit}"
        )


@dataclass
class HydrationReport:
    """Counts of everything a hydration met; it holds ids, hashes and lengths, no text.

    Attributes:
        counts: placeholders by status; all statuses are there, zero or not.
        dialogues, dropped: records seen, and those left out under `on_mismatch="drop"`.
        kept_placeholders: placeholders left standing under `on_mismatch="placeholder"`.
        reviews_wanted, reviews_found: distinct review ids asked for, and found in the source.
        repeated_ids: identical repeated records that were merged.
        replaced_surrogates: lone surrogates in the source that became U+FFFD.
        cases: every placeholder that is not plainly verified.
        table: rows of a release's reviews table by status; only `verified` ones were given their text.
    """

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(STATUSES, 0)))
    dialogues: int = 0
    dropped: int = 0
    kept_placeholders: int = 0
    reviews_wanted: int = 0
    reviews_found: int = 0
    repeated_ids: int = 0
    replaced_surrogates: int = 0
    cases: list[Case] = field(default_factory=list)
    table: dict[str, int] = field(default_factory=dict)

    @property
    def quotes(self) -> int:
        """Number of placeholders seen."""
        return sum(self.counts.values())

    @property
    def ok(self) -> bool:
        """True when every span was emitted and every review of a reviews table was found: exit status 0."""
        return not any(self.counts[status] + self.table.get(status, 0) for status in REFUSED)

    def add(self, case: Case) -> None:
        """Count one placeholder, and keep it unless it is plainly verified."""
        self.counts[case.status] += 1
        if case.status != VERIFIED:
            self.cases.append(case)

    def examples(self, status: str, limit: int = EXAMPLES) -> list[Case]:
        """Return the first cases of a status."""
        return [case for case in self.cases if case.status == status][:limit]

    def to_json(self) -> str:
        """Return the report as a JSON object; `cases` lists every placeholder that is not plainly verified."""
        values: dict[str, Any] = {
            **asdict(self),
            "counts": {status: self.counts[status] for status in STATUSES},
            "quotes": self.quotes,
            "ok": self.ok,
        }
        return json.dumps(values, indent=1, ensure_ascii=True)

    def __str__(self) -> str:
        lines = [f"{'status':<16}{'quotes':>10}"]
        lines += [
            f"{status:<16}{self.counts[status]:>10,}"
            for status in STATUSES
            if self.counts[status] or status in EMITTED[:1]
        ]
        lines.append(f"{'all':<16}{self.quotes:>10,}")
        lines.append(f"{self.dialogues:,} records, {self.reviews_found:,} of {self.reviews_wanted:,} reviews found")
        notes = (
            (self.dropped, "records left out"),
            (self.kept_placeholders, "placeholders kept"),
            (self.repeated_ids, "repeated reviews merged"),
            (self.replaced_surrogates, "lone surrogates replaced by U+FFFD"),
        )
        lines += [f"{count:,} {what}" for count, what in notes if count]
        if self.table:
            lines.append("reviews table: " + ", ".join(f"{count:,} {what}" for what, count in self.table.items()))
        for status in STATUSES:
            lines += [f"  {case}" for case in self.examples(status)]
        return "\n".join(lines)


def mismatch(report: HydrationReport) -> HydrationError:
    """Return the one error that sums up a hydration which did not verify everything."""
    refused = [case for case in report.cases if case.status in REFUSED]
    counts = ", ".join(f"{report.counts[status]:,} {status}" for status in REFUSED if report.counts[status])
    lines = [
        f"{len(refused):,} of {report.quotes:,} quotes cannot be verified against this bundle ({counts or 'none'})"
    ]
    lines += [
        f"{report.table[status]:,} rows of the reviews table are {status}"
        for status in REFUSED
        if report.table.get(status)
    ]
    lines += [f"  {case}" for case in refused[:EXAMPLES]]
    if len(refused) > EXAMPLES:
        lines.append(f"  … and {len(refused) - EXAMPLES:,} more")
    altered = [case for case in refused if case.status == MISSING and not _ID.fullmatch(case.text_id)]
    if altered:
        lines.append(
            f"{len(altered):,} of the missing ids do not look like Yelp's (22 letters, digits, - and _): has the "
            "file been through a spreadsheet?"
        )
    error = HydrationError(
        "\n".join(lines),
        do=(
            "check that this is the bundle the release was made from (`trace-dataset inspect` prints its fingerprint); or "
            'pass on_mismatch="placeholder" to keep what cannot be verified as [Q:n], "drop" to leave those dialogues out'
        ),
    )
    error.report = report
    return error
