"""Stage 1: who travels where. A scenario is a city, a place type, a persona and a tier (definitions, 7.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from trace_dataset.dialogues.draws import pick_weighted
from trace_dataset.schema import TIERS
from trace_dataset.streams import stream

TIER_WEIGHTS = (0.25, 0.35, 0.30, 0.10)  # fits the paper's counts: chi2 2.03, p 0.57 (definitions, P54)
WISH_GROUPS = ("aspects", "price", "ambience", "amenities", "company", "pace", "distance")


@dataclass(frozen=True, slots=True)
class Persona:
    """An archetype of traveller.

    Attributes:
        description: one sentence in the third person; published as `persona_description`.
        weights: how much each group of wishes matters, 0 and up.
        favours: aspect keys that matter three times as much as their group.
        avoids: aspect keys that this traveller never asks for.
        voice: how they write: `plain`, `brief`, `chatty`, `polite` or `lower` (no capitals).
        openers: first-person sentences that set the scene, one used a dialogue.
        reasons: shorter remarks of theirs, used now and then later on.
    """

    key: str
    description: str
    weights: Mapping[str, float]
    favours: tuple[str, ...]
    avoids: tuple[str, ...]
    voice: str
    openers: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is settled before places come in."""

    dialogue_id: str
    city: str
    poi_type: str
    persona: Persona
    tier: str


def dialogue_id(index: int) -> str:
    """Return the id of the dialogue with this number, e.g. `trace-000123`."""
    return f"trace-{index:06d}"


@cache
def personas() -> tuple[Persona, ...]:
    """Return the 47 archetypes, in the order of `personas.json`."""
    rows = json.loads(resources.files("trace_dataset.dialogues").joinpath("personas.json").read_text("utf-8"))
    return tuple(
        Persona(
            row["key"],
            row["description"],
            row["weights"],
            tuple(row["favours"]),
            tuple(row["avoids"]),
            row["voice"],
            tuple(row["openers"]),
            tuple(row["reasons"]),
        )
        for row in rows
    )


def draw_scenario(seed: int, index: int, cells: Sequence[tuple[str, str]], draw: int = 0) -> Scenario:
    """Return scenario `index`: cells and personas go round robin, the tier is drawn.

    The result does not depend on how many dialogues are built. `draw` numbers the replacements of a scenario that had
    to be discarded; only the tier, and with it everything drawn later, changes.
    """
    name = dialogue_id(index)
    city, poi_type = cells[index % len(cells)]
    everyone = personas()
    tier = pick_weighted(stream(seed, "tier", name, draw), TIERS, TIER_WEIGHTS)
    return Scenario(name, city, poi_type, everyone[index % len(everyone)], tier)
