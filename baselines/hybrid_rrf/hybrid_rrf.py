"""Hybrid-RRF: several rankers vote by rank.

What it does: reciprocal rank fusion (constant 60) of TF-IDF, Aspect, and the plain attributes (stars, then price); the
dense ranker joins where its encoder is installed.
Good at: surviving a ranker that is wrong. Bad at: a ranker that is right, whose voice is one of three.
Paper: section 4, B6; Table 5 gives R@1 0.254 and CGS 0.775 on the authors' corpus.
"""

from __future__ import annotations

from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import by_score
from trace_dataset.retrieval.fusion import attribute_rank, rrf_scores
from trace_dataset.turns import TurnContext


class HybridRrf(Baseline):
    """Ranks by reciprocal rank fusion of three rankers."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Prepare the rankers that vote."""
        super().prepare(kb)
        self.rankers = [load_baseline(name) for name in ("tfidf", "aspect")]
        for ranker in self.rankers:
            ranker.prepare(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by fused score."""
        rankings = [ranker.rank(turn) for ranker in self.rankers]
        rankings.append(attribute_rank(self.kb.pois[place] for place in turn.pool))
        return by_score(rrf_scores(rankings), self.kb.pois)
