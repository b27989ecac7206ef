"""Itinerary: TF-IDF's first choice, and then what lies near it.

What it does: ranks by TF-IDF; keeps the best place first and orders the next by nearest neighbour, so that a comparison
names two places one can walk between; the text tells the distance, and which places of another type lie within 500 m.
Good at: plans for a day on foot. Bad at: naming the second-best match, which may be at the other end of town.
Paper: section 4, B7; Table 5 gives R@1 0.257 and CGS 0.684 on the authors' corpus; spatial coherence 0.640 at 2 km.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import CellIndexes, by_score
from trace_dataset.retrieval.spatial import EDGE_KM, format_distance, itinerary_order
from trace_dataset.scoring.practical import haversine_km, valid_coordinates
from trace_dataset.turns import Response, TurnContext


class Itinerary(Baseline):
    """Ranks by TF-IDF, then by the walk from the first place."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Index every cell."""
        super().prepare(kb)
        self.index = CellIndexes(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return TF-IDF's best place, then the others by nearest neighbour from there."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank many turns, whose queries are scored together."""
        return [self._walk_from(by_score(scores, self.kb.pois)) for scores in self.index.scores_many(turns)]

    def _walk_from(self, order: Sequence[str]) -> list[str]:
        return itinerary_order(
            [(place, self.kb.pois[place].latitude, self.kb.pois[place].longitude) for place in order]
        )

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Add how far it is between the places named, or to the nearest place of another type."""
        response = self.writer.respond(turn, ranking)
        if not response.poi_ids:
            return response
        note = self._walk(response.poi_ids) or self._neighbour(response.poi_ids[0])
        text = f"{response.text} {note}".rstrip()
        return Response(text, response.poi_ids, response.citations, response.ranking)

    def _walk(self, places: Sequence[str]) -> str:
        if len(places) < 2:
            return ""
        distance = self._distance(places[0], places[1])
        return "" if distance is None else f"The two are {format_distance(distance)} apart."

    def _neighbour(self, place: str) -> str:
        here = self.kb.pois[place]
        others = [
            (distance, other.business_id)
            for other in self.kb.pois.values()
            if other.city == here.city and other.poi_type != here.poi_type
            for distance in [self._distance(place, other.business_id)]
            if distance is not None and distance <= EDGE_KM
        ]
        if not others:
            return ""
        distance, nearest = min(others)
        kind = self.kb.pois[nearest].poi_type
        return f"There is also {'an' if kind[0] in 'aeiou' else 'a'} {kind} only {format_distance(distance)} away."

    def _distance(self, first: str, second: str) -> float | None:
        points = [(self.kb.pois[place].latitude, self.kb.pois[place].longitude) for place in (first, second)]
        (a, b), (c, d) = points
        if a is None or b is None or c is None or d is None or not all(valid_coordinates(*point) for point in points):
            return None
        return haversine_km((a, b), (c, d))
