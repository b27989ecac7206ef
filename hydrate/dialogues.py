"""Dialogues from release form to hydrated form and back; both are plain mappings as `dialogue_row` gives them.

Read of a dialogue: `dialogue_id`, `turns[].index`, `.text`, `.citations[].{label,business_id,review_id}` and
`.quotes[].{n,business_id,label,review_id,start,end,sha256}`. Everything else is passed through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hydrate.bundle import Bundle
from hydrate.dehydration import ON_ALTERED, THRESHOLD, dehydrate_text
from hydrate.errors import HydrationError, UsageError
from hydrate.placeholders import render
from hydrate.report import EXAMPLES, Case, HydrationReport
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
    replace_surrogates,
    span_sha256,
)

Row = dict[str, Any]
ReviewHash = str | tuple[int, str]
ON_MISMATCH = ("error", "placeholder", "drop")


def hydrate(dialogues: Iterable[Mapping[str, Any]], source: Bundle | Mapping[str, str], on_mismatch: str = "error", *,
            review_sha256: Mapping[str, ReviewHash] | None = None,
            progress: Callable[[int, int], None] | None = None) -> tuple[list[Row], HydrationReport]:
    """Fill the placeholders of dialogues with spans of reviews, each proved by its SHA256.

    Args:
        dialogues: in release form; they are not changed.
        source: an opened bundle (read through once), or review id to text.
        on_mismatch: what to do about a quote that cannot be proved: `error` raises one error after everything was
            looked at, `placeholder` leaves `[Q:n]` standing, `drop` leaves the dialogue out.
        review_sha256: hash of each whole review, or (n, hash) of its first n code points; a quote that is verified in
            a review whose hash differs is counted as `review_changed`.
        progress: called with bytes done and bytes in all while a bundle is read.

    Returns:
        The hydrated dialogues in their order, and the report.

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
    rows = list(dialogues)
    texts = gather(source, (str(quote["review_id"]) for row in rows for _, turn in _turns(row)
                            for quote in turn.get("quotes") or ()), progress)
    report = HydrationReport(dialogues=len(rows), reviews_wanted=texts.wanted, reviews_found=len(texts.texts),
                             repeated_ids=texts.repeated, replaced_surrogates=texts.replaced_surrogates,
                             bundle=texts.bundle)
    changed = _changed_reviews(texts.texts, review_sha256 or {})
    done = []
    for row in rows:
        turns, whole = [], True
        for index, turn in _turns(row):
            filled, complete = _fill(turn, str(row.get("dialogue_id", "")), index, texts, changed, report)
            turns.append(filled)
            whole = whole and complete
        if whole or on_mismatch == "placeholder":
            done.append({**row, "turns": turns})
        elif on_mismatch == "drop":
            report.dropped += 1
    if on_mismatch == "error" and not report.ok:
        raise mismatch(report)
    if on_mismatch == "placeholder":
        report.kept_placeholders = sum(report.counts[status] for status in REFUSED)
    return done, report


def dehydrate(dialogues: Iterable[Mapping[str, Any]], texts: Mapping[str, str], *, on_altered: str = "replace",
              threshold: float = THRESHOLD) -> list[Row]:
    """Take review text out of hydrated dialogues; the exact inverse of `hydrate`.

    Quotes that a turn lists are found in its text and become `[Q:n]`. Any other double-quoted span that stands in a
    review is added to the turn's quotes; the reviews that the turn cites are looked through first, then all.

    Args:
        dialogues: hydrated; they are not changed. `quotes` may be empty.
        texts: review id to text, of the reviews these dialogues could quote: those of their pools.
        on_altered: a double-quoted span that is not verbatim but at least `threshold` similar to a stretch of a review
            is replaced by that stretch (`replace`) or raises (`error`): it must not stay in clear.

    Raises:
        HydrationError: a listed quote is not in its review or not in its turn, or an altered one under `error`.

    Example:
        >>> dehydrate([{"turns": [{"text": 'I read "so quiet".'}]}], {"r1": "It was so quiet."})[0]["turns"][0]["text"]
        'I read "[Q:0]".'
    """
    if on_altered not in ON_ALTERED:
        raise UsageError(f"on_altered={on_altered!r} does not exist", do=f"use one of: {', '.join(ON_ALTERED)}")
    clean = {key: replace_surrogates(text)[0] for key, text in texts.items()}
    return [{**row, "turns": [_empty(turn, str(row.get("dialogue_id", "")), index, clean, on_altered, threshold)
                              for index, turn in _turns(row)]} for row in dialogues]


def _empty(turn: Mapping[str, Any], dialogue_id: str, index: int, texts: Mapping[str, str], on_altered: str,
           threshold: float) -> Row:
    quotes = list(turn.get("quotes") or ())
    citations: dict[str, Mapping[str, Any]] = {}
    for item in turn.get("citations") or ():
        citations.setdefault(str(item["review_id"]), item)
    labels = {str(item["label"]) for item in turn.get("citations") or ()}
    known = {}
    try:
        for quote in quotes:
            found = _resolve(quote, SourceTexts(0, texts), set())
            if found.text is None:
                raise HydrationError(f"quote {quote['n']} is {found.status} in review {quote['review_id']}",
                                     do="give the texts these dialogues were hydrated with")
            known[int(quote["n"])] = found.text
        template, spans = dehydrate_text(
            replace_surrogates(str(turn["text"]))[0], texts, labels=labels, cited=list(citations), known=known,
            on_altered=on_altered, threshold=threshold)
    except HydrationError as error:
        raise _misplaced(dialogue_id, index, error) from None
    for number, span in spans.items():
        cited = citations.get(span.text_id, {})
        quotes.append({"n": number, "business_id": cited.get("business_id", ""), "label": cited.get("label", ""),
                       "review_id": span.text_id, "start": span.start, "end": span.end, "sha256": span.sha256})
    return {**turn, "text": template, "quotes": quotes}


def _turns(row: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for position, turn in enumerate(row.get("turns") or ()):
        yield int(turn.get("index", position)), turn


def _fill(turn: Mapping[str, Any], dialogue_id: str, index: int, texts: SourceTexts, changed: set[str],
          report: HydrationReport) -> tuple[Row, bool]:
    spans: dict[int, str] = {}
    complete = True
    for quote in turn.get("quotes") or ():
        found = _resolve(quote, texts, changed)
        number, review = int(quote["n"]), str(quote["review_id"])
        start, end = int(quote["start"]), int(quote["end"])
        report.add(Case(found.status, dialogue_id, index, f"[Q:{number}]", review, start, end, str(quote["sha256"]),
                        found.found_sha256, end - start, len(texts.texts.get(review, "")) if review in texts.texts
                        else -1, found.unit))
        if number in spans:
            raise _misplaced(dialogue_id, index, HydrationError(f"two quotes are numbered {number}"))
        spans[number] = found.text if found.text is not None else f"[Q:{number}]"
        complete = complete and found.status in EMITTED
    try:
        text = render(str(turn["text"]), spans)
    except HydrationError as error:
        raise _misplaced(dialogue_id, index, error) from None
    return {**turn, "text": text}, complete


def _resolve(quote: Mapping[str, Any], texts: SourceTexts, changed: set[str]) -> Found:
    review = str(quote["review_id"])
    if review in texts.ambiguous:
        return Found(AMBIGUOUS_ID)
    if review not in texts.texts:
        return Found(MISSING)
    found = find_span(texts.texts[review], int(quote["start"]), int(quote["end"]), str(quote["sha256"]))
    if found.status == VERIFIED and review in changed:
        return Found(REVIEW_CHANGED, found.text, found.start, found.found_sha256)
    return found


def _changed_reviews(texts: Mapping[str, str], hashes: Mapping[str, ReviewHash]) -> set[str]:
    changed = set()
    for review, text in texts.items():
        wanted = hashes.get(review)
        if wanted is None:
            continue
        length, sha256 = (None, wanted) if isinstance(wanted, str) else wanted
        if span_sha256(text[:length]) != sha256:
            changed.add(review)
    return changed


def _misplaced(dialogue_id: str, index: int, error: HydrationError) -> HydrationError:
    return HydrationError(f"dialogue {dialogue_id} turn {index}: {error.what}", do=error.do)


def mismatch(report: HydrationReport) -> HydrationError:
    """Return the one error that sums up a hydration which did not verify everything."""
    refused = [case for case in report.cases if case.status in REFUSED]
    counts = ", ".join(f"{report.counts[status]:,} {status}" for status in REFUSED if report.counts[status])
    lines = [f"{len(refused):,} of {report.quotes:,} quotes cannot be verified against this bundle ({counts})"]
    lines += [f"  {case}" for case in refused[:EXAMPLES]]
    if len(refused) > EXAMPLES:
        lines.append(f"  … and {len(refused) - EXAMPLES:,} more")
    error = HydrationError("\n".join(lines), do=(
        "check that this is the bundle the release was made from (`trace-dataset inspect` prints its fingerprint); or "
        'pass on_mismatch="placeholder" to keep what cannot be verified as [Q:n], "drop" to leave those dialogues out'))
    error.report = report
    return error
