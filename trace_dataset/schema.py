"""The records of TRACE: Dialogue, Turn, Quote, Citation, Constraint, POI, Review, and their table types.

Ids are Yelp's strings. Offsets count Unicode code points of the review's JSON-decoded text, unnormalised, end
exclusive. A dialogue's text holds `[Q:n]` where a verbatim span stood (release form) or the span itself (hydrated
form); `[Rn]` cites a review. Everything else is the same in both forms, so one set of features serves both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FORMAT_VERSION = 1

POI_TYPES = ("restaurant", "hotel", "attraction")
TIERS = ("easy", "medium", "hard", "expert")
SPLITS = ("train", "validation", "test")
USER_ACTIONS = ("inform", "reject_and_refine", "ask_detail", "accept", "close")
SYSTEM_ACTIONS = ("greet", "clarify", "recommend", "compare", "explain", "close")
RECOMMENDING = ("recommend", "compare")


@dataclass(frozen=True, slots=True)
class Quote:
    """One verbatim span. `n` numbers the quotes of a turn from 0; `sha256` is that of the span's UTF-8 bytes."""

    n: int
    business_id: str
    label: str
    review_id: str
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Citation:
    """What a label such as `R3` in a turn's text refers to."""

    label: str
    business_id: str
    review_id: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """One thing a user newly asks for, as a slot and a value, e.g. `("price", "budget")`, `("aspect", "quiet")`."""

    slot: str
    value: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `gold_poi_ids` holds the place recommended first, `alternative_poi_ids` equally fitting ones."""

    index: int
    role: str
    action: str
    text: str
    poi_ids: tuple[str, ...] = ()
    gold_poi_ids: tuple[str, ...] = ()
    alternative_poi_ids: tuple[str, ...] = ()
    rejected_poi_ids: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    citations: tuple[Citation, ...] = ()
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation over eight candidate places of one city and type; open pools are derived, not stored."""

    dialogue_id: str
    city: str
    poi_type: str
    persona: str
    persona_description: str
    difficulty: str
    candidates: tuple[str, ...]
    turns: tuple[Turn, ...]
    generator: str = "template"
    attempts: int = 1
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class POI:
    """A place. `city` is the benchmark's spelling, `price` 1 to 4 or None, `attributes` flat key to text."""

    business_id: str
    name: str
    address: str
    city: str
    state: str
    poi_type: str
    latitude: float | None
    longitude: float | None
    categories: tuple[str, ...]
    stars: float
    review_count: int
    price: int | None
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Review:
    """The first `n_chars` code points of a review; `sha256` is theirs. `text` is None in a release."""

    review_id: str
    business_id: str
    n_chars: int
    sha256: str
    text: str | None = None


def dialogue_row(dialogue: Dialogue) -> dict[str, Any]:
    """Return a dialogue as plain dictionaries and lists, ready for Arrow or JSON."""
    return _plain(dialogue)  # type: ignore[no-any-return]


def dialogue_from_row(row: Mapping[str, Any]) -> Dialogue:
    """Rebuild a dialogue from a row of the `dialogues` table; the inverse of `dialogue_row`."""
    return Dialogue(
        **{
            **_known(Dialogue, row),
            "candidates": tuple(row["candidates"]),
            "turns": tuple(turn_from_row(turn) for turn in row["turns"]),
        }
    )


def turn_from_row(row: Mapping[str, Any]) -> Turn:
    """Rebuild one turn from its row."""
    values = _known(Turn, row)
    for name in ("poi_ids", "gold_poi_ids", "alternative_poi_ids", "rejected_poi_ids"):
        values[name] = tuple(row.get(name) or ())
    values["quotes"] = tuple(Quote(**_known(Quote, quote)) for quote in row.get("quotes") or ())
    values["citations"] = tuple(Citation(**_known(Citation, item)) for item in row.get("citations") or ())
    values["constraints"] = tuple(Constraint(**_known(Constraint, item)) for item in row.get("constraints") or ())
    return Turn(**values)


def poi_row(poi: POI) -> dict[str, Any]:
    """Return a place as a row; attributes become a list of key and value, sorted by key."""
    row = {f.name: getattr(poi, f.name) for f in dataclasses.fields(poi)}
    row["categories"] = list(poi.categories)
    row["attributes"] = [{"key": key, "value": poi.attributes[key]} for key in sorted(poi.attributes)]
    return row


def poi_from_row(row: Mapping[str, Any]) -> POI:
    """Rebuild a place from a row of the `pois` table; the inverse of `poi_row`."""
    values = _known(POI, row)
    values["categories"] = tuple(row["categories"])
    values["attributes"] = {item["key"]: item["value"] for item in row["attributes"]}
    return POI(**values)


def review_row(review: Review) -> dict[str, Any]:
    """Return a review as a row, with its text if it has one."""
    return {f.name: getattr(review, f.name) for f in dataclasses.fields(review)}


def review_from_row(row: Mapping[str, Any]) -> Review:
    """Rebuild a review from a row of the `reviews` table; the inverse of `review_row`."""
    return Review(**_known(Review, row))


def features(config: str) -> Any:
    """Return the `datasets.Features` of a config: `dialogues`, `pois` or `reviews`."""
    import datasets  # costs a second; records themselves need none of it

    text, number = datasets.Value("string"), datasets.Value("int64")
    real = datasets.Value("float64")
    texts = datasets.List(text)
    if config == "dialogues":
        quote = {
            "n": number,
            "business_id": text,
            "label": text,
            "review_id": text,
            "start": number,
            "end": number,
            "sha256": text,
        }
        turn = {
            "index": number,
            "role": text,
            "action": text,
            "text": text,
            "poi_ids": texts,
            "gold_poi_ids": texts,
            "alternative_poi_ids": texts,
            "rejected_poi_ids": texts,
            "quotes": datasets.List(quote),
            "citations": datasets.List({"label": text, "business_id": text, "review_id": text}),
            "constraints": datasets.List({"slot": text, "value": text}),
        }
        return datasets.Features(
            {
                "dialogue_id": text,
                "city": text,
                "poi_type": text,
                "persona": text,
                "persona_description": text,
                "difficulty": text,
                "candidates": texts,
                "turns": datasets.List(turn),
                "generator": text,
                "attempts": number,
                "fallback": datasets.Value("bool"),
            }
        )
    if config == "pois":
        return datasets.Features(
            {
                "business_id": text,
                "name": text,
                "address": text,
                "city": text,
                "state": text,
                "poi_type": text,
                "latitude": real,
                "longitude": real,
                "categories": texts,
                "stars": real,
                "review_count": number,
                "price": number,
                "attributes": datasets.List({"key": text, "value": text}),
            }
        )
    if config == "reviews":
        return datasets.Features(
            {"review_id": text, "business_id": text, "n_chars": number, "sha256": text, "text": text}
        )
    raise KeyError(config)


def _known(record: type, row: Mapping[str, Any]) -> dict[str, Any]:
    names = {f.name for f in dataclasses.fields(record)}
    return {key: value for key, value in row.items() if key in names}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
