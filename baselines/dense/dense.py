"""Dense: places whose sentence embedding is near that of what the user has said, and far from what they turned down.

What it does: embeds each place (name, categories, three reviews of 200 characters) and all user turns so far with
all-MiniLM-L6-v2; takes half of the mean embedding of the rejected places from the query; cosine; a rejected place loses 1.0.
Good at: paraphrase, and a "no": it is the one ranker that is told of it. Bad at: details beyond three short reviews.
Paper: section 4, B4; Table 5 gives R@1 0.243 and CGS 0.864 on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import by_score
from trace_dataset.retrieval.dense import DenseIndex
from trace_dataset.retrieval.embeddings import ENCODER, best_dtype, default_encoder
from trace_dataset.turns import TurnContext


class Dense(Baseline):
    """Ranks by cosine of embeddings."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The encoder, and the precision in which it computes."""
        return {"encoder": ENCODER, "dtype": best_dtype()}

    def prepare(self, kb: KnowledgeBase) -> None:
        """Load the encoder; places are embedded when they first stand in a pool."""
        super().prepare(kb)
        self.index = DenseIndex(kb, default_encoder())

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by dense score."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank several turns, all of whose texts are embedded together."""
        return [by_score(scores, self.kb.pois) for scores in self.index.scores_many(turns)]
