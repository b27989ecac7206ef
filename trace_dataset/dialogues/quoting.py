"""Chooses the spans that stand in quotation marks, and gives them their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hydrate import span_sha256
from trace_dataset.dialogues.planned import PlannedQuote
from trace_dataset.dialogues.views import CellView
from trace_dataset.schema import Constraint, Quote

if TYPE_CHECKING:
    from trace_dataset.kb import Span


class QuoteChooser:
    """Chooses what to quote, each span once a dialogue, and gives it its label."""

    def __init__(self, view: CellView, pool: Sequence[str]) -> None:
        self.view = view
        self.labels: Mapping[str, str] = view.kb.labels(pool)
        self.names = {business: view.kb.pois[business].name.casefold() for business in pool}
        self.used: set[tuple[str, int, int]] = set()

    def choose(
        self, business: str, wishes: Sequence[Constraint], most: int, first: int = 0, polarity: int = 1
    ) -> list[PlannedQuote]:
        """Return up to `most` quotes about a place, one a wish in the order given; `first` numbers them in their turn."""
        found: list[PlannedQuote] = []
        for wish in wishes:
            if len(found) < most and (span := self._free(business, wish, polarity)) is not None:
                found.append(self._quote(business, span, wish, first + len(found), polarity))
        return found

    def any(self, business: str, first: int = 0) -> list[PlannedQuote]:
        """Return one quote that speaks well of a place, whatever it is about."""
        span = self._free(business, None, 1)
        if span is None:  # everything good has been quoted before: once more is better than no evidence
            again = [
                *self.view.spans(business, None),
                *(
                    span
                    for number in self.view.members(self.view.supports[business])
                    for span in self.view.spans(business, self.view.wishes[number])
                ),
            ]
            span = again[0]
        return [self._quote(business, span, None, first, 1)]

    def _free(self, business: str, wish: Constraint | None, polarity: int) -> Span | None:
        for span in self.view.spans(business, wish, polarity):
            if _where(span) not in self.used and not self._names_another(business, span):
                return span
        return None

    def _names_another(self, business: str, span: Span) -> bool:
        text = self.view.text(span).casefold()
        return any(name in text for other, name in self.names.items() if other != business)

    def _quote(self, business: str, span: Span, wish: Constraint | None, n: int, polarity: int) -> PlannedQuote:
        self.used.add(_where(span))
        text = self.view.text(span)
        return PlannedQuote(
            Quote(n, business, self.labels[span.review_id], span.review_id, span.start, span.end, span_sha256(text)),
            text,
            wish,
            polarity,
        )


def _where(span: Span) -> tuple[str, int, int]:
    return span.review_id, span.start, span.end
