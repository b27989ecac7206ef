"""The rows that the `evaluate` modules take: one format each, every row checked, one error that shows the right shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .checks import UsageError, check_lengths, check_texts


def rows(texts: Sequence[str], recommends: bool | Sequence[bool] = True) -> list[dict[str, Any]]:
    """Turn plain response texts into the rows that `cgs`, `cgs_ent` and `provenance_coverage` take.

    Args:
        texts: one response an item.
        recommends: whether the responses recommend a place: one value for all, or one an item. A turn that only asks or
            greets must say False, or it would count as fully covered.

    Example:
        >>> rows(["Try Blue Door [R1]."])
        [{'text': 'Try Blue Door [R1].', 'recommends': True}]
    """
    check_texts(texts, "texts")
    flags = [recommends] * len(texts) if isinstance(recommends, bool) else list(recommends)
    check_lengths(texts=texts, recommends=flags)
    for index, flag in enumerate(flags):
        if not isinstance(flag, bool):
            raise UsageError(f"item {index} of recommends is {flag!r}", do="pass True or False")
    return [{"text": text, "recommends": flag} for text, flag in zip(texts, flags, strict=True)]
