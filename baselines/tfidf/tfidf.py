"""TF-IDF: places whose name, categories and reviews share words with what the user has said.

What it does: one sparse index for each city and place type; the query is all user turns so far; cosine; ties by stars,
review count and id. Its texts quote the span with most of the query's words.
Good at: wishes said in the words that reviewers use. Bad at: paraphrase, negation ("not loud" is a match for loud), and
rejections, whose words count as wishes.
Paper: section 4, B2; Table 5 gives R@1 0.257 and CGS 0.776 on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import CellIndexes, by_score
from trace_dataset.turns import TurnContext


class Tfidf(Baseline):
    """Ranks by the cosine of the user's words with each place's document."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Index every cell of the knowledge base."""
        super().prepare(kb)
        self.index = CellIndexes(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by cosine with the user turns so far."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank many turns, whose queries are scored together."""
        return [by_score(scores, self.kb.pois) for scores in self.index.scores_many(turns)]
