"""One TF-IDF index for each city and place type of a knowledge base."""

from __future__ import annotations

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.documents import place_document
from trace_dataset.retrieval.sparse import TfidfIndex
from trace_dataset.turns import TurnContext


class CellIndexes:
    """The sparse indexes that TF-IDF and the baselines built on it share."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.indexes = {
            cell: TfidfIndex({business: place_document(kb, business) for business in places})
            for cell, places in kb.cells.items()
        }

    def scores(self, turn: TurnContext, query: str | None = None) -> dict[str, float]:
        """Return the cosine of the user's words (or of another query) with every place of the turn's pool."""
        return self.indexes[turn.city, turn.poi_type].scores(turn.query if query is None else query, turn.pool)
