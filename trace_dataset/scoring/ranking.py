"""Recommendation quality: was the right place named, and how early (definitions, M3 to M5 and 4.3)?

Every function takes the ids that a response names, best first; repeats are dropped before a list is cut. None: undefined,
since there is no gold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .checks import check_cut


def recall_at_k(predicted: Sequence[str], gold: Sequence[str], k: int = 1) -> float | None:
    """Return the share of the gold ids among the first k predicted, 0 to 1; with one gold id it equals `hit_at_k`.

    Example:
        >>> recall_at_k(["b", "b", "a"], ["a", "c"], k=2)
        0.5
    """
    first, wanted = _first(predicted, k), set(gold)
    return len(wanted.intersection(first)) / len(wanted) if wanted else None


def hit_at_k(predicted: Sequence[str], gold: Sequence[str], k: int = 1) -> float | None:
    """Return 1.0 if any gold id is among the first k predicted, else 0.0."""
    first = _first(predicted, k)
    return float(not set(gold).isdisjoint(first)) if gold else None


def reciprocal_rank(predicted: Sequence[str], gold: Sequence[str]) -> float | None:
    """Return 1 / position of the first gold id, 0 where none is predicted; its mean over turns is MRR.

    Example:
        >>> reciprocal_rank(["a", "a", "b"], ["b"])
        0.5
    """
    if not gold:
        return None
    wanted = set(gold)
    ranks = (rank for rank, place in enumerate(dict.fromkeys(predicted), start=1) if place in wanted)
    return 1 / next(ranks, math.inf)


def ndcg_at_k(predicted: Sequence[str], relevance: Mapping[str, float] | Sequence[str], k: int = 5) -> float | None:
    """Return nDCG@k, 0 to 1: gain 2^relevance - 1, discount log2(rank + 1), against the best list of length k.

    Args:
        relevance: id to relevance, or a plain list of the relevant ids.

    Example:
        >>> ndcg_at_k(["a", "b", "c"], {"c": 1}, k=5)
        0.5
    """
    first = _first(predicted, k)
    grades = relevance if isinstance(relevance, Mapping) else dict.fromkeys(relevance, 1)
    gains = {place: 2.0**grade - 1 for place, grade in grades.items() if grade > 0}
    best = _discounted(sorted(gains.values(), reverse=True)[:k])
    return _discounted([gains.get(place, 0.0) for place in first]) / best if best else None


def multi_ref_recall_at_k(
    predicted: Sequence[str], gold: Sequence[str], alternatives: Sequence[str], k: int = 1
) -> float | None:
    """Return 1.0 if any gold id or alternative is among the first k predicted, else 0.0.

    A hit and not a share: more references can only raise it (definitions, 4.3).
    """
    return hit_at_k(predicted, [*gold, *alternatives], k)


def pooled_recall_at_k(users: Sequence[Mapping[str, Any]], k: int = 5) -> float | None:
    """Return relevant ids among the first k, summed over users, / relevant ids, summed over users.

    Args:
        users: `{"predicted": [ids], "relevant": [ids]}` each.
    """
    hits = sum(len(set(user["relevant"]).intersection(_first(user["predicted"], k))) for user in users)
    total = sum(len(set(user["relevant"])) for user in users)
    return hits / total if total else None


def _first(predicted: Sequence[str], k: int) -> list[str]:
    check_cut(k)
    return list(dict.fromkeys(predicted))[:k]


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
