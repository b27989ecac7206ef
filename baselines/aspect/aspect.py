"""Aspect: how well reviewers speak of the aspects that the user mentions.

What it does: counts keywords of five aspects (food, service, ambiance, value, location) in the user's turns, multiplies
each by the mean keyword sentiment of the reviews that mention it, and adds a tenth of the stars.
Good at: "the food matters most". Bad at: anything finer than five words; a whole review has one sentiment.
Paper: section 4, B3; Table 5 gives R@1 0.179 and CGS 0.750 on the authors' corpus.
"""

from __future__ import annotations

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import by_score
from trace_dataset.retrieval.aspects import aspect_hits, aspect_score, review_sentiments
from trace_dataset.scoring.text import tokenize
from trace_dataset.turns import TurnContext


class Aspect(Baseline):
    """Ranks by aspect sentiment weighted by the user's keywords."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Read the sentiment of every place's reviews once."""
        super().prepare(kb)
        self.sentiments = {
            business: review_sentiments([kb.reviews[review].text or "" for review in kb.reviews_of[business]])
            for business in kb.pois
        }

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by aspect score."""
        hits = aspect_hits(tokenize(turn.query))
        scores = {place: aspect_score(hits, self.sentiments[place], self.kb.pois[place].stars) for place in turn.pool}
        return by_score(scores, self.kb.pois)
