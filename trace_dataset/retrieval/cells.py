"""One TF-IDF index for each city and place type of a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

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

    def scores_many(self, turns: Sequence[TurnContext], queries: Sequence[str] | None = None) -> list[dict[str, float]]:
        """Return what `scores` gives for each turn, all turns of a city and type at once."""
        asked = [turn.query for turn in turns] if queries is None else queries
        found: list[dict[str, float]] = [{} for _ in turns]
        by_cell: dict[tuple[str, str], list[int]] = {}
        for number, turn in enumerate(turns):
            by_cell.setdefault((turn.city, turn.poi_type), []).append(number)
        for cell, numbers in by_cell.items():
            scores = self.indexes[cell].scores_many([asked[n] for n in numbers], [turns[n].pool for n in numbers])
            for number, values in zip(numbers, scores, strict=True):
                found[number] = values
        return found
