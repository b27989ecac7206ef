"""Draws that need nothing of a generator but `random()`, so that no change of the standard library can move them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def pick(rng: random.Random, items: Sequence[T]) -> T:
    """Return one item, all equally likely; `items` must not be empty."""
    return items[int(rng.random() * len(items))]


def chance(rng: random.Random, share: float) -> bool:
    """Return True with probability `share`."""
    return rng.random() < share


def pick_weighted(rng: random.Random, items: Sequence[T], weights: Sequence[float]) -> T:
    """Return one item with probability in proportion to its weight; the weights must not all be 0."""
    left = rng.random() * math.fsum(weights)  # sum() rounds differently from Python 3.12 on
    for item, weight in zip(items, weights, strict=True):
        left -= weight
        if left < 0:
            return item
    return next(item for item, weight in reversed(list(zip(items, weights, strict=True))) if weight > 0)


def shuffled(rng: random.Random, items: Sequence[T]) -> list[T]:
    """Return the items in random order."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result


def weighted_order(rng: random.Random, items: Sequence[T], weights: Sequence[float]) -> Iterator[T]:
    """Yield the items in random order, heavier ones earlier; those of weight 0 are left out."""
    pairs = [(item, weight) for item, weight in zip(items, weights, strict=True) if weight > 0]
    left, shares = [item for item, _ in pairs], [weight for _, weight in pairs]
    while left:
        index = pick_weighted(rng, range(len(left)), shares)
        shares.pop(index)
        yield left.pop(index)
