"""Quantities of the judge-calibration study: two lists of cities compared on four dimensions (definitions, section 5).

Scores run from +2 (much more the first list) to -2; None is an unsure answer, which is left out and never a vote.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .checks import UsageError, check_choice, check_lengths
from .text import normalize_text

DIMENSIONS = ("R", "D", "S", "PM")  # relevance, diversity, sustainability, popularity mix
CONFIDENT = 0.7
SHARED_CITIES = 3
_STRENGTH = re.compile(r"(much|slightly) more (l[12])(?: than l[12])?")
_SURVEY = {1: 2, 2: 1, 3: 0, 4: -1, 5: -2, 0: None}
Scores = Sequence["int | None"]
Query = Mapping[str, Mapping[str, Any]]


def comparison_score(label: str | int) -> int | None:
    """Return the score of a label or of a survey value 1 to 5; None for "not sure", "don't know" and 0.

    Example:
        >>> comparison_score("Much more L1 than L2"), comparison_score("Not sure / Don’t know.")
        (2, None)
    """
    if isinstance(label, int):
        if label not in _SURVEY:
            raise UsageError(f"survey value {label!r}", do="use 1 to 5, or 0 for unsure")
        return _SURVEY[label]
    text = normalize_text(label).strip(" .!")
    if "not sure" in text or "don't know" in text or text == "unsure":
        return None
    if text.startswith("about the same"):
        return 0
    match = _STRENGTH.fullmatch(text)
    if match is None:
        raise UsageError(
            "a comparison label that is none of the six",
            do='use "Much more L1", "Slightly more L1", "About the same", "Slightly more L2", "Much more L2" or "Not sure"',
        )
    return (2 if match[1] == "much" else 1) * (1 if match[2] == "l1" else -1)


def s_agg(scores: Mapping[str, float | None], confidences: Mapping[str, float], average: bool = False) -> float | None:
    """Return the sum over dimensions of score times confidence; positive favours the first list; None if all are unsure.

    Args:
        average: divide by the four dimensions, as the study's repository does.
    """
    terms = _terms(scores, confidences)
    if not terms:
        return None
    return math.fsum(terms) / (len(DIMENSIONS) if average else 1)


def asr(queries: Sequence[Query], variant: str = "sum_query") -> float | str | None:
    """Return the Aggregated Score Ratio: what favours the first list over what favours the second; print all variants.

    Args:
        queries: `{"scores": {...}, "confidences": {...}}` each, by dimension.
        variant: "sum_query" sums query totals (the study's text), "sum_dimension" single terms, "count" counts queries with
            a total of at least 0 against those below (the study's script, and its printed values).

    Returns:
        "inf" where nothing favours the second list, None where nothing favours either.
    """
    check_choice(variant, "variant", ("sum_query", "sum_dimension", "count"))
    if variant == "sum_dimension":
        values = [term for query in queries for term in _terms(query["scores"], query["confidences"])]
    else:
        totals = (s_agg(query["scores"], query["confidences"]) for query in queries)
        values = [total for total in totals if total is not None]
    if variant == "count":
        return _over(sum(value >= 0 for value in values), sum(value < 0 for value in values))
    first = math.fsum(value for value in values if value > 0)
    return _over(first, -math.fsum(value for value in values if value < 0))


def blr(best: Sequence[str | None]) -> float | str | None:
    """Return the best-list ratio: answers "L1" over answers "L2"; anything else is ignored."""
    return _over(list(best).count("L1"), list(best).count("L2"))


def vote(score: float | None) -> str:
    """Return the list that a score favours, "Neither" for 0 and for unsure."""
    return "Neither" if not score else "L1" if score > 0 else "L2"


def majority_vote(scores: Scores) -> str:
    """Return the list that most annotators favour; a tied top is "Neither".

    Example:
        >>> majority_vote([2, 1, -1]), majority_vote([1, 1, -1, -2])
        ('L1', 'Neither')
    """
    votes = Counter(map(vote, scores))
    most = max(votes.values(), default=0)
    top = [choice for choice, count in votes.items() if count == most]
    return top[0] if len(top) == 1 else "Neither"


def alignment_with_majority(judge: Scores, humans: Sequence[Scores]) -> float | None:
    """Return the share of queries where the judge's vote equals the annotators' majority, "Neither" included."""
    check_lengths(judge=judge, humans=humans)
    pairs = list(zip(judge, humans, strict=True))
    return sum(vote(score) == majority_vote(others) for score, others in pairs) / len(pairs) if pairs else None


def constant_guess_alignment(humans: Sequence[Scores]) -> dict[str, float | None]:
    """Return the alignment that always answering "L1", "L2" or "Neither" would reach: what a judge must beat."""
    return {
        choice: alignment_with_majority([score] * len(humans), humans)
        for choice, score in (("L1", 1), ("L2", -1), ("Neither", 0))
    }


def misaligned(judge: Scores, human: Scores, threshold: int = 2) -> list[int]:
    """Return the positions where judge and annotators differ by at least `threshold`; `human` from `median_score`."""
    check_lengths(judge=judge, human=human)
    return [
        index
        for index, (ours, theirs) in enumerate(zip(judge, human, strict=True))
        if ours is not None and theirs is not None and abs(ours - theirs) >= threshold
    ]


def median_score(scores: Scores) -> int | None:
    """Return the median of the annotators' scores, rounded toward zero; None if all are unsure."""
    defined = sorted(score for score in scores if score is not None)
    if not defined:
        return None
    middle = len(defined) // 2
    return defined[middle] if len(defined) % 2 else math.trunc((defined[middle - 1] + defined[middle]) / 2)


def weighted_stats(scores: Scores, confidences: Sequence[float]) -> dict[str, float] | None:
    """Return number, mean and variance of the scores, weighted by confidence; None without weight."""
    check_lengths(scores=scores, confidences=confidences)
    rows = [(score, weight) for score, weight in zip(scores, confidences, strict=True) if score is not None]
    total = math.fsum(weight for _, weight in rows)
    if not total > 0:
        return None
    mean = math.fsum(score * weight for score, weight in rows) / total
    variance = math.fsum(weight * (score - mean) ** 2 for score, weight in rows) / total
    return {"n": len(rows), "mean": mean, "variance": variance}


def three_way_agreement(a: Sequence[Any], b: Sequence[Any], c: Sequence[Any]) -> dict[str, int]:
    """Return how often all three judges agree, exactly one pair does (which), and none; complete rows only."""
    check_lengths(a=a, b=b, c=c)
    counts = dict.fromkeys(("all", "ab_only", "ac_only", "bc_only", "none", "n"), 0)
    for first, second, third in zip(a, b, c, strict=True):
        if first is None or second is None or third is None:
            continue
        counts["n"] += 1
        if first == second == third:
            counts["all"] += 1
        elif first == second:
            counts["ab_only"] += 1
        elif first == third:
            counts["ac_only"] += 1
        elif second == third:
            counts["bc_only"] += 1
        else:
            counts["none"] += 1
    return counts


def best_vs_dimension(
    scores: Scores, confidences: Sequence[float], best: Sequence[str | None], threshold: float = CONFIDENT
) -> dict[str, int]:
    """Return how often a confident, decided dimension agrees with an explicit best list: matches, and valid rows."""
    check_lengths(scores=scores, confidences=confidences, best=best)
    valid = [
        (vote(score), choice)
        for score, confidence, choice in zip(scores, confidences, best, strict=True)
        if score and confidence >= threshold and choice in ("L1", "L2")
    ]
    return {"matches": sum(favoured == choice for favoured, choice in valid), "valid": len(valid)}


def list_pair_kept(l1: Sequence[str], l2: Sequence[str], max_shared: int = SHARED_CITIES) -> bool:
    """Return whether two lists of cities share at most `max_shared`, in any order and case."""
    return len(set(map(normalize_text, l1)) & set(map(normalize_text, l2))) <= max_shared


def _terms(scores: Mapping[str, float | None], confidences: Mapping[str, float]) -> list[float]:
    return [
        score * confidences[dimension]
        for dimension in DIMENSIONS
        if (score := scores.get(dimension)) is not None and confidences.get(dimension) is not None
    ]


def _over(first: float, second: float) -> float | str | None:
    if second:
        return first / second
    return "inf" if first else None
