"""Where the texts with placeholders are in a record: in the turns of a dialogue, or in named fields of a flat record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hydrate.errors import HydrationError
from hydrate.spans import Span

Row = dict[str, Any]
QUOTES = "quotes"


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
        for position, turn in enumerate(record.get("turns") or ()):
            quotes = list(turn.get(QUOTES) or ())
            yield Unit(
                int(turn.get("index", position)),
                _text(turn, "text"),
                quotes,
                [_reference(quote, "review_id") for quote in quotes],
                list(turn.get("citations") or ()),
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
        """Yield the texts of a record; a field that is missing or null is none."""
        for name in self.names:
            if record.get(name) is not None:
                quotes = [quote for quote in record.get(QUOTES) or () if quote.get("field") == name]
                yield Unit(name, _text(record, name), quotes, [_reference(quote, "text_id") for quote in quotes])

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


def shape_of(fields: Sequence[str] | str | None) -> Shape:
    """Return the shape of records: dialogues, or flat records with text in these fields."""
    if fields is None:
        return Dialogues()
    return Fields((fields,) if isinstance(fields, str) else tuple(fields))


@contextmanager
def located(name: str, place: int | str | None = None) -> Iterator[None]:
    """Say in every `HydrationError` which record and which text of it is meant."""
    try:
        yield
    except HydrationError as error:
        where = name if place is None else f"{name} {'turn' if isinstance(place, int) else 'field'} {place}"
        raise HydrationError(f"{where}: {error.what}", do=error.do) from None


def _text(row: Mapping[str, Any], name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str):
        raise HydrationError(f"{name} is not a text but {type(text).__name__}", do="give records as they were released")
    return text


def _reference(quote: Mapping[str, Any], identifier: str) -> Reference:
    try:
        return Reference(
            int(quote["n"]), str(quote[identifier]), int(quote["start"]), int(quote["end"]), str(quote["sha256"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise HydrationError(
            f"a quote is incomplete: {type(error).__name__} {error}",
            do=f"every quote needs n, {identifier}, start, end and sha256",
        ) from None
