"""Stage 3, first half: every turn of a dialogue, its places, wishes, golds and evidence; words come later.

A plan is made from the knowledge base and its evidence alone. A writer turns it into texts and decides nothing else.
"""

from __future__ import annotations

from collections import Counter

from trace_dataset.dialogues.candidates import POOL_SIZE, draw_candidates
from trace_dataset.dialogues.chain import fit
from trace_dataset.dialogues.layout import lay_out
from trace_dataset.dialogues.planned import Plan, PlanFailure
from trace_dataset.dialogues.scenario import Scenario
from trace_dataset.dialogues.shapes import draw_shape
from trace_dataset.dialogues.views import CellView
from trace_dataset.schema import TIERS
from trace_dataset.streams import stream

MOST_POOLS = 20  # draws of a pool before the tier falls (decisions, 19)
POOLS_PER_SHAPE = 10  # tried before another shape is drawn: else shapes that are easily carried out would be too many
GENEROUS_POOLS = 12  # so many of them must allow two wishes in the opening, the rest one


def make_plan(view: CellView, scenario: Scenario, seed: int, draw: int = 0) -> Plan | PlanFailure:
    """Return the plan of a scenario; the tier falls by one whenever 20 pools in a row cannot carry it out."""
    if len(view.places) < POOL_SIZE:
        return PlanFailure(reasons=Counter({"cell_too_small": 1}))
    failure = PlanFailure()
    interest = view.interest(scenario.persona)
    for level in range(TIERS.index(scenario.tier), -1, -1):
        tier = TIERS[level]
        for attempt in range(MOST_POOLS):
            rng = stream(seed, "plan", scenario.dialogue_id, draw, tier, attempt)
            if attempt % POOLS_PER_SHAPE == 0:
                shape = draw_shape(tier, rng)
            pool = draw_candidates(view.places, rng)
            least = 2 if attempt < GENEROUS_POOLS else 1
            chain = fit(view, shape, tier, pool, interest, rng, least)
            if chain is not None:
                turns = lay_out(view, scenario, pool, chain, rng)
                return Plan(scenario, tier, chain.shape, pool, turns, failure.redraws, failure.falls)
            failure.redraws += 1
        failure.falls += 1
    failure.reasons["no_plan"] += 1
    return failure
