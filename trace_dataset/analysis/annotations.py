"""What annotators wrote down, as tables: ratings, quote labels and choices, one CSV file each (paper, section 5 and App. K).

`ratings.csv`: item, annotator, system, dialogue_id, turn_index, informativeness, naturalness, errors (joined by `;`).
`quotes.csv`: item, quote, annotator, label (supported, partial, not).
`choices.csv`: dialogue_id, annotator, places (joined by `;`).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.scoring.human import ERRORS, NO_ERRORS, QUOTE_LABELS

LIKERT = ("informativeness", "naturalness")
FILES = {
    "ratings.csv": ("item", "annotator", "system", "informativeness", "naturalness", "errors"),
    "quotes.csv": ("item", "quote", "annotator", "label"),
    "choices.csv": ("dialogue_id", "annotator", "places"),
}
NAMES = ("item", "annotator", "system", "quote", "dialogue_id")  # columns that no line leaves empty


@dataclass(frozen=True)
class Item:
    """One response that was rated: whose, where it stands, and what every annotator said; gaps are None."""

    item: str
    system: str
    dialogue_id: str
    turn_index: int | None
    likert: dict[str, dict[str, float | None]] = field(default_factory=dict)  # dimension, annotator
    errors: dict[str, frozenset[str]] = field(default_factory=dict)
    quotes: dict[str, dict[str, str | None]] = field(default_factory=dict)  # quote, annotator


@dataclass(frozen=True)
class Annotations:
    """Who rated responses, in order of name, all items in order of the file, and the choices of the second task.

    Who only chose places is no annotator of the items: a majority of them is one of those who rated.
    """

    annotators: tuple[str, ...]
    items: tuple[Item, ...]
    choices: dict[str, dict[str, frozenset[str]]]

    def ratings(self, dimension: str) -> list[list[float | None]]:
        """Return Likert ratings: one row an annotator, one column an item."""
        return [[item.likert[dimension].get(name) for item in self.items] for name in self.annotators]

    def labels(self) -> list[list[str | None]]:
        """Return quote labels: one row an annotator, one column a quote."""
        return [[quote.get(name) for item in self.items for quote in item.quotes.values()] for name in self.annotators]

    @property
    def by_system(self) -> dict[str, list[Item]]:
        """The items of each system, in the order of the file."""
        found: dict[str, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.system, []).append(item)
        return found

    def owners(self, each: str) -> list[int]:
        """Return for each unit of `each` ("item", "quote" or "cell") the position of its item."""
        sizes = [{"item": 1, "quote": len(item.quotes), "cell": len(ERRORS) + 1}[each] for item in self.items]
        return [at for at, size in enumerate(sizes) for _ in range(size)]

    def error_cells(self) -> list[list[int | None]]:
        """Return error categories as units of item x category: 1 chosen, 0 not, None where an annotator skipped the item."""
        every = (*ERRORS, NO_ERRORS)
        return [
            [
                None if name not in item.errors else int(kind in item.errors[name])
                for item in self.items
                for kind in every
            ]
            for name in self.annotators
        ]


def likert_rows(items: Sequence[Item], dimension: str) -> list[list[float | None]]:
    """Return the ratings of each item, one entry an annotator who rated it."""
    return [list(item.likert[dimension].values()) for item in items]


def quote_rows(items: Sequence[Item]) -> list[list[list[str | None]]]:
    """Return for each item its quotes, for each quote the annotators' labels."""
    return [[list(quote.values()) for quote in item.quotes.values()] for item in items]


def load_annotations(folder: Path) -> Annotations:
    """Read the tables of a folder; `ratings.csv` must be there, the others may be.

    Raises:
        UsageError: a file or column is missing, or a value is none of those that exist; names the file and line.
    """
    rows = {name: _read(folder / name, columns) for name, columns in FILES.items()}
    if not rows["ratings.csv"]:
        raise UsageError(f"{folder} holds no ratings", do=f"write ratings.csv with {', '.join(FILES['ratings.csv'])}")
    items: dict[str, Item] = {}
    for line, row in rows["ratings.csv"]:
        where = f"{folder / 'ratings.csv'}, line {line}"
        turn = row.get("turn_index", "")
        item = items.setdefault(
            row["item"],
            Item(
                row["item"],
                row["system"],
                row.get("dialogue_id") or row["item"],
                _number(turn, where, int) if turn else None,
                {dimension: {} for dimension in LIKERT},
            ),
        )
        if row["system"] != item.system:
            raise UsageError(
                f"{where}: item {row['item']} is of system {row['system']}, and was of {item.system} above",
                do="give every response an item of its own",
            )
        if row["annotator"] in item.errors or any(row["annotator"] in item.likert[name] for name in LIKERT):
            raise UsageError(f"{where}: {row['annotator']} rates item {row['item']} twice", do="leave one of the lines")
        for dimension in LIKERT:
            item.likert[dimension][row["annotator"]] = _likert(row[dimension], where)
        chosen = frozenset(filter(None, map(str.strip, row["errors"].split(";"))))
        _known(chosen, (*ERRORS, NO_ERRORS), where)
        if chosen:
            item.errors[row["annotator"]] = chosen
    for line, row in rows["quotes.csv"]:
        where = f"{folder / 'quotes.csv'}, line {line}"
        _known([row["label"]] if row["label"] else [], QUOTE_LABELS, where)
        if row["item"] not in items:
            raise UsageError(f"{where}: item {row['item']} stands in no line of ratings.csv", do="rate it there")
        labels = items[row["item"]].quotes.setdefault(row["quote"], {})
        if row["annotator"] in labels:
            raise UsageError(
                f"{where}: {row['annotator']} labels quote {row['quote']} of item {row['item']} twice",
                do="leave one of the lines",
            )
        labels[row["annotator"]] = row["label"] or None
    choices: dict[str, dict[str, frozenset[str]]] = {}
    for line, row in rows["choices.csv"]:
        answers = choices.setdefault(row["dialogue_id"], {})
        if row["annotator"] in answers:
            raise UsageError(
                f"{folder / 'choices.csv'}, line {line}: {row['annotator']} chooses for {row['dialogue_id']} twice",
                do="leave one of the lines",
            )
        answers[row["annotator"]] = frozenset(filter(None, map(str.strip, row["places"].split(";"))))
    annotators = {row["annotator"] for name in ("ratings.csv", "quotes.csv") for _, row in rows[name]}
    return Annotations(tuple(sorted(annotators)), tuple(items.values()), choices)


def _read(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    if not path.is_file():
        return []
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(f"{path} has no column {missing[0]!r}", do=f"give it {', '.join(columns)}")
            return [(reader.line_num, _cells(row, columns, f"{path}, line {reader.line_num}")) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{path} is no CSV file in UTF-8 ({type(error).__name__})", do="save it as CSV, UTF-8"
        ) from error


def _cells(row: dict[str | None, Any], columns: Sequence[str], where: str) -> dict[str, str]:
    """Return a line's cells by column; raises `UsageError` where they do not fit the columns, or a name is empty."""
    if None in row:
        raise UsageError(
            f"{where}: {len(row[None])} more cells than columns", do='write a cell that holds a comma as "a, b"'
        )
    cells = {str(key): (value or "").strip() for key, value in row.items()}
    empty = [name for name in columns if name in NAMES and not cells[name]]
    if empty:
        raise UsageError(f"{where}: {empty[0]} is empty", do="write who or what is meant")
    return cells


def _likert(text: str, where: str) -> float | None:
    value = _number(text, where, float) if text else None
    if value is not None and not 1 <= value <= 5:
        raise UsageError(f"{where}: a rating of {text}", do="use 1 to 5, or leave it empty")
    return value


def _number(text: str, where: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{where}: {text!r} is no number", do="write a number, or leave it empty") from None


def _known(values: Sequence[str] | frozenset[str], known: Sequence[str], where: str) -> None:
    for value in sorted(values):
        if value not in known:
            raise UsageError(f"{where}: {value!r} does not exist", do=f"use one of: {', '.join(known)}")
