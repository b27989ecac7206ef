"""Review sentences by their overlap with a query, and the check that an answer quotes one of them (definitions, B12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_dataset.kb import KnowledgeBase
from trace_dataset.scoring.text import extract_quotes, split_sentences, tokenize

TOP = 10  # sentences that an answer may quote
QUOTE_TOKENS = 10  # the shortest quote that counts


@dataclass(frozen=True, slots=True)
class ReviewSentence:
    """One sentence of a review, and its tokens."""

    business_id: str
    review_id: str
    text: str
    tokens: frozenset[str]


def jaccard_retrieval(query: str, sentences: Sequence[str], top: int = TOP) -> list[tuple[int, float]]:
    """Return position and token-set Jaccard of the sentences nearest to a query; ties keep their order.

    Example:
        >>> jaccard_retrieval("quiet patio", ["Loud bar.", "Quiet patio!"], top=1)
        [(1, 1.0)]
    """
    return nearest(query, [frozenset(tokenize(sentence)) for sentence in sentences], top)


def nearest(query: str, token_sets: Sequence[frozenset[str]], top: int = TOP) -> list[tuple[int, float]]:
    """Return the same from sentences that are tokens already."""
    wanted = frozenset(tokenize(query))
    scores = []
    for position, tokens in enumerate(token_sets):
        shared = len(wanted & tokens)
        scores.append((position, shared / (len(wanted) + len(tokens) - shared) if shared else 0.0))
    return sorted(scores, key=lambda item: -item[1])[:top]


def rag_citation_check(response: str, evidence: Sequence[str], min_tokens: int = QUOTE_TOKENS) -> bool:
    """Return whether a response holds a quote of at least ten tokens that stands word for word in the evidence.

    Case, punctuation and typographic marks do not count; a quote over two sentences of evidence is none.

    Example:
        >>> rag_citation_check('They say "the rooms are small but spotless".', ["The rooms are small but spotless."], 6)
        True
    """
    texts = [f" {' '.join(tokenize(text))} " for text in evidence]
    quotes = [f" {' '.join(tokenize(quote))} " for quote in extract_quotes(response, min_tokens=min_tokens)]
    return any(quote in text for quote in quotes for text in texts)


class ReviewSentences:
    """The sentences of every place's reviews; cut once a place and kept."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._of: dict[str, list[ReviewSentence]] = {}

    def of(self, business_id: str) -> list[ReviewSentence]:
        """Return a place's sentences, reviews in the order of their ids."""
        if business_id not in self._of:
            self._of[business_id] = [
                ReviewSentence(business_id, review_id, sentence, frozenset(tokenize(sentence)))
                for review_id in self.kb.reviews_of[business_id]
                for sentence in split_sentences(" ".join((self.kb.reviews[review_id].text or "").split()))
            ]
        return self._of[business_id]

    def nearest(self, query: str, places: Sequence[str], top: int = TOP) -> list[ReviewSentence]:
        """Return the sentences about some places that are nearest to a query."""
        every = [sentence for place in places for sentence in self.of(place)]
        return [every[position] for position, _ in nearest(query, [sentence.tokens for sentence in every], top)]
