"""Spatial: TF-IDF with a preference for places near an anchor.

What it does: 0.7 times TF-IDF plus 0.3 times nearness to the anchor. The anchor is the last place of the pool whose name
stands in a user turn, or the middle of town where the user asks for it; without either it ranks as TF-IDF does.
Good at: "something close to the center". Bad at: landmarks that it does not know.
Paper: section 4, B5; Table 5 gives R@1 0.257 and CGS 0.727 on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import CellIndexes, by_score
from trace_dataset.retrieval.spatial import center, spatial_blend
from trace_dataset.scoring.text import normalize_text, tokenize
from trace_dataset.turns import TurnContext

CENTER_WORDS = frozenset(["center", "centre", "central", "downtown", "walkable"])


class Spatial(Baseline):
    """Ranks by TF-IDF blended with nearness to what the user points at."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Index every cell, and find the middle of every city."""
        super().prepare(kb)
        self.index = CellIndexes(kb)
        self.coordinates = {place.business_id: (place.latitude, place.longitude) for place in kb.pois.values()}
        self.centers = {
            city: center([self.coordinates[place.business_id] for place in kb.pois.values() if place.city == city])
            for city in kb.cities
        }

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by the blend."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank many turns, whose queries are scored together."""
        return [
            by_score(spatial_blend(scores, self.coordinates, self.anchor(turn)), self.kb.pois)
            for turn, scores in zip(turns, self.index.scores_many(turns), strict=True)
        ]

    def anchor(self, turn: TurnContext) -> tuple[float, float] | None:
        """Return what the user points at: a place named, else the middle of town if asked for, else nothing."""
        said = normalize_text(turn.query)
        for place in sorted(turn.pool, key=lambda place: (-len(self.kb.pois[place].name), place)):
            latitude, longitude = self.coordinates[place]
            if latitude is not None and longitude is not None and normalize_text(self.kb.pois[place].name) in said:
                return latitude, longitude
        return self.centers[turn.city] if CENTER_WORDS.intersection(tokenize(turn.query)) else None
