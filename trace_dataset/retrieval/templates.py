"""The fixed texts of the systems that use no language model: one place when recommending, two when comparing.

A recommendation gives the place's name, one verbatim span of 20 to 25 tokens in double quotes, and the review's label
(definitions, section 6, P38).
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.quotable import SpanChooser
from trace_dataset.retrieval.sparse import terms
from trace_dataset.schema import Citation
from trace_dataset.turns import Response, TurnContext

OTHER_ACTIONS = {
    "greet": "Hello! I can help you find a place here. What are you looking for?",
    "clarify": "Happy to help. Is there anything else that matters to you?",
    "explain": "That is what visitors say about it; tell me if you would like to hear about another one.",
    "close": "You are welcome. Enjoy your time in town!",
}


class TemplateWriter:
    """Writes template responses over one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.spans = SpanChooser(kb)

    def respond(self, turn: TurnContext, ranking: Sequence[str], query: str | None = None) -> Response:
        """Return the response for a turn.

        Args:
            ranking: the pool, best first.
            query: whose terms choose the quotes; None takes the user turns so far, `""` the first span of each place.
        """
        ranking = tuple(ranking)
        if turn.action not in ("recommend", "compare") or not ranking:
            return Response(OTHER_ACTIONS.get(turn.action, OTHER_ACTIONS["clarify"]), ranking=ranking)
        wanted = terms(turn.query if query is None else query)
        named = ranking[: 2 if turn.action == "compare" else 1]
        clauses, citations = [], []
        for business in named:
            clause, citation = self._clause(business, wanted, turn.pool)
            clauses.append(clause)
            citations += citation
        if len(clauses) == 2:
            text = f"You could weigh {clauses[0]} Then there is {clauses[1]}"
        else:
            text = f"For what you describe I would go to {clauses[0]}"
        return Response(text, named, tuple(citations), ranking)

    def _clause(self, business: str, wanted: Sequence[str], pool: Sequence[str]) -> tuple[str, list[Citation]]:
        name = self.kb.pois[business].name
        span = self.spans.best(business, wanted)
        if span is None:
            return f"{name}.", []
        label = self.kb.labels(pool)[span.review_id]
        quote = (self.kb.reviews[span.review_id].text or "")[span.start : span.end]
        return (
            f'{name}. One of its visitors put it this way: "{quote}" [{label}].',
            [Citation(label, business, span.review_id)],
        )
