"""Knowledge-Enhanced: TF-IDF and the share of stated attributes that a place satisfies, half and half.

What it does: reads a price ceiling, categories and 41 aspect terms from the user's turns and counts how many of them the
place's price, categories, attributes and reviews bear out. The text adds one attribute.
Good at: wishes with a keyword. Bad at: everything said in other words.
Paper: section 4, B8, without a printed rule; this one is definitions, P44. Table 5 gives R@1 0.206 and CGS 0.708.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import CellIndexes, by_score
from trace_dataset.retrieval.documents import place_facts
from trace_dataset.retrieval.wishes import stated_share
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.turns import Response, TurnContext


class KnowledgeEnhanced(Baseline):
    """Ranks by TF-IDF and attribute matching."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Index every cell, and find every place's terms."""
        super().prepare(kb)
        self.index = CellIndexes(kb)
        self.terms = {place: frozenset(find_terms(place_facts(kb, place))) for place in kb.pois}

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by the mean of both scores."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank many turns, whose queries are scored together."""
        return [self._order(turn, scores) for turn, scores in zip(turns, self.index.scores_many(turns), strict=True)]

    def _order(self, turn: TurnContext, scores: Mapping[str, float]) -> list[str]:
        said = [past.text for past in turn.history if past.role == "user"]
        blend = {
            place: 0.5 * score + 0.5 * stated_share(said, self.kb.pois[place], self.terms[place])
            for place, score in scores.items()
        }
        return by_score(blend, self.kb.pois)

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Add one attribute of the first place named."""
        response = self.writer.respond(turn, ranking)
        if not response.poi_ids:
            return response
        place = self.kb.pois[response.poi_ids[0]]
        clause = f"It is rated {place.stars:.1f} stars by {place.review_count} reviewers."
        return Response(f"{response.text} {clause}", response.poi_ids, response.citations, response.ranking)
