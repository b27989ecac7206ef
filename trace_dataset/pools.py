"""Candidate pools: closed 8, expanded 16 and 32, open; each within the next (paper section 2.2, definitions 7.2)."""

from __future__ import annotations

from collections.abc import Sequence

from hydrate.errors import UsageError
from trace_dataset.schema import Dialogue
from trace_dataset.streams import stream

POOLS = ("closed", "16", "32", "open")


def pool_name(pool: str | int) -> str:
    """Return the pool's canonical name; 8 is `closed`. Raises `UsageError` for a pool that does not exist."""
    name = "closed" if str(pool) == "8" else str(pool)
    if name not in POOLS:
        raise UsageError(f"there is no pool called {pool!r}", do=f"use one of: {', '.join(POOLS)}")
    return name


def candidate_pool(
    dialogue: Dialogue, cell: Sequence[str], pool: str | int = "closed", seed: int = 42
) -> tuple[str, ...]:
    """Return the business ids a system may recommend in a dialogue.

    Args:
        dialogue: whose eight candidates come first, in their order.
        cell: every place of the dialogue's city and type.
        pool: `closed`, 16, 32 or `open` (the whole cell). A cell smaller than the pool gives the whole cell.
        seed: of the order in which further places of the cell join; one order serves all sizes, so pools are nested.
    """
    name = pool_name(pool)
    if name == "closed":
        return dialogue.candidates
    inside = set(dialogue.candidates)
    others = sorted(business for business in cell if business not in inside)
    stream(seed, "pool", dialogue.dialogue_id).shuffle(others)
    whole = dialogue.candidates + tuple(others)
    return whole if name == "open" else whole[: int(name)]
