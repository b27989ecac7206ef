"""Where the texts with placeholders are in a record: in the turns of a dialogue, or in named fields of a flat record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import index
from typing import Any

from hydrate.errors import HydrationError, UsageError
from hydrate.spans import Span

Row = dict[str, Any]
QUOTES = "quotes"
_AS_RELEASED = "give records as they were released; a spreadsheet or a filter may have changed them"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a placeholder stands for: code points `start` to `end` of the text `text_id`, with their SHA256."""

    n: int
    text_id: str
    start: int
    end: int
    sha256: str


@dataclass(frozen=True)
class Unit:
    """One text of a record with its quotes; `place` is the index of its turn or the name of its field."""

    place: int | str
    text: str
    quotes: Sequence[Mapping[str, Any]]
    references: Sequence[Reference]
    citations: Sequence[Mapping[str, Any]] = ()

    @property
    def labels(self) -> set[str]:
        """The labels that stand plain in the text."""
        return {str(item["label"]) for item in self.citations}


@dataclass(frozen=True)
class Dialogues:
    """`dialogue_id`, `turns[].{index, text, citations, quotes}`; a quote has `n, review_id, start, end, sha256` and more."""

    def name(self, record: Mapping[str, Any], position: int) -> str:
        """Return what messages call a record."""
        return f"dialogue {record.get('dialogue_id', position)}"

    def units(self, record: Mapping[str, Any]) -> Iterator[Unit]:
        """Yield the texts of a record."""
        for position, turn in enumerate(objects(record, "turns", needed=True)):
            with located(f"turn {position}"):
                quotes, citations = objects(turn, QUOTES), objects(turn, "citations")
                for cited in citations:
                    string(cited, "label")
                    string(cited, "review_id")
                yield Unit(
                    whole(turn, "index") if "index" in turn else position,
                    string(turn, "text"),
                    quotes,
                    [reference(quote, "review_id") for quote in quotes],
                    citations,
                )

    def rebuilt(self, record: Mapping[str, Any], texts: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> Row:
        """Return a record with other texts and quotes, one pair for each unit."""
        return {
            **record,
            "turns": [
                {**turn, "text": text, QUOTES: list(quotes)}
                for turn, (text, quotes) in zip(record["turns"], texts, strict=True)
            ],
        }

    def quote(self, unit: Unit, number: int, span: Span) -> Row:
        """Return a new quote of a unit."""
        cited = next((item for item in unit.citations if item["review_id"] == span.text_id), {})
        return {
            "n": number,
            "business_id": cited.get("business_id", ""),
            "label": cited.get("label", ""),
            "review_id": span.text_id,
            "start": span.start,
            "end": span.end,
            "sha256": span.sha256,
        }


@dataclass(frozen=True)
class Fields:
    """Flat records whose named fields hold text; `quotes` beside them has `field, n, text_id, start, end, sha256`."""

    names: tuple[str, ...]
    identifier: str = field(default="id")

    def name(self, record: Mapping[str, Any], position: int) -> str:
        """Return what messages call a record."""
        return f"record {record.get(self.identifier, position)}"

    def units(self, record: Mapping[str, Any]) -> Iterator[Unit]:
        """Yield the texts of a record; a field that is missing or null is none, and then has no quotes."""
        quotes: dict[Any, list[Mapping[str, Any]]] = {name: [] for name in self.names if record.get(name) is not None}
        for quote in objects(record, QUOTES):
            name = string(quote, "field")
            if name not in quotes:
                raise HydrationError(
                    f"a quote belongs to field {name!r}, which was not named or holds no text",
                    do="name every field that has quotes with fields=… (--fields)",
                )
            quotes[name].append(quote)
        for name, own in quotes.items():
            yield Unit(name, string(record, name), own, [reference(quote, "text_id") for quote in own])

    def rebuilt(self, record: Mapping[str, Any], texts: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> Row:
        """Return a record with other texts and quotes, one pair for each unit."""
        names = [name for name in self.names if record.get(name) is not None]
        filled = {name: text for name, (text, _) in zip(names, texts, strict=True)}
        return {**record, **filled, QUOTES: [dict(quote) for _, quotes in texts for quote in quotes]}

    def quote(self, unit: Unit, number: int, span: Span) -> Row:
        """Return a new quote of a unit."""
        return {
            "field": unit.place,
            "n": number,
            "text_id": span.text_id,
            "start": span.start,
            "end": span.end,
            "sha256": span.sha256,
        }


Shape = Dialogues | Fields


def shape_of(fields: Sequence[str] | str | None, records: Sequence[Mapping[str, Any]] = ()) -> Shape:
    """Return the shape of records: dialogues, or flat records with text in these fields.

    Raises:
        UsageError: no record has a field of this name: taken for text without quotes it would pass for verified.
    """
    for position, row in enumerate(records):
        if not isinstance(row, Mapping):
            raise HydrationError(f"record {position} is no object", do="give one object for each record")
    if fields is None:
        return Dialogues()
    names = (fields,) if isinstance(fields, str) else tuple(dict.fromkeys(fields))
    if not names:
        raise UsageError("no field was named", do="name the fields that hold text with fields=… (--fields)")
    for name in names:
        if not isinstance(name, str) or (records and not any(name in row for row in records)):
            raise UsageError(
                f"no record has a field {name!r}; the first has {', '.join(map(str, records[0])) if records else 'none'}",
                do="name the fields that hold text with fields=… (--fields)",
            )
    return Fields(names)


@contextmanager
def located(name: str, place: int | str | None = None) -> Iterator[None]:
    """Say in every `HydrationError` which record and which text of it is meant."""
    try:
        yield
    except HydrationError as error:
        where = name if place is None else f"{name} {'turn' if isinstance(place, int) else 'field'} {place}"
        raise HydrationError(f"{where}: {error.what}", do=error.do) from None


def reference(row: Mapping[str, Any], identifier: str) -> Reference:
    """Return what a quote refers to; raises `HydrationError` for one that is incomplete or of other types."""
    return Reference(
        whole(row, "n"), string(row, identifier), whole(row, "start"), whole(row, "end"), string(row, "sha256")
    )


def objects(row: Mapping[str, Any], name: str, needed: bool = False) -> list[Mapping[str, Any]]:
    """Return the objects in a list of a record; missing or null is none, unless it is `needed`."""
    values = row.get(name)
    if values is None and not needed:
        return []
    if not isinstance(values, (list, tuple)) or not all(isinstance(each, Mapping) for each in values):
        found = "missing" if name not in row else "not a list of objects"
        raise HydrationError(f"{name} is {found}", do=_AS_RELEASED)
    return list(values)


def string(row: Mapping[str, Any], name: str) -> str:
    """Return a text of a record."""
    value = row.get(name)
    if not isinstance(value, str):
        raise HydrationError(f"{name} is {_found(row, name)} and not a text", do=_AS_RELEASED)
    return value


def whole(row: Mapping[str, Any], name: str) -> int:
    """Return a whole number of a record."""
    try:
        return index(row.get(name))  # type: ignore[arg-type]
    except TypeError:
        raise HydrationError(f"{name} is {_found(row, name)} and not a whole number", do=_AS_RELEASED) from None


def _found(row: Mapping[str, Any], name: str) -> str:
    return f"of type {type(row[name]).__name__}" if name in row else "missing"
