"""Ratings of a judge model: what counts as one (definitions, M17 to M21)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .aggregate import Summary, summarize

SCALES = ("relevance", "informativeness", "grounding_quality", "natural_flow", "justification")
LOWEST, HIGHEST = 1, 5
ATTEMPTS = 100  # opening braces of an answer that are tried; a longer answer is no rating


def judge_parse(text: str) -> dict[str, int | None]:
    """Return the five ratings in a judge's answer; anything but a whole number from 1 to 5 is None.

    The answer may hold text around its JSON object. No default stands in for a rating that is missing or broken.

    Example:
        >>> judge_parse('Sure: {"relevance": 5, "informativeness": "4", "natural_flow": 9}')["relevance"]
        5
    """
    answer = _first_object(text)
    return {scale: _rating(answer.get(scale)) for scale in SCALES}


def judge_summaries(ratings: Sequence[dict[str, int | None]]) -> dict[str, Summary]:
    """Return for each scale the mean of the valid ratings, with how many there were and how many were not valid."""
    return {scale: summarize(rating.get(scale) for rating in ratings) for scale in SCALES}


def _first_object(text: str) -> dict[str, object]:
    """Return the first JSON object in a text that holds one of the scales, or else an empty one."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(ATTEMPTS):
        if start < 0:
            break
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and not value.keys().isdisjoint(SCALES):
            return value
        start = text.find("{", start + 1)
    return {}


def _rating(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and LOWEST <= value <= HIGHEST:
        return value
    return None
