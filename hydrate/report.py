"""What hydration found: one status for every placeholder, counted, with the cases that need a person's eye."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field

from hydrate.spans import EMITTED, MISSING, REFUSED, STATUSES, VERIFIED

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Case:
    """One placeholder that is not plainly verified. Lengths are in code points; hashes stand for text, never text.

    `wanted_length` is that of the span, `found_length` that of the review (-1 where there is none).
    """

    status: str
    dialogue_id: str
    turn: int | str
    placeholder: str
    review_id: str
    start: int
    end: int
    wanted_sha256: str
    found_sha256: str = ""
    wanted_length: int = 0
    found_length: int = -1
    unit: str = ""

    def __str__(self) -> str:
        found = f"found {self.found_sha256[:12]}" if self.found_sha256 else "nothing found"
        length = f", review of {self.found_length}" if self.found_length >= 0 else ""
        unit = f"; the offsets fit as {self.unit}" if self.unit else ""
        return (f"{self.status}: {self.dialogue_id} turn {self.turn} {self.placeholder}, review {self.review_id} "
                f"[{self.start}:{self.end}], wanted {self.wanted_sha256[:12]}, {found}{length}{unit}")


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
        bundle: fingerprint digest of the bundle, where it is known.
        table: of a release's reviews table, how many rows were filled, changed or missing.
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
    bundle: str = ""
    table: dict[str, int] = field(default_factory=dict)

    @property
    def quotes(self) -> int:
        """Number of placeholders seen."""
        return sum(self.counts.values())

    @property
    def ok(self) -> bool:
        """True when every span was emitted and no review of the table is missing: exit status 0."""
        return not any(self.counts[status] for status in REFUSED) and not self.table.get(MISSING)

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
        values = {**asdict(self), "counts": {status: self.counts[status] for status in STATUSES},
                  "quotes": self.quotes, "ok": self.ok}
        return json.dumps(values, indent=1, ensure_ascii=True)

    def __str__(self) -> str:
        lines = [f"{'status':<16}{'quotes':>10}"]
        lines += [f"{status:<16}{self.counts[status]:>10,}" for status in STATUSES
                  if self.counts[status] or status in EMITTED[:1]]
        lines.append(f"{'all':<16}{self.quotes:>10,}")
        lines.append(f"{self.dialogues:,} records, {self.reviews_found:,} of {self.reviews_wanted:,} reviews found")
        notes = ((self.dropped, "records left out"), (self.kept_placeholders, "placeholders kept"),
                 (self.repeated_ids, "repeated reviews merged"),
                 (self.replaced_surrogates, "lone surrogates replaced by U+FFFD"))
        lines += [f"{count:,} {what}" for count, what in notes if count]
        if self.table:
            lines.append("reviews table: " + ", ".join(f"{count:,} {what}" for what, count in self.table.items()))
        for status in STATUSES:
            lines += [f"  {case}" for case in self.examples(status)]
        return "\n".join(lines)
