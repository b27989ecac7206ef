"""Popularity: the best-rated places, whatever was said.

What it does: sorts the pool by stars, then by review count, then by id. Its texts quote the first usable span of a review.
Good at: nothing that depends on the user; it is the floor that every system has to clear, and the fallback of all others.
Bad at: rejections. It would name the same place again; like every baseline, it is not told to avoid it.
Paper: section 4, B1; Table 5 gives R@1 0.140 and CGS 0.802 on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.retrieval import popularity_rank
from trace_dataset.turns import Response, TurnContext


class Popularity(Baseline):
    """Ranks by stars and review count; ignores the dialogue."""

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by stars, review count and id."""
        return popularity_rank(self.kb.pois[business] for business in turn.pool)

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Quote without regard to the dialogue."""
        return self.writer.respond(turn, ranking, query="")
