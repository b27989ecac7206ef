"""Dense retrieval: cosine with a query from which half of the rejected places' mean is taken (definitions, B4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.embeddings import Encoder
from trace_dataset.turns import TurnContext

REJECTED_WEIGHT = 0.5  # of the mean embedding of rejected places, taken from the query
REJECTED_PENALTY = 1.0  # taken from the score of a rejected place
REVIEWS, REVIEW_CHARS = 3, 200  # of a place's document
Vector = Sequence[float] | np.ndarray


def dense_scores(query: Vector, docs: Mapping[str, Vector], rejected: Sequence[str]) -> dict[str, float]:
    """Return the cosine of each document with the query less 0.5 times the mean of the rejected, which lose 1.0 besides.

    Rejected places that are not among `docs` are left out of the mean (P41). A vector of length 0 has cosine 0.

    Example:
        >>> {key: round(value, 3) for key, value in dense_scores([1, 1], {"a": [1, 0], "b": [0, 1]}, ["a"]).items()}
        {'a': -0.553, 'b': 0.894}
    """
    wanted = np.asarray(query, dtype=np.float64)
    turned_down = [place for place in dict.fromkeys(rejected) if place in docs]
    if turned_down:
        mean = sum(np.asarray(docs[place], dtype=np.float64) for place in turned_down) / len(turned_down)
        wanted = wanted - REJECTED_WEIGHT * mean
    return {
        place: _cosine(wanted, np.asarray(vector, dtype=np.float64)) - REJECTED_PENALTY * (place in turned_down)
        for place, vector in docs.items()
    }


def place_summary(kb: KnowledgeBase, business_id: str) -> str:
    """Return the dense document of a place: name, categories, and the first three reviews cut to 200 characters."""
    place = kb.pois[business_id]
    reviews = [(kb.reviews[review].text or "")[:REVIEW_CHARS] for review in kb.reviews_of[business_id][:REVIEWS]]
    return "\n".join([place.name, ", ".join(place.categories), *reviews])


class DenseIndex:
    """The embeddings of every place of a knowledge base, made when first needed."""

    def __init__(self, kb: KnowledgeBase, encoder: Encoder) -> None:
        self.kb, self.encoder = kb, encoder
        self._vectors: dict[str, np.ndarray] = {}

    def scores_many(self, turns: Sequence[TurnContext]) -> list[dict[str, float]]:
        """Return the scores of each turn's pool; all texts go through the encoder together."""
        queries = self._queries(turns)
        return [self._scores(turn, query, turn.rejected) for turn, query in zip(turns, queries, strict=True)]

    def cosines(self, turn: TurnContext) -> dict[str, float]:
        """Return the plain cosine of the user's turns with each place of the pool, whatever was rejected."""
        return self._scores(turn, self._queries([turn])[0], ())

    def _queries(self, turns: Sequence[TurnContext]) -> np.ndarray:
        """Return the embedding of each turn's query, and see to it that the places are embedded."""
        missing = sorted({place for turn in turns for place in (*turn.pool, *turn.rejected)} - self._vectors.keys())
        documents = [place_summary(self.kb, place) for place in missing]
        vectors = self.encoder.encode([*documents, *(turn.query for turn in turns)])
        self._vectors |= dict(zip(missing, vectors, strict=False))
        return vectors[len(missing) :]

    def _scores(self, turn: TurnContext, query: np.ndarray, rejected: Sequence[str]) -> dict[str, float]:
        places = {place: self._vectors[place] for place in (*turn.pool, *rejected)}
        scores = dense_scores(query, places, rejected)
        return {place: scores[place] for place in turn.pool}


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    length = math.sqrt(float((first * first).sum())) * math.sqrt(float((second * second).sum()))
    return float((first * second).sum()) / length if length else 0.0
