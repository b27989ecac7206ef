"""Itinerary-LLM: the zero-shot model, with a map of what lies within 500 m of each candidate written into its prompt.

What it does: LLM Zero-Shot, plus for each candidate the nearest places of another type within 500 m, with the distance.
Good at: mentioning what is around the corner. Bad at: choosing by it; the paper finds no gain in accuracy.
Paper: section 6.1, finding 1d, outside of its 14 baselines; R@1 0.538 closed, 0.083 open with gpt-5.4-mini.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm_baseline import PREFILTER, LmBaseline
from trace_dataset.retrieval.spatial import ProximityGraph, format_distance
from trace_dataset.turns import TurnContext

NEIGHBOURS = 2  # of a candidate, nearest first


class ItineraryLlm(LmBaseline):
    """Zero-shot with the proximity graph of the itinerary baseline."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Find every city's pairs of places within 500 m."""
        super().prepare(kb)
        self.graph = ProximityGraph(kb.pois.values())

    def material(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Add the map to the cards."""
        lines = [
            f"{self.kb.pois[place].name} - {self.kb.pois[near].name} ({self.kb.pois[near].poi_type}): {format_distance(km)}"
            for place in sorted(ranking[:PREFILTER])
            for near, km in self.graph.neighbours(place)[:NEIGHBOURS]
        ]
        return {**super().material(turn, ranking), "within_500_m": "\n".join(lines) or "nothing of another type"}
