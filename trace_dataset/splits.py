"""The official splits: 70/15/15 within each city and place type, seed 42 (paper section 2.2; definitions 7.6)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

from trace_dataset.schema import SPLITS


def split_sizes(n: int) -> tuple[int, int, int]:
    """Return how many of `n` dialogues of a stratum go to train, validation and test.

    Train and validation are 70 % and 15 % with halves rounded up, test is the rest: the only rule that gives the paper's
    1,496 test dialogues on 24 balanced strata.

    Example:
        >>> split_sizes(417)
        (292, 63, 62)
    """
    train = (70 * n + 50) // 100
    validation = min((15 * n + 50) // 100, n - train)
    return train, validation, n - train - validation


def assign_splits(strata: Iterable[tuple[str, tuple[str, str]]], seed: int = 42) -> dict[str, str]:
    """Return the split of every dialogue.

    Args:
        strata: pairs of a dialogue id and its (city, place type).
        seed: of the one generator that shuffles the strata, taken in sorted order.
    """
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for dialogue_id, stratum in strata:
        groups[stratum].append(dialogue_id)
    generator = random.Random(seed)
    split_of: dict[str, str] = {}
    for stratum in sorted(groups):
        ids = sorted(groups[stratum])
        generator.shuffle(ids)
        start = 0
        for split, size in zip(SPLITS, split_sizes(len(ids)), strict=True):
            split_of.update(dict.fromkeys(ids[start : start + size], split))
            start += size
    return split_of
