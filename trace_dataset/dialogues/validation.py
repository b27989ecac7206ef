"""Stage 4: does a dialogue keep the rules? The eight checks of definitions 7.4, and those of the text form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from trace_dataset.schema import RECOMMENDING
from trace_dataset.scoring.text import extract_quotes, parse_citations, quote_similarity, tokenize

QUOTE_MATCH = 0.80
LEAST_PLACES = 3
CHECKS = (
    "alternation",
    "recommendations",
    "compare",
    "rejections",
    "poi_reference",
    "citation",
    "review_reference",
    "quote",
)


def validate_dialogue(
    turns: Sequence[Mapping[str, Any]],
    candidates: Collection[str],
    reviews: Mapping[str, str],
    *,
    min_rejections: int = 1,
) -> list[str]:
    """Return the names of the checks that fail, sorted; an empty list means that the dialogue is sound.

    Args:
        turns: hydrated turns: `role`, `action`, and on system turns `text` and `pred`, the places that it names.
        candidates: the ids that may be named.
        reviews: label number to review text.
        min_rejections: how many reject_and_refine turns the tier asks for.

    Source: definitions, 7.4. Checks: alternation (the user begins), recommendations (three distinct places at least),
    compare (one such turn at least), rejections, poi_reference, citation (each recommending turn has a label),
    review_reference (labels resolve), quote (each quote matches a review cited in its turn at 0.80).

    Example:
        >>> validate_dialogue([{"role": "user", "action": "inform"}], ["a"], {}, min_rejections=0)
        ['compare', 'recommendations']
    """
    failing: set[str] = set()
    if not turns or any(turn["role"] != ("user", "system")[index % 2] for index, turn in enumerate(turns)):
        failing.add("alternation")
    recommending = [turn for turn in turns if turn["action"] in RECOMMENDING]
    named = {place for turn in recommending for place in turn.get("pred") or ()}
    if len(named) < LEAST_PLACES:
        failing.add("recommendations")
    if not any(turn["action"] == "compare" for turn in turns):
        failing.add("compare")
    if sum(turn["action"] == "reject_and_refine" for turn in turns) < min_rejections:
        failing.add("rejections")
    if any(place not in candidates for turn in turns for place in turn.get("pred") or ()):
        failing.add("poi_reference")
    for turn in turns:
        failing |= _evidence_failures(turn, reviews)
    return sorted(failing)


def user_text_failures(texts: Sequence[str], names: Collection[str], telling: Collection[str]) -> list[str]:
    """Return what is wrong with user texts: `user_names_place`, or `name_token`, a rare word of a gold's name.

    Args:
        texts: the user turns.
        names: the full names of the candidates.
        telling: lower-case tokens that would give a gold away.
    """
    failing = []
    said = [f" {' '.join(tokenize(text))} " for text in texts]
    if any(f" {' '.join(tokenize(name))} " in text for name in names for text in said if name.strip()):
        failing.append("user_names_place")
    if telling and any(token in telling for text in said for token in text.split()):
        failing.append("name_token")
    return failing


def system_text_failures(text: str, names: Sequence[str]) -> list[str]:
    """Return `place_unnamed` if a system text lacks a name it has to hold, or holds the names in another order."""
    position = -1
    for name in names:
        position = text.find(name, position + 1)
        if position < 0:
            return ["place_unnamed"]
    return []


def _evidence_failures(turn: Mapping[str, Any], reviews: Mapping[str, str]) -> set[str]:
    text = turn.get("text") or ""
    labels = [str(label) for label in parse_citations(text)] if turn["role"] == "system" else []
    failing: set[str] = set()
    if turn["action"] in RECOMMENDING and not labels:
        failing.add("citation")
    if any(label not in reviews for label in labels):
        failing.add("review_reference")
    if turn["role"] == "system":
        cited = [reviews[label] for label in labels if label in reviews]
        if any(not _matches(quote, cited) for quote in extract_quotes(text)):
            failing.add("quote")
    return failing


def _matches(quote: str, reviews: Sequence[str]) -> bool:
    return any(quote in review or quote_similarity(quote, review) >= QUOTE_MATCH for review in reviews)
