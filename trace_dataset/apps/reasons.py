"""Why a place may stand where it stands: what its data has of the visitor's words. The page's reading, not the baseline's."""

from __future__ import annotations

import math
from collections.abc import Sequence
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

    def words(self, place: str, said: Sequence[str], pool: Sequence[str]) -> list[str]:
        """Return which of the visitor's words a place has, those that fewest places of the pool have first.

        Example:
            >>> Reasons(KnowledgeBase.from_tables([], [])).words("a", [], [])
            []
        """
        asked = list(dict.fromkeys(word for text in said for word in terms(text)))
        here = [word for word in asked if word in self._words[place]] if asked else []
        rarity = {word: math.log(len(pool) / sum(word in self._words[other] for other in pool)) for word in here}
        return sorted(here, key=lambda word: -rarity[word])[:MOST_WORDS]

    def price(self, place: str, said: Sequence[str]) -> str:
        """Return whether a place's price fits the last price word that was said; empty where nothing is known."""
        ceiling, price = price_ceiling(said), self.kb.pois[place].price
        if ceiling is None or price is None:
            return ""
        return "within your price" if price <= ceiling else "above your price"
