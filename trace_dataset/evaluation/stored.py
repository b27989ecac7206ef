"""Responses as they are stored: without review text, and without loss.

Where a response holds review text (in quotation marks, or eight words in a row), the stored template holds `[Q:n]` and the
span beside it says where the text stands in the review, with an edit list where the response altered it. So a response file
can be shared, and every score of what comes back equals that of what went in: a repaired quote would raise GS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

import hydrate
from hydrate.errors import HydrationError
from trace_dataset.leaks import RunFinder
from trace_dataset.scoring.text import extract_quotes
from trace_dataset.turns import Response

MOST_CLEAR = 50_000  # texts that are remembered as clear
FUZZY = 80.0  # of 100: what counts as a quote of a review (paper, section 2.2)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace code points `start` to `end` of the span by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class StoredSpan:
    """Where a placeholder's text comes from."""

    n: int
    review_id: str
    start: int
    end: int
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text without review text: `template`, spans, and the SHA256 of the whole text as it was."""

    template: str
    spans: tuple[StoredSpan, ...]
    sha256: str


@dataclass(frozen=True)
class PoolReviews:
    """The reviews of a pool, in its order; made once a dialogue."""

    ids: tuple[str, ...]
    within: frozenset[str]

    @classmethod
    def of(cls, review_ids: Iterable[str]) -> PoolReviews:
        """Return the reviews of these ids."""
        ids = tuple(review_ids)
        return cls(ids, frozenset(ids))


def store_text(
    response: Response, reviews: PoolReviews, finder: RunFinder, clear: set[str] | None = None
) -> StoredText:
    """Take the review text out of a response.

    Args:
        reviews: of the pool; cited ones are tried first.
        finder: over the texts of all reviews.
        clear: texts known to share no run with any review, to be added to: what systems say between quotes is often the same.
    """
    text = response.text
    cited = [citation.review_id for citation in response.citations if citation.review_id in finder.texts]
    within = reviews.within if reviews.within.issuperset(cited) else reviews.within.union(cited)
    taken = list(_quoted(text, [*dict.fromkeys(cited), *reviews.ids], finder.texts))
    clear = set() if clear is None else clear
    for start, end in _gaps(text, taken):
        gap = text[start:end]
        if gap in clear:
            continue
        if finder.is_clear(gap):
            if len(clear) < MOST_CLEAR:
                clear.add(gap)
            continue
        taken += [
            (run.start + start, run.end + start, run.review_id, run.review_start, run.review_end)
            for run in finder.runs(gap, within)
        ]
    labels = {citation.label for citation in response.citations}
    template, spans, position = [], [], 0
    for n, (start, end, review_id, review_start, review_end) in enumerate(sorted(taken)):
        source = finder.texts[review_id][review_start:review_end]
        template += [hydrate.escape(text[position:start], labels), f"[Q:{n}]"]
        spans.append(StoredSpan(n, review_id, review_start, review_end, _edits(source, text[start:end])))
        position = end
    template.append(hydrate.escape(text[position:], labels))
    return StoredText("".join(template), tuple(spans), hydrate.span_sha256(text))


def redacted(text: str, reviews: PoolReviews, finder: RunFinder) -> str:
    """Return a text, such as an exception's, with `[review text]` where words of a review stood; it cannot be restored.

    Quotes are looked for in the pool's reviews, runs of eight words in all.
    """
    taken = list(_quoted(text, reviews.ids, finder.texts))
    for start, end in _gaps(text, taken):
        taken += [(start + run.start, start + run.end, "", 0, 0) for run in finder.runs(text[start:end])]
    parts, position = [], 0
    for start, end, *_ in sorted(taken):
        parts += [text[position:start], "[review text]"]
        position = end
    return "".join([*parts, text[position:]])


def restore_text(stored: StoredText, texts: Mapping[str, str]) -> str:
    """Return the response's text exactly as it was; raises `HydrationError` where the reviews differ."""
    quotes = {}
    for span in stored.spans:
        review = texts.get(span.review_id)
        if review is None:
            raise HydrationError(
                f"a stored response quotes review {span.review_id}, which is not in the benchmark",
                do="score the run with the release and bundle it was made with",
            )
        quotes[span.n] = _apply(review[span.start : span.end], span.edits)
    text = hydrate.render(stored.template, quotes)
    if hydrate.span_sha256(text) != stored.sha256:
        raise HydrationError(
            f"a stored response no longer reads as it did (SHA256 {stored.sha256[:12]})",
            do="score the run with the release and bundle it was made with",
        )
    return text


def _quoted(text: str, review_ids: Sequence[str], texts: Mapping[str, str]) -> Iterable[tuple[int, int, str, int, int]]:
    position = 0
    for quote in extract_quotes(text):
        start = text.find(quote, position)
        if start < 0:
            continue
        source = _verbatim(quote, review_ids, texts) or _altered(quote, review_ids, texts)
        if source is not None:
            yield (start, start + len(quote), *source)
            position = start + len(quote)


def _verbatim(quote: str, review_ids: Sequence[str], texts: Mapping[str, str]) -> tuple[str, int, int] | None:
    for review_id in review_ids:
        where = texts[review_id].find(quote)
        if where >= 0:
            return review_id, where, where + len(quote)
    return None


def _altered(quote: str, review_ids: Sequence[str], texts: Mapping[str, str]) -> tuple[str, int, int] | None:
    best = None
    for review_id in review_ids:
        review = texts[review_id]
        if len(quote) > len(review):
            continue
        # lower() may change a string's length, so the alignment is taken on the texts as they are
        alignment = fuzz.partial_ratio_alignment(quote, review, score_cutoff=best[0] if best else FUZZY)
        if alignment is not None and (best is None or alignment.score > best[0]):
            best = alignment.score, review_id, alignment.dest_start, alignment.dest_end
    return best[1:] if best else None


def _gaps(text: str, taken: Sequence[tuple[int, int, str, int, int]]) -> Iterable[tuple[int, int]]:
    position = 0
    for start, end, *_ in sorted(taken):
        yield position, start
        position = end
    yield position, len(text)


def _edits(source: str, wanted: str) -> tuple[Edit, ...]:
    if source == wanted:
        return ()
    return tuple(
        Edit(op.src_start, op.src_end, wanted[op.dest_start : op.dest_end])
        for op in Levenshtein.opcodes(source, wanted)
        if op.tag != "equal"
    )


def _apply(source: str, edits: Sequence[Edit]) -> str:
    parts, position = [], 0
    for edit in edits:
        parts += [source[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, source[position:]])
