"""Hybrid-RRF: several rankers vote by rank.

What it does: reciprocal rank fusion (constant 60) of TF-IDF, Aspect, the plain attributes (stars, then price), and Dense
where its encoder is installed; which rankers voted is part of a run's parameters, so results with and without never mix.
Good at: surviving a ranker that is wrong. Bad at: a ranker that is right, whose voice is one of four.
Paper: section 4, B6; Table 5 gives R@1 0.254 and CGS 0.775 on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import by_score
from trace_dataset.retrieval.embeddings import encoder_available
from trace_dataset.retrieval.fusion import attribute_rank, rrf_scores
from trace_dataset.turns import TurnContext


class HybridRrf(Baseline):
    """Ranks by reciprocal rank fusion of three or four rankers."""

    def __init__(self) -> None:
        names = ["tfidf", "aspect", *(["dense"] if encoder_available() else [])]
        self.rankers = [load_baseline(name) for name in names]

    @property
    def parameters(self) -> dict[str, Any]:
        """The rankers that vote besides the attributes, with their own parameters."""
        return {"rankers": {ranker.name: ranker.parameters for ranker in self.rankers}}

    def prepare(self, kb: KnowledgeBase) -> None:
        """Prepare the rankers that vote."""
        super().prepare(kb)
        for ranker in self.rankers:
            ranker.prepare(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by fused score."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank several turns at once, for the ranker that gains by it."""
        votes = zip(*(ranker.rank_many(turns) for ranker in self.rankers), strict=True)
        attributes = [attribute_rank(self.kb.pois[place] for place in turn.pool) for turn in turns]
        return [
            by_score(rrf_scores([*vote, by_facts]), self.kb.pois)
            for vote, by_facts in zip(votes, attributes, strict=True)
        ]
