"""Why a place may stand where it stands: what its data has of the visitor's words. The page's reading, not the baseline's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.documents import place_document
from trace_dataset.retrieval.sparse import terms
from trace_dataset.scoring.practical import price_ceiling

MOST_WORDS = 6


class Reasons:
    """Finds the visitor's words in the places' names, categories and reviews."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {place: frozenset(terms(place_document(self.kb, place))) for place in self.kb.pois}

    def finder(self, said: Sequence[str], pool: Sequence[str]) -> Callable[[str], list[str]]:
        """Return what finds the visitor's words in a place: those that fewest places of the pool have come first.

        Example:
            >>> Reasons(KnowledgeBase.from_tables([], [])).finder([], [])("a")
            []
        """
        asked = dict.fromkeys(word for text in said for word in terms(text))
        spread = {word: sum(word in self._words[place] for place in pool) for word in asked}

        def find(place: str) -> list[str]:
            here = [word for word in asked if word in self._words[place]]
            return sorted(here, key=lambda word: spread[word])[:MOST_WORDS]

        return find

    def price(self, place: str, said: Sequence[str]) -> str:
        """Return whether a place's price fits the last price word that was said; empty where nothing is known."""
        ceiling, price = price_ceiling(said), self.kb.pois[place].price
        if ceiling is None or price is None:
            return ""
        return "within your price" if price <= ceiling else "above your price"
