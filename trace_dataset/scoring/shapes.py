"""The rows that the `evaluate` modules take: one format each, every row checked, one error that shows the right shape.

The functions return plain rows that hold the known fields only, so that a data set's own turns can be handed in as they are.
Error messages name positions and kinds, never content: it may be licensed text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from .checks import UsageError, check_lengths, check_texts, kind
from .practical import price_level
from .text import parse_citations, without_surrogates

RESPONSE = '{"text": "Try Blue Door [R3].", "recommends": True}'
REVIEWS = '[{"label": "R3", "text": "We stayed two hours."}, …], and [] where nothing is cited'
IDS = '["id1", "id2"], and [] for none'
TURNS = (
    '[{"role": "user", "action": "reject_and_refine", "rejected_poi_ids": ["id1"]}, '
    '{"role": "system", "action": "recommend", "poi_ids": ["id2"]}, …]'
)
PLACES = '[{"business_id": "id1", "latitude": 39.95, "longitude": -75.16}, …], with None for an unknown coordinate'
PRICES = "[1, None, 3], levels 1 to 4 with None where unknown"
TEXTS = '["first", "second"]'
_LABEL = re.compile(r"R[0-9]{1,18}")


def rows(texts: Sequence[str], recommends: bool | Sequence[bool] = True) -> list[dict[str, Any]]:
    """Turn plain response texts into the rows that `cgs`, `cgs_ent` and `provenance_coverage` take.

    Args:
        texts: one response an item.
        recommends: whether the responses recommend a place: one value for all, or one an item. A turn that only asks or
            greets must say False, or it would count as fully covered.

    Example:
        >>> rows(["Try Blue Door [R1]."])
        [{'text': 'Try Blue Door [R1].', 'recommends': True}]
    """
    check_texts(texts, "texts")
    flags = [recommends] * len(texts) if isinstance(recommends, bool) else list(recommends)
    check_lengths(texts=texts, recommends=flags)
    return response_rows([{"text": text, "recommends": flag} for text, flag in zip(texts, flags, strict=True)])


def response_rows(predictions: Any) -> list[dict[str, Any]]:
    """Check rows of `{"text", "recommends"}`."""
    hint = "trace_dataset.scoring.rows(texts, recommends=True) turns plain texts into such rows"
    checked = []
    for index, row in enumerate(items(predictions, "predictions", RESPONSE)):
        where = f"predictions[{index}]"
        text, recommends = _fields(row, where, RESPONSE, ("text", "recommends"), hint)
        if not isinstance(recommends, (bool, np.bool_)):
            _wrong(f'{where}["recommends"]', recommends, "True or False")
        checked.append({"text": _text(text, f'{where}["text"]'), "recommends": bool(recommends)})
    return checked


def review_rows(references: Any) -> list[list[dict[str, str]]]:
    """Check, for each response, reviews `{"label", "text"}`; a label stands for one text."""
    checked = []
    for index, row in enumerate(items(references, "references", REVIEWS)):
        texts: dict[str, str] = {}
        for place, review in enumerate(items(row, f"references[{index}]", REVIEWS)):
            where = f"references[{index}][{place}]"
            label, text = _fields(review, where, REVIEWS, ("label", "text"))
            if not isinstance(label, str) or _LABEL.fullmatch(label) is None:
                _wrong(f'{where}["label"]', label, '"R" and a number, as in "R3"')
            text = _text(text, f'{where}["text"]')
            if texts.setdefault(label, text) != text:
                raise UsageError(
                    f"references[{index}] has two different texts for label {label}",
                    do="number the reviews of a dialogue so that every label stands for one of them",
                )
        checked.append([{"label": label, "text": text} for label, text in texts.items()])
    return checked


def text_rows(values: Any, what: str = "predictions") -> list[str]:
    """Check a list of texts."""
    hint = None
    values = items(values, what, TEXTS)
    if any(isinstance(value, Mapping) for value in values):
        hint = 'this module takes texts; pass [row["text"] for row in rows]'
    return [_text(value, f"{what}[{index}]", hint) for index, value in enumerate(values)]


def texts_rows(values: Any, what: str) -> list[list[str]]:
    """Check a list of lists of texts."""
    every = enumerate(items(values, what, TEXTS))
    return [
        [_text(text, f"{what}[{index}][{at}]") for at, text in enumerate(items(row, f"{what}[{index}]", TEXTS))]
        for index, row in every
    ]


def id_rows(values: Any, what: str) -> list[list[str]]:
    """Check a list of lists of ids."""
    checked = []
    for index, row in enumerate(items(values, what, IDS)):
        ids = items(row, f"{what}[{index}]", IDS)
        for at, identifier in enumerate(ids):
            if not isinstance(identifier, str):
                _wrong(f"{what}[{index}][{at}]", identifier, 'an id, as in "id1"')
        checked.append([without_surrogates(identifier) for identifier in ids])
    return checked


def dialogue_rows(predictions: Any) -> list[list[dict[str, Any]]]:
    """Check dialogues of turns `{"role", "action", "poi_ids", "rejected_poi_ids"}`; missing lists of ids are empty."""
    checked = []
    for index, row in enumerate(items(predictions, "predictions", TURNS)):
        turns = []
        for at, turn in enumerate(items(row, f"predictions[{index}]", TURNS)):
            where = f"predictions[{index}][{at}]"
            role, action = _fields(turn, where, TURNS, ("role", "action"))
            if role not in ("user", "system"):
                _wrong(f'{where}["role"]', role, '"user" or "system"')
            named, rejected = id_rows(
                [turn.get("poi_ids") or [], turn.get("rejected_poi_ids") or []], f"{where}: poi_ids, rejected_poi_ids"
            )
            action = _text(action, f'{where}["action"]')
            turns.append({"role": role, "action": action, "poi_ids": named, "rejected_poi_ids": rejected})
        checked.append(turns)
    return checked


def place_rows(predictions: Any) -> list[list[dict[str, Any]]]:
    """Check dialogues of places `{"business_id", "latitude", "longitude"}`; NaN reads as None."""
    names = ("business_id", "latitude", "longitude")
    checked = []
    for index, row in enumerate(items(predictions, "predictions", PLACES)):
        places = []
        for at, place in enumerate(items(row, f"predictions[{index}]", PLACES)):
            where = f"predictions[{index}][{at}]"
            identifier, latitude, longitude = _fields(place, where, PLACES, names)
            located = [_coordinate(latitude, where), _coordinate(longitude, where)]
            identifier = _text(identifier, f'{where}["business_id"]')
            places.append(dict(zip(names, (identifier, *located), strict=True)))
        checked.append(places)
    return checked


def price_rows(predictions: Any) -> list[list[int | None]]:
    """Check lists of prices; 2, "2" and "$$" are level 2, None and NaN are unknown."""
    checked = []
    for index, row in enumerate(items(predictions, "predictions", PRICES)):
        levels = []
        for at, price in enumerate(items(row, f"predictions[{index}]", PRICES)):
            level = price_level(price)
            if level is None and not _missing(price):
                _wrong(f"predictions[{index}][{at}]", price, "a price level 1 to 4, or None")
            levels.append(level)
        checked.append(levels)
    return checked


def cited_columns(
    texts: Sequence[str], references: Sequence[Sequence[Mapping[str, str]]]
) -> tuple[list[str], list[int], list[set[int]]]:
    """Return the cited reviews of all responses, their offsets, and the label numbers that resolve.

    A review counts as cited only if its label stands in the text: handing in all reviews of a pool must not raise a score.
    """
    reviews: list[str] = []
    offsets = [0]
    resolvable: list[set[int]] = []
    for text, given in zip(texts, references, strict=True):
        standing = set(parse_citations(text))
        numbers = {int(review["label"][1:]): review["text"] for review in given}
        reviews += [review for number, review in numbers.items() if number in standing]
        offsets.append(len(reviews))
        resolvable.append(set(numbers))
    return reviews, offsets, resolvable


def cited_first(texts: Sequence[str], references: Sequence[Sequence[Mapping[str, str]]]) -> tuple[list[str], list[int]]:
    """Return all reviews given for each response, those whose label stands in its text first, and their offsets."""
    premises: list[str] = []
    offsets = [0]
    for text, given in zip(texts, references, strict=True):
        standing = set(parse_citations(text))
        ordered = sorted(given, key=lambda review: int(review["label"][1:]) not in standing)
        premises += [review["text"] for review in ordered]
        offsets.append(len(premises))
    return premises, offsets


def items(values: Any, what: str, shape: str) -> list[Any]:
    """Return the items of a list, tuple, array or column; raises for anything else."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        _wrong(what, values, f"a list of {shape}" if "[" not in what else shape)
    return list(values)


def _fields(row: Any, where: str, shape: str, names: Sequence[str], hint: str | None = None) -> list[Any]:
    if not isinstance(row, Mapping):
        _wrong(where, row, shape, hint)
    missing = [name for name in names if name not in row]
    if missing:
        raise UsageError(f"{where} has no {missing[0]!r}; the right shape is {shape}", do=hint or _DO)
    return [row[name] for name in names]


def _text(value: Any, where: str, hint: str | None = None) -> str:
    if not isinstance(value, str):
        _wrong(where, value, 'a text, "" for an answer that failed', hint)
    return without_surrogates(value)


def _coordinate(value: Any, where: str) -> float | None:
    if value is None or _missing(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        _wrong(where, value, f"a place with numbers for its coordinates: {PLACES}")
    return float(value)


def _missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in ("", "None")
    return value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))


_DO = "check every row; nothing was scored"


def _wrong(where: str, value: Any, shape: str, hint: str | None = None) -> NoReturn:
    raise UsageError(f"{where} is {kind(value)}; the right shape is {shape}", do=hint or _DO)
