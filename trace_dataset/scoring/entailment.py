"""Entailment grounding: does a cited review really say what the response claims (definitions, M10 and 9.11)?

The arithmetic and the sentence categories need no model; `nli` loads one. A model here is anything with
`probabilities(pairs)`, which returns for each (premise, claim) the probability of entailment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from .checks import UsageError, check_lengths, check_texts
from .text import has_double_mark, normalize_text, split_sentences, strip_labels, tokenize

THRESHOLD = 0.5
CATEGORIES = ("quote", "rating_meta", "framing", "other_claim")
Pair = tuple[str, str]
_RATING = re.compile(
    r"\bstars?\b|\b\d(?:\.\d)? ?/ ?5\b|\b(?:rated|priced)\b|\bprice range\b|\$|\b\d[\d,]{0,12} reviews?\b"
)
_FRAMING = re.compile(
    r"\b(?:i(?:'d| would)? (?:suggest|recommend)|here (?:are|is)|here's|you (?:might|may|could)|consider|"
    r"(?:a|one|another) reviewer|reviewers|how about|based on (?:your|what)|let me know|would you like|"
    r"shall i|should i|how does that sound|happy to)\b"
)


class EntailmentModel(Protocol):
    """What scores pairs; `name` stands in signatures."""

    name: str

    def probabilities(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """Return the probability that the premise entails the claim, for each (premise, claim)."""


@dataclass(frozen=True)
class EntailmentColumns:
    """One entry a response: its value (None without claims), its claims, their best probabilities and categories."""

    values: list[float | None] = field(default_factory=list)
    claims: list[list[str]] = field(default_factory=list)
    probabilities: list[list[float]] = field(default_factory=list)
    categories: list[list[str]] = field(default_factory=list)

    def by_category(self, threshold: float = THRESHOLD) -> dict[str, tuple[float | None, int]]:
        """Return for each sentence category the share of supported claims, and the number of claims."""
        found: dict[str, list[bool]] = {category: [] for category in CATEGORIES}
        for categories, probabilities in zip(self.categories, self.probabilities, strict=True):
            for category, probability in zip(categories, probabilities, strict=True):
                found[category].append(probability >= threshold)
        return {category: (sum(hits) / len(hits) if hits else None, len(hits)) for category, hits in found.items()}


def entailment_grounding(claim_probs: Sequence[Sequence[float]], threshold: float = THRESHOLD) -> float | None:
    """Return the share of claims that some premise entails, 0 to 1; None without claims (M10; paper, section 3).

    Args:
        claim_probs: for each claim the probability of entailment by each premise; a claim without premises is unsupported.

    Example:
        >>> entailment_grounding([[0.9, 0.1], [0.3, 0.2]])
        0.5
    """
    check_probability(threshold)
    if not claim_probs:
        return None
    return sum(max(probs, default=0.0) >= threshold for probs in claim_probs) / len(claim_probs)


def claims_of(response: str) -> list[str]:
    """Return the sentences of a response without labels: its claims. Sentences without a word are none.

    Example:
        >>> claims_of("Rooms are cozy [R3]. Parking is free! [R4]")
        ['Rooms are cozy.', 'Parking is free!']
    """
    claims = [" ".join(strip_labels(sentence, tidy=True).split()) for sentence in split_sentences(response)]
    return [claim for claim in claims if tokenize(claim)]


def score_entailment(
    texts: Sequence[str],
    premises: Sequence[str],
    offsets: Sequence[int],
    model: EntailmentModel,
    threshold: float = THRESHOLD,
) -> EntailmentColumns:
    """Return entailment grounding of many responses; equal pairs are scored once.

    Args:
        texts: the responses.
        premises: the reviews of the places each response names, cited ones first, response after response.
        offsets: `premises[offsets[i]:offsets[i + 1]]` belong to text i.
    """
    check_texts(texts, "texts")
    check_texts(premises, "premises")
    check_probability(threshold)
    if len(offsets) != len(texts) + 1 or offsets[-1] != len(premises):
        raise UsageError(
            f"offsets do not divide {len(premises)} premises among {len(texts)} texts",
            do=f"pass {len(texts) + 1} ascending numbers from 0 to {len(premises)}",
        )
    claims = [claims_of(text) for text in texts]
    given = [list(dict.fromkeys(premises[start:end])) for start, end in pairwise(offsets)]
    wanted = dict.fromkeys(
        (premise, claim) for group, reviews in zip(claims, given, strict=True) for claim in group for premise in reviews
    )
    scored = _score(list(wanted), model)
    columns = EntailmentColumns(claims=claims)
    for text, group, reviews in zip(texts, claims, given, strict=True):
        best = [max((scored[premise, claim] for premise in reviews), default=0.0) for claim in group]
        columns.probabilities.append(best)
        columns.values.append(entailment_grounding([[value] for value in best], threshold))
        columns.categories.append(_categories(text))
    return columns


def sentence_category(sentence: str) -> str:
    """Return what a sentence of a response is: quote, rating_meta, framing or other_claim; the first that applies.

    Example:
        >>> sentence_category("It is rated 4.5 stars with 210 reviews.")
        'rating_meta'
    """
    if has_double_mark(sentence):
        return "quote"
    plain = normalize_text(sentence)
    if _RATING.search(plain):
        return "rating_meta"
    return "framing" if _FRAMING.search(plain) else "other_claim"


def check_probability(threshold: object) -> None:
    """Raise `UsageError` unless a threshold of entailment is a number from 0 to 1."""
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise UsageError(f"threshold is {threshold!r}", do="use a number from 0 to 1")


def _categories(text: str) -> list[str]:
    return [sentence_category(sentence) for sentence in split_sentences(text) if tokenize(sentence)]


def _score(pairs: Sequence[Pair], model: EntailmentModel) -> dict[Pair, float]:
    if not pairs:
        return {}
    found = model.probabilities(pairs)
    check_lengths(pairs=pairs, probabilities=found)
    return {pair: float(probability) for pair, probability in zip(pairs, found, strict=True)}
