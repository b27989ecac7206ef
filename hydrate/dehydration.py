"""Taking licensed text out of records; the inverse of hydration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydrate.errors import HydrationError, UsageError
from hydrate.hydration import resolve
from hydrate.redaction import ON_ALTERED, THRESHOLD, dehydrate_text
from hydrate.runs import RUN_WORDS, RunIndex
from hydrate.shapes import Dialogues, Row, Shape, Unit, located, shape_of
from hydrate.sources import SourceTexts
from hydrate.spans import replace_surrogates


def dehydrate(
    dialogues: Iterable[Mapping[str, Any]],
    texts: Mapping[str, str],
    *,
    fields: Sequence[str] | str | None = None,
    on_altered: str = "replace",
    threshold: float = THRESHOLD,
    run_words: int = RUN_WORDS,
) -> list[Row]:
    """Take licensed text out of hydrated dialogues, or of any records; the exact inverse of `hydrate`.

    Quotes that a record lists are found in its text and become `[Q:n]`. Any other double-quoted span that stands in one
    of the texts is added to the quotes; the reviews that a turn cites are looked through first, then all. Flat records
    (`fields=…`) also lose what stands in a text without quotation marks, from `run_words` words in a row on.

    Args:
        dialogues: hydrated; they are not changed. `quotes` may be empty or missing.
        texts: id to text, of the texts these records could quote: for dialogues the reviews of their pools.
        fields: the records are flat and hold text in these fields.
        on_altered: a double-quoted span that is not verbatim but at least `threshold` similar to a stretch of a text
            is replaced by that stretch (`replace`) or raises (`error`): it must not stay in clear.
        run_words: for flat records; 0 leaves unquoted text alone.

    Raises:
        HydrationError: a listed quote is not in its text or not in its record, or an altered one under `error`.

    Example:
        >>> dehydrate([{"turns": [{"text": 'I read "so quiet".'}]}], {"r1": "It was so quiet."})[0]["turns"][0]["text"]
        'I read "[Q:0]".'
        >>> poem = {"p": "The fog comes on little cat feet and then moves on."}
        >>> dehydrate([{"id": 1, "note": "So: the fog comes on little cat feet."}], poem, fields="note", run_words=5)
        [{'id': 1, 'note': 'So: the [Q:0].', 'quotes': [{'field': 'note', 'n': 0, 'text_id': 'p', ...}]}]
    """
    if on_altered not in ON_ALTERED:
        raise UsageError(f"on_altered={on_altered!r} does not exist", do=f"use one of: {', '.join(ON_ALTERED)}")
    rows = list(dialogues)
    shape = shape_of(fields, rows)
    known = SourceTexts(0, {key: replace_surrogates(text)[0] for key, text in texts.items()})
    units = []
    for position, row in enumerate(rows):
        with located(shape.name(row, position)):
            units.append(list(shape.units(row)))
    runs = None
    if run_words and not isinstance(shape, Dialogues):
        runs = RunIndex((unit.text for several in units for unit in several), known.texts, run_words)
    done = []
    for position, (row, several) in enumerate(zip(rows, units, strict=True)):
        emptied = []
        for unit in several:
            with located(shape.name(row, position), unit.place):
                emptied.append(_emptied(unit, shape, known, on_altered, threshold, runs))
        done.append(shape.rebuilt(row, emptied))
    return done


def _emptied(
    unit: Unit, shape: Shape, texts: SourceTexts, on_altered: str, threshold: float, runs: RunIndex | None
) -> tuple[str, list[Mapping[str, Any]]]:
    known = {}
    for each in unit.references:
        found = resolve(each, texts)
        if found.text is None:
            raise HydrationError(
                f"quote {each.n} is {found.status} in {each.text_id}",
                do="give the texts these records were hydrated with",
            )
        known[each.n] = found.text
    cited = list(dict.fromkeys(item["review_id"] for item in unit.citations))
    template, spans = dehydrate_text(
        replace_surrogates(unit.text)[0],
        texts.texts,
        labels=unit.labels,
        cited=cited,
        known=known,
        on_altered=on_altered,
        threshold=threshold,
        runs=runs,
    )
    return template, [*unit.quotes, *(shape.quote(unit, number, span) for number, span in spans.items())]
