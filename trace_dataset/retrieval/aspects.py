"""Five aspects by keyword, and a keyword sentiment with negation: all that baseline B3 knows (definitions, B3 and P40).

The lists are data beside this module. They are deliberately simple: the evidence that chose the golds is another, finer
reader, and no baseline sees it.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources

from trace_dataset.scoring.text import tokenize

SATURATION = 3  # hits at which a wish has its full weight
STARS_WEIGHT = 0.1
NEGATION_WINDOW = 3  # tokens before an opinion word


@functools.cache
def aspect_words() -> Mapping[str, frozenset[str]]:
    """Return the keywords of each of the five aspects."""
    return {name: frozenset(words) for name, words in _data("aspects.json").items()}


def aspect_hits(tokens: Sequence[str]) -> dict[str, int]:
    """Return how many tokens speak of each aspect, aspects without any left out."""
    counts = {name: sum(token in words for token in tokens) for name, words in aspect_words().items()}
    return {name: count for name, count in counts.items() if count}


def keyword_sentiment(tokens: Sequence[str]) -> int:
    """Return the sign of positive less negative words, -1, 0 or 1; a negation up to three tokens before turns a word over."""
    words = _opinions()
    total = 0
    for index, token in enumerate(tokens):
        polarity = (token in words["positive"]) - (token in words["negative"])
        if polarity and any(before in words["negation"] for before in tokens[max(0, index - NEGATION_WINDOW) : index]):
            polarity = -polarity
        total += polarity
    return (total > 0) - (total < 0)


def review_sentiments(texts: Sequence[str]) -> dict[str, list[int]]:
    """Return, for each aspect, the sentiments of the reviews that mention it."""
    found: dict[str, list[int]] = {}
    for text in texts:
        tokens = tokenize(text)
        for aspect in aspect_hits(tokens):
            found.setdefault(aspect, []).append(keyword_sentiment(tokens))
    return found


def aspect_score(hits: Mapping[str, int], sentiment: Mapping[str, Sequence[int]], stars: float) -> float:
    """Return the sum over aspects of min(hits/3, 1) * mean sentiment, plus 0.1 * stars.

    Args:
        hits: aspect keywords in the query.
        sentiment: by aspect, the sentiments of the reviews that mention it; an aspect without reviews adds nothing.
    """
    parts = [
        min(count / SATURATION, 1.0) * (math.fsum(sentiment[aspect]) / len(sentiment[aspect]))
        for aspect, count in sorted(hits.items())
        if sentiment.get(aspect)
    ]
    return math.fsum(parts) + STARS_WEIGHT * stars


@functools.cache
def _opinions() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in _data("sentiment.json").items()}


def _data(name: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return values
