"""Dialogue success and recovery after a "no" (definitions, M14 to M16; paper, section 6.3 and appendix on dialogue quality).

A dialogue is a list of turns `{"role", "action", "pred", "rejected"}`: `pred` the ids a system turn names, `rejected` the ids
a user turn refuses; both may be missing. `gold` are all ids that the reference recommends in the dialogue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .checks import check_choice

RECOMMENDING = ("recommend", "compare")
REJECTION = "reject_and_refine"
Turns = Sequence[Mapping[str, Any]]


def tsr(turns: Turns, gold: Collection[str]) -> float | None:
    """Return 1.0 if any system turn names a gold id, else 0.0; None without gold (M14)."""
    wanted = set(gold)
    return float(any(_names(turn, wanted) for turn in turns)) if wanted else None


def t2r(turns: Turns, gold: Collection[str], mode: str = "system_turns", misses: str = "length") -> float | None:
    """Return how many turns it takes to the first recommendation that names a gold id; lower is better (M15).

    Args:
        mode: "system_turns" counts system turns from 1, "rec_turns" those that recommend or compare, "turn_index" is the
            position in the dialogue from 0.
        misses: what a dialogue without a hit gives: "length" its number of turns, "drop" None (decisions, item 12).

    Returns:
        None without gold.
    """
    check_choice(mode, "mode", ("system_turns", "rec_turns", "turn_index"))
    check_choice(misses, "misses", ("length", "drop"))
    wanted = set(gold)
    if not wanted:
        return None
    seen = {"system_turns": 0, "rec_turns": 0}
    for index, turn in enumerate(turns):
        seen["system_turns"] += turn["role"] == "system"
        seen["rec_turns"] += _recommends(turn)
        if _recommends(turn) and _names(turn, wanted):
            return float(seen.get(mode, index))
    return float(len(turns)) if misses == "length" else None


def rejection_recovery(turns: Turns, gold: Collection[str], exclude_rejected: bool = False) -> float | None:
    """Return recovered rejections / rejections of one dialogue, 0 to 1; None without a rejection (M16).

    A rejection is recovered if the next system turn that recommends or compares names a gold id. Over a corpus, pool the
    counts of `recovery_counts`.

    Args:
        exclude_rejected: take what was refused out of the gold. Without it, naming the refused place again counts as
            recovery: report this one as the headline (decisions, item 13).
    """
    recovered, rejections = recovery_counts(turns, gold, exclude_rejected)
    return recovered / rejections if rejections else None


def recovery_counts(turns: Turns, gold: Collection[str], exclude_rejected: bool = True) -> tuple[int, int]:
    """Return how many rejections of a dialogue were recovered, and how many there were."""
    recovered = rejections = 0
    for index, turn in enumerate(turns):
        if turn["action"] != REJECTION:
            continue
        rejections += 1
        scored = next((at for at in range(index + 1, len(turns)) if _recommends(turns[at])), None)
        if scored is None:
            continue
        refused = (
            {place for past in turns[:scored] for place in past.get("rejected") or ()} if exclude_rejected else set()
        )
        recovered += _names(turns[scored], set(gold) - refused)
    return recovered, rejections


def _recommends(turn: Mapping[str, Any]) -> bool:
    return bool(turn["role"] == "system" and turn["action"] in RECOMMENDING)


def _names(turn: Mapping[str, Any], wanted: set[str]) -> bool:
    return bool(turn["role"] == "system" and not wanted.isdisjoint(turn.get("pred") or ()))
