"""TF-IDF with the paper's weighting: tf = 1 + ln(count), idf = ln((n + 1)/(df + 1)) + 1, cosine (definitions, B2)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trace_dataset.scoring.text import normalize_text, strip_labels, tokenize

STOP_WORDS = frozenset(
    """
    a an the and or but if of at by for with about to from in on off over under is are was were be been being am do does
    did have has had i me my we our you your he she it its they them their this that these those there here what which
    who when where why how not no so too very can will just would could should than then as up out into each any
    """.split()
)


SEPARATOR = "\0"  # between texts that are cut into tokens together: no part of a token, a label or white space
_PIECES = re.compile(rf"{SEPARATOR}|\w+(?:'\w+)*")
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
BLOCK = 2_000_000  # weights looked up at a time
Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class CellTable:
    """A hash table from a number to a weight, for millions of look-ups at a time; what is not in it weighs 0.

    Numbers stand in the order of their hashes, each at the first free place from its own on (linear probing), so a look-up
    reads one place as a rule, where a binary search would read twenty.
    """

    def __init__(self, keys: Positions, weights: Array) -> None:
        self._shift = np.uint64(64 - max(4, int(2 * len(keys)).bit_length()))
        home = self._home(keys)
        order = np.argsort(home, kind="stable")
        home, count = home[order], np.arange(len(keys))
        place = np.maximum.accumulate(home - count) + count
        self._probes = int((place - home).max(initial=0)) + 1
        size = (1 << (64 - int(self._shift))) + self._probes + 1
        self._keys = np.full(size, -1, dtype=np.int64)
        self._weights = np.zeros(size)
        self._keys[place], self._weights[place] = keys[order], weights[order]

    def _home(self, keys: Positions) -> Positions:
        return ((keys.astype(np.uint64) * MULTIPLIER) >> self._shift).astype(np.int64)

    def look_up(self, keys: Positions) -> Array:
        """Return the weight of every key, in the shape of the keys."""
        flat = keys.ravel()
        place = self._home(flat)
        found = self._keys[place]
        weights = np.where(found == flat, self._weights[place], 0.0)
        left = np.flatnonzero((found != flat) & (found >= 0))  # another key stands there: go on to the next place
        for _ in range(self._probes):
            if not len(left):
                break
            place[left] += 1
            found = self._keys[place[left]]
            hit = found == flat[left]
            weights[left[hit]] = self._weights[place[left[hit]]]
            left = left[~hit & (found >= 0)]
        return np.asarray(weights.reshape(keys.shape))


class TfidfIndex:
    """A sparse index over a fixed set of documents; scores are cosines in [0, 1].

    Many queries are scored at once, each only against its pool: a score is looked up where a query's term meets a pool's
    document, and nothing else is multiplied. One query gives the same score, to the last bit, alone and among others.

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
        vocabulary = sorted(frequency, key=lambda term: (-frequency[term], term))  # frequent ones first
        self.term_ids = {term: number for number, term in enumerate(vocabulary)} | {SEPARATOR: -2}
        n = len(self.ids)
        self._idf = np.array([math.log((n + 1) / (frequency[term] + 1)) + 1 for term in vocabulary], dtype=np.float64)
        found = [self._weighted(count) for count in counts]
        term = np.concatenate([part[0] for part in found]) if found else np.zeros(0, dtype=np.int64)
        weight = np.concatenate([part[1] for part in found]) if found else np.zeros(0)
        document = np.repeat(np.arange(n, dtype=np.int64), [len(part[0]) for part in found])
        self._table = CellTable(term * max(1, n) + document, weight)

    def _weighted(self, count: Mapping[str, int]) -> tuple[Positions, Array]:
        """Return the term numbers of a document and their weights, of length 1."""
        numbers = np.array([self.term_ids[term] for term in count], dtype=np.int64)
        weights = np.array([1 + math.log(many) for many in count.values()]) * self._idf[numbers]
        length = math.sqrt(math.fsum(weights * weights))
        return numbers, weights / length if length else weights

    def score_pools(self, queries: Sequence[str], pools: Positions) -> Array:
        """Return the cosine of each query with each document of its pool.

        Args:
            pools: positions in `ids`, one row a query.

        Returns:
            An array of the shape of `pools`.
        """
        pools = np.asarray(pools, dtype=np.int64)
        row, term, weight = self._query_weights(queries)
        scores = np.zeros(pools.shape)
        step = max(1, BLOCK // max(1, pools.shape[1]))
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            cells = term[part] * len(self.ids) + pools.T[:, row[part]]
            weights = self._table.look_up(cells) * weight[part]
            for column, values in enumerate(weights):  # added one after the other, so that neighbours change nothing
                scores[:, column] += np.bincount(row[part], weights=values, minlength=len(queries))
        return scores

    def _query_weights(self, queries: Sequence[str]) -> tuple[Positions, Positions, Array]:
        """Return number of the query, number of the term, and weight of every known term of every query, in that order."""
        tokens = _tokens_of_all(queries)
        known = self.term_ids.get
        numbers = np.fromiter((known(token, -1) for token in tokens), dtype=np.int64, count=len(tokens))
        row = np.cumsum(numbers == -2)
        kept = numbers >= 0
        size = max(1, len(self._idf))
        pairs, count = np.unique(row[kept] * size + numbers[kept], return_counts=True)
        row, term = pairs // size, pairs % size
        weight = (1 + np.log(count)) * self._idf[term]
        length = np.sqrt(np.bincount(row, weights=weight * weight, minlength=len(queries)))
        return row, term, weight / length[row]

    def all_scores(self, query: str) -> Array:
        """Return the cosine of the query with every document, in the order of `ids`."""
        return np.asarray(self.score_pools([query], np.arange(len(self.ids))[None, :])[0])

    def scores(self, query: str, pool: Sequence[str]) -> dict[str, float]:
        """Return the cosine of the query with the documents of a pool."""
        return self.scores_many([query], [pool])[0]

    def scores_many(self, queries: Sequence[str], pools: Sequence[Sequence[str]]) -> list[dict[str, float]]:
        """Return the cosine of each query with the documents of its pool; pools may differ in size."""
        found: list[dict[str, float]] = [{} for _ in queries]
        by_size: dict[int, list[int]] = {}
        for number, pool in enumerate(pools):
            by_size.setdefault(len(pool), []).append(number)
        for size, numbers in by_size.items():
            places = [self.position[identifier] for number in numbers for identifier in pools[number]]
            positions = np.array(places, dtype=np.int64).reshape(len(numbers), size)
            values = self.score_pools([queries[number] for number in numbers], positions).tolist()
            for number, row in zip(numbers, values, strict=True):
                found[number] = dict(zip(pools[number], row, strict=True))
        return found


def tfidf_scores(query: str, docs: Mapping[str, str]) -> dict[str, float]:
    """Return the cosine of a query with each document (definitions, `tfidf_scores`)."""
    return TfidfIndex(docs).scores(query, list(docs))


def terms(text: str) -> list[str]:
    """Return a text's tokens without the 80 stop words."""
    return [token for token in tokenize(text) if token not in STOP_WORDS]


def _tokens_of_all(texts: Sequence[str]) -> list[str]:
    """Return what `tokenize` gives of each text, one after the other, with a separator between texts."""
    joined = SEPARATOR.join(text.replace(SEPARATOR, " ") for text in texts)
    return _PIECES.findall(normalize_text(strip_labels(joined)))
