"""Verbatim spans of 20 to 25 tokens that a template may quote, and the one that answers a query best."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from trace_dataset.kb import KnowledgeBase
from trace_dataset.scoring.text import tokenize

WORD = re.compile(r"\w+(?:['’]\w+)*")
BREAKS = re.compile(r"[\n\r\"“”„«»\[\]\\\x00-\x1f]")  # a quote never crosses a line, nor holds a mark that would end it
SHORTEST, LONGEST = 20, 25


@dataclass(frozen=True, slots=True)
class QuotableSpan:
    """A span of a review's text, and the terms in it."""

    review_id: str
    start: int
    end: int
    terms: frozenset[str]


def quotable_spans(review_id: str, text: str) -> list[QuotableSpan]:
    """Return the spans of a review that begin a sentence and hold 20 to 25 tokens, or the longest shorter ones."""
    spans: list[QuotableSpan] = []
    for piece in re.finditer(r"[^\n\r\"“”„«»\[\]\\\x00-\x1f]+", text):
        words = [match.span() for match in WORD.finditer(text, piece.start(), piece.end())]
        starts = [i for i in range(len(words)) if i == 0 or re.search(r"[.!?]", text[words[i - 1][1] : words[i][0]])]
        for first in starts:
            last = _last_word(text, words, first)
            start, end = words[first][0], words[last][1]
            spans.append(QuotableSpan(review_id, start, end, frozenset(tokenize(text[start:end]))))
    long_enough = [span for span in spans if len(WORD.findall(text[span.start : span.end])) >= SHORTEST]
    return long_enough or sorted(spans, key=lambda span: (span.start - span.end, span.start))[:1]


class SpanChooser:
    """Chooses what to quote about a place; spans are cut once a place and kept."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._spans: dict[str, list[QuotableSpan]] = {}

    def best(self, business_id: str, query_terms: Collection[str]) -> QuotableSpan | None:
        """Return the span with most of the query's terms; on ties the first by review id and offset."""
        if business_id not in self._spans:
            self._spans[business_id] = [
                span
                for review_id in self.kb.reviews_of[business_id]
                for span in quotable_spans(review_id, self.kb.reviews[review_id].text or "")
            ]
        spans = self._spans[business_id]
        if not spans:
            return None
        wanted = frozenset(query_terms)
        return max(spans, key=lambda span: len(span.terms & wanted))  # max keeps the first of equals


def _last_word(text: str, words: list[tuple[int, int]], first: int) -> int:
    """Return the last word of a span: a sentence's end between 20 and 25 tokens where there is one, else the 25th."""
    limit = min(first + LONGEST, len(words)) - 1
    for last in range(limit, first + SHORTEST - 2, -1):
        following = words[last + 1][0] if last + 1 < len(words) else len(text)
        if last < len(words) and re.search(r"[.!?]", text[words[last][1] : following]):
            return last
    return limit
