"""Which of the places that a response declares are scored (decisions, item 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trace_dataset.retrieval.mentions import mentions, names_place

__all__ = ["SCORED", "mentions", "names_place", "scored_places"]

SCORED = 3  # places of a response that count; naming the whole pool must not win


def scored_places(
    text: str, declared: Sequence[str], names: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split declared places into those that are scored and those that are dropped since the text does not name them."""
    named = [business for business in dict.fromkeys(declared) if names_place(text, names[business])]
    dropped = [business for business in dict.fromkeys(declared) if business not in named]
    return tuple(named[:SCORED]), tuple(dropped)
