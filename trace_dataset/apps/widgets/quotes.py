"""What stands in a response: its quotes by support, its aspect words, its labels; and where the quotes stand in the reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .looks import table
from .marks import Mark, legend, said, short

MOST_QUOTES = 200  # that are listed one by one
MOST_REVIEWS = 60  # that are shown in full
STATUS = {"verified": "✓ verified", "fuzzy": "≈ nearly", "unsupported": "✗ unsupported"}


@dataclass(frozen=True)
class QuoteFound:
    """A quote of a response: how well it is supported, by which review, and where it stands in it (or None)."""

    start: int
    end: int
    status: str
    label: str | None
    similarity: float
    place: tuple[int, int] | None


def find_quotes(scoring: Any, text: str, reviews: Mapping[str, str], threshold: float = 0.8) -> list[QuoteFound]:
    """Return the quotes of a response with their support, as the metrics see it.

    Args:
        reviews: label to text of the reviews that were given; only those whose label stands in the text support anything.
        threshold: similarity from which a quote counts as found.
    """
    cited = {f"R{number}" for number in scoring.text.parse_citations(text)}
    plain, cutoff = scoring.matching.NormalForms(), scoring.matching.cutoff_of(threshold)
    found = []
    for start, end, _ in scoring.text.quote_spans(text):
        quote = text[start:end]
        best, label = 0.0, None
        for name, review in reviews.items():
            if name in cited and (value := scoring.text.quote_similarity(quote, review)) > best:
                best, label = value, name
        holds = label is not None and scoring.matching.stands_in(quote, [reviews[label]], cutoff, plain)
        status = ("verified" if best == 1.0 else "fuzzy") if holds else "unsupported"
        place = _place(quote, reviews[label]) if holds and label else None
        found.append(QuoteFound(start, end, status, label, best, place))
    return found


def response_marks(
    scoring: Any,
    text: str,
    reviews: Mapping[str, str],
    quotes: Sequence[QuoteFound],
    window: int = 80,
    every: bool = True,
) -> list[Mark]:
    """Return all marks of a response: quotes, aspect words with and without a label near, labels.

    Args:
        window: characters allowed between an aspect word and a label.
        every: whether a label without a review backs a word too, as provenance coverage counts by default.
    """
    known = {int(label[1:]) for label in reviews}
    labels = scoring.text.label_positions(text)
    marks = [Mark(quote.start, quote.end, quote.status, _tip(quote)) for quote in quotes]
    near = [at for at, numbers in labels if every or known.intersection(numbers)]
    for term, places in scoring.inventory.find_terms(text).items():
        for at in places:
            backed = any(abs(at - label) <= window for label in near)
            tip = f"aspect word: a label {'stands' if backed else 'does not stand'} within {window} characters"
            marks.append(Mark(at, at + len(term), "backed" if backed else "bare", tip))
    for at, numbers in labels:
        missing = [number for number in numbers if number not in known]
        tip = f"no review was given for R{missing[0]}" if missing else "a review was given"
        marks.append(Mark(at, text.index("]", at) + 1, "nolabel" if missing and reviews else "label", tip))
    return marks


def show_response(
    scoring: Any,
    text: str,
    reviews: Mapping[str, str],
    threshold: float = 0.8,
    window: int = 80,
    every: bool = True,
    only: Sequence[str] = (),
) -> str:
    """Return a response with its marks, a list of its quotes, and the reviews with what was quoted from them.

    Args:
        only: kinds of marks to show; all of them by default.
    """
    # a metric that looks at no quotes comes without what finds them
    looks = scoring.has("matching") and (not only or "verified" in only)
    quotes = find_quotes(scoring, text, reviews, threshold) if looks else []
    marks = response_marks(scoring, text, reviews, quotes, window, every)
    marks = [mark for mark in marks if not only or mark.kind in only]
    parts = [
        "<h2>The response</h2>",
        said(text, marks) if text else '<p class="quiet">It is empty.</p>',
        legend([mark.kind for mark in marks]),
    ]
    if quotes:
        parts += ["<h2>Its quotes</h2>", _quote_table(text, quotes)]
    elif looks:
        parts.append('<p class="quiet">It has no quote in double quotation marks.</p>')
    parts.append(show_reviews(scoring, text, reviews, quotes))
    return "".join(parts)


def show_reviews(scoring: Any, text: str, reviews: Mapping[str, str], quotes: Sequence[QuoteFound]) -> str:
    """Return the reviews with the words that were quoted; those that the response does not cite are named as such."""
    if not reviews:
        return '<p class="quiet">No review was given, so no quote can be supported.</p>' if quotes else ""
    cited = {f"R{number}" for number in scoring.text.parse_citations(text)}
    parts = ["<h2>The reviews</h2>"]
    for label, review in list(reviews.items())[:MOST_REVIEWS]:
        spans = [Mark(*quote.place, quote.status) for quote in quotes if quote.label == label and quote.place]
        note = "" if label in cited else ' <span class="quiet">(not cited)</span>'
        parts.append(f'<p><span class="label">[{escape(label)}]</span>{note}</p>{said(review, spans)}')
    if len(reviews) > MOST_REVIEWS:
        parts.append(f'<p class="quiet">and {len(reviews) - MOST_REVIEWS:,} more, which count but are not shown.</p>')
    return "".join(parts)


def _quote_table(text: str, quotes: Sequence[QuoteFound]) -> str:
    rows = []
    for at, quote in enumerate(quotes[:MOST_QUOTES], start=1):
        source = f"[{escape(quote.label)}]" if quote.label else "–"
        rows.append(
            [str(at), short(text[quote.start : quote.end]), STATUS[quote.status], source, f"{quote.similarity:.2f}"]
        )
    note = f"the first {MOST_QUOTES} of {len(quotes):,}" if len(quotes) > MOST_QUOTES else ""
    return table(["#", "quote", "support", "closest", "similarity"], rows, (0, 4), note, "quotes")


def _tip(quote: QuoteFound) -> str:
    if quote.label is None:
        return "no review that is cited has anything like it"
    return f"{STATUS[quote.status]}: {quote.similarity:.2f} alike with [{quote.label}]"


def _place(quote: str, review: str) -> tuple[int, int] | None:
    """Return where a supported quote stands in a review's own code points; None where letters change their number."""
    from rapidfuzz import fuzz

    wanted, lowered = quote.lower(), review.lower()
    if len(lowered) != len(review):
        wanted, lowered = quote, review
    at = lowered.find(wanted)
    if at >= 0:
        return at, at + len(quote)
    if len(quote) > len(review):
        return 0, len(review)
    alignment = fuzz.partial_ratio_alignment(wanted, lowered, score_cutoff=60.0)
    return (alignment.dest_start, alignment.dest_end) if alignment else None
