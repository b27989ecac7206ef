"""TF-IDF with the paper's weighting: tf = 1 + ln(count), idf = ln((n + 1)/(df + 1)) + 1, cosine (definitions, B2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from trace_dataset.scoring.text import tokenize

STOP_WORDS = frozenset(
    """
    a an the and or but if of at by for with about to from in on off over under is are was were be been being am do does
    did have has had i me my we our you your he she it its they them their this that these those there here what which
    who when where why how not no so too very can will just would could should than then as up out into each any
    """.split()
)


class TfidfIndex:
    """A sparse index over a fixed set of documents; scores are cosines in [0, 1].

    Example:
        >>> index = TfidfIndex({"p": "taco taco salsa", "q": "quiet patio"})
        >>> index.scores("taco", ["p", "q"])["q"]
        0.0
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.ids = sorted(documents)
        self.position = {identifier: index for index, identifier in enumerate(self.ids)}
        counts = [Counter(terms(documents[identifier])) for identifier in self.ids]
        frequency = Counter(term for count in counts for term in count)
        n = len(self.ids)
        self.idf = {term: math.log((n + 1) / (df + 1)) + 1 for term, df in frequency.items()}
        rows: dict[str, list[tuple[int, float]]] = {term: [] for term in self.idf}
        for index, count in enumerate(counts):
            weights = {term: (1 + math.log(many)) * self.idf[term] for term, many in count.items()}
            length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
            for term, weight in weights.items():
                rows[term].append((index, weight / length))
        self.postings = {
            term: (np.array([index for index, _ in row], dtype=np.int64), np.array([weight for _, weight in row]))
            for term, row in rows.items()
        }

    def all_scores(self, query: str) -> np.ndarray:
        """Return the cosine of the query with every document, in the order of `ids`."""
        scores = np.zeros(len(self.ids))
        count = Counter(term for term in terms(query) if term in self.idf)
        weights = {term: (1 + math.log(many)) * self.idf[term] for term, many in count.items()}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        for term in sorted(weights):
            index, weight = self.postings[term]
            scores[index] += weight * (weights[term] / length)
        return scores

    def scores(self, query: str, pool: Iterable[str]) -> dict[str, float]:
        """Return the cosine of the query with the documents of a pool."""
        scores = self.all_scores(query)
        return {identifier: float(scores[self.position[identifier]]) for identifier in pool}


def tfidf_scores(query: str, docs: Mapping[str, str]) -> dict[str, float]:
    """Return the cosine of a query with each document (definitions, `tfidf_scores`)."""
    return TfidfIndex(docs).scores(query, docs)


def terms(text: str) -> list[str]:
    """Return a text's tokens without the 80 stop words."""
    return [token for token in tokenize(text) if token not in STOP_WORDS]
