"""How far reviewers agree about the aspects of a place: c = (positive - negative) / all sentences (definitions, B13)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.aspects import STARS_WEIGHT, aspect_hits, keyword_sentiment
from trace_dataset.scoring.text import split_sentences, tokenize


@dataclass(frozen=True, slots=True)
class AspectConsensus:
    """Sentences about one aspect of a place: how many praise it, find fault with it, and speak of it at all."""

    n_pos: int = 0
    n_neg: int = 0
    n_total: int = 0

    @property
    def value(self) -> float:
        """The consensus, from -1 to 1."""
        return consensus(self.n_pos, self.n_neg, self.n_total)


def consensus(n_pos: int, n_neg: int, n_total: int) -> float:
    """Return (n_pos - n_neg) / n_total, from -1 to 1; 0 without sentences.

    Example:
        >>> consensus(7, 2, 10)
        0.5
    """
    return (n_pos - n_neg) / n_total if n_total else 0.0


class Consensus:
    """The consensus about every place's aspects; read once a place and kept."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.of = functools.cache(self._read)

    def score(self, business_id: str, query: str) -> float:
        """Return the sum of the consensus over the query's aspects, plus 0.1 times the stars (P49)."""
        found = self.of(business_id)
        wanted = sorted(aspect_hits(tokenize(query)))
        shares = [found[name].value for name in wanted if name in found]
        return math.fsum([*shares, STARS_WEIGHT * self.kb.pois[business_id].stars])

    def _read(self, business_id: str) -> Mapping[str, AspectConsensus]:
        counts: dict[str, list[int]] = {}
        for review_id in self.kb.reviews_of[business_id]:
            for sentence in split_sentences(self.kb.reviews[review_id].text or ""):
                tokens = tokenize(sentence)
                sentiment = keyword_sentiment(tokens)
                for aspect in aspect_hits(tokens):
                    row = counts.setdefault(aspect, [0, 0, 0])
                    row[0] += sentiment > 0
                    row[1] += sentiment < 0
                    row[2] += 1
        return {aspect: AspectConsensus(*counts[aspect]) for aspect in sorted(counts)}
