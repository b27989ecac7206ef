"""Filling placeholders: every span proved by its SHA256, every placeholder given one status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hydrate.bundle import Bundle
from hydrate.errors import HydrationError, UsageError
from hydrate.placeholders import render
from hydrate.report import Case, HydrationReport, mismatch
from hydrate.shapes import Reference, Row, Shape, Unit, located, shape_of
from hydrate.sources import SourceTexts, gather
from hydrate.spans import (
    AMBIGUOUS_ID,
    EMITTED,
    MISSING,
    REFUSED,
    REVIEW_CHANGED,
    VERIFIED,
    Found,
    find_span,
    span_sha256,
)

ReviewHash = str | tuple[int, str]
ON_MISMATCH = ("error", "placeholder", "drop")


def hydrate(
    dialogues: Iterable[Mapping[str, Any]],
    source: Bundle | Mapping[str, str],
    on_mismatch: str = "error",
    *,
    fields: Sequence[str] | str | None = None,
    review_sha256: Mapping[str, ReviewHash] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Row], HydrationReport]:
    """Fill the placeholders of dialogues, or of any records, with spans of texts, each proved by its SHA256.

    Args:
        dialogues: in release form; they are not changed.
        source: an opened bundle (read through once), or id to text.
        on_mismatch: what to do about a quote that cannot be proved: `error` raises one error after everything was
            looked at, `placeholder` leaves `[Q:n]` standing, `drop` leaves the record out.
        fields: the records are flat, with text in these fields, as `dehydrate(…, fields=…)` gave them.
        review_sha256: hash of each whole text, or (n, hash) of its first n code points; a quote that is verified in a
            text whose hash differs is counted as `review_changed`.
        progress: called with bytes done and bytes in all while a bundle is read.

    Returns:
        The hydrated records in their order, and the report.

    Raises:
        HydrationError: a malformed text, or under `error` any quote that is not verified or moved; `.report` says all.
        BundleError: the bundle cannot be read.

    Example:
        >>> quote = {"n": 0, "review_id": "r1", "start": 0, "end": 2, "sha256": span_sha256("so")}
        >>> turn = {"index": 0, "text": 'They say "[Q:0]".', "quotes": [quote]}
        >>> rows, report = hydrate([{"dialogue_id": "d1", "turns": [turn]}], {"r1": "so quiet"})
        >>> rows[0]["turns"][0]["text"], report.ok
        ('They say "so".', True)
    """
    if on_mismatch not in ON_MISMATCH:
        raise UsageError(f"on_mismatch={on_mismatch!r} does not exist", do=f"use one of: {', '.join(ON_MISMATCH)}")
    records = list(dialogues)
    shape = shape_of(fields, records)
    texts = gather(source, text_ids(records, shape), progress)
    report = HydrationReport(
        reviews_wanted=texts.wanted,
        reviews_found=len(texts.texts),
        repeated_ids=texts.repeated,
        replaced_surrogates=texts.replaced_surrogates,
    )
    done = fill(records, shape, texts, on_mismatch, report, changed_texts(texts.texts, review_sha256 or {}))
    if on_mismatch == "error" and not report.ok:
        raise mismatch(report)
    return done, report


def text_ids(records: Iterable[Mapping[str, Any]], shape: Shape) -> Iterator[str]:
    """Yield the ids of the texts that records refer to, with repeats."""
    for position, row in enumerate(records):
        with located(shape.name(row, position)):
            for unit in shape.units(row):
                yield from (each.text_id for each in unit.references)


def fill(
    records: Iterable[Mapping[str, Any]],
    shape: Shape,
    texts: SourceTexts,
    on_mismatch: str,
    report: HydrationReport,
    changed: set[str],
) -> list[Row]:
    """Return the records hydrated from texts that were gathered, and enter everything into the report."""
    done = []
    for position, row in enumerate(records):
        name = shape.name(row, position)
        with located(name):
            units = list(shape.units(row))
        filled = [_filled(unit, name, texts, changed, report) for unit in units]
        whole = all(complete for _, complete in filled)
        report.dialogues += 1
        if whole or on_mismatch != "drop":
            done.append(
                shape.rebuilt(row, [(text, unit.quotes) for (text, _), unit in zip(filled, units, strict=True)])
            )
        else:
            report.dropped += 1
    if on_mismatch == "placeholder":
        report.kept_placeholders = sum(report.counts[status] for status in REFUSED)
    return done


def resolve(reference: Reference, texts: SourceTexts, changed: set[str] | frozenset[str] = frozenset()) -> Found:
    """Return what became of a span, given the texts that were gathered and those known to have changed."""
    if reference.text_id in texts.ambiguous:
        return Found(AMBIGUOUS_ID)
    text = texts.texts.get(reference.text_id)
    if text is None:
        return Found(MISSING)
    found = find_span(text, reference.start, reference.end, reference.sha256)
    if found.status == VERIFIED and reference.text_id in changed:
        return Found(REVIEW_CHANGED, found.text, found.start, found.found_sha256)
    return found


def _filled(unit: Unit, name: str, texts: SourceTexts, changed: set[str], report: HydrationReport) -> tuple[str, bool]:
    """Return a unit's text with its placeholders filled, and whether all could be."""
    spans: dict[int, str] = {}
    complete = True
    for each in unit.references:
        found = resolve(each, texts, changed)
        text = texts.texts.get(each.text_id)
        report.add(
            Case(
                found.status,
                name,
                unit.place,
                f"[Q:{each.n}]",
                each.text_id,
                each.start,
                each.end,
                each.sha256,
                found.found_sha256,
                -1 if text is None else len(text),
                found.unit,
            )
        )
        spans[each.n] = f"[Q:{each.n}]" if found.text is None else found.text
        complete = complete and found.status in EMITTED
    with located(name, unit.place):
        if len(spans) < len(unit.references):
            raise HydrationError("two quotes have one number", do="number the quotes of a text from 0")
        return render(unit.text, spans), complete


def changed_texts(texts: Mapping[str, str], hashes: Mapping[str, ReviewHash]) -> set[str]:
    """Return the ids of the texts whose own hash is given and differs."""
    changed = set()
    for key, text in texts.items():
        wanted = hashes.get(key)
        if wanted is not None:
            length, sha256 = (None, wanted) if isinstance(wanted, str) else wanted
            if span_sha256(text[:length]) != sha256:
                changed.add(key)
    return changed
