"""Turn contexts under teacher forcing: at each system turn the reference history, the pool and the action to perform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trace_dataset.pools import candidate_pool
from trace_dataset.schema import Dialogue
from trace_dataset.streams import stream
from trace_dataset.turns import PastTurn, TurnContext

Cells = Mapping[tuple[str, str], tuple[str, ...]]


def turn_contexts(
    dialogue: Dialogue, cells: Cells, pool: str, seed: int, use: str
) -> Iterator[tuple[int, TurnContext]]:
    """Yield the index and context of every system turn of a dialogue.

    Args:
        cells: the places of each city and type, for pools wider than the eight candidates.
        use: what the turn's random generator is for, e.g. the baseline's name.
    """
    places = candidate_pool(dialogue, cells[dialogue.city, dialogue.poi_type], pool, seed)
    past = tuple(PastTurn.of(turn) for turn in dialogue.turns)
    for turn in dialogue.turns:
        if turn.role == "system":
            yield (
                turn.index,
                TurnContext(
                    dialogue.dialogue_id,
                    past[: turn.index],
                    turn.action,
                    places,
                    dialogue.city,
                    dialogue.poi_type,
                    dialogue.persona_description,
                    stream(seed, use, dialogue.dialogue_id, turn.index),
                ),
            )
