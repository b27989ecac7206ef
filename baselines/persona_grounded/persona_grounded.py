"""Persona-Grounded: TF-IDF of what was said, and of who is travelling, half and half.

What it does: scores the pool once with the user's turns and once with the persona's description. The text addresses the
persona.
Good at: first turns, when little has been said. Bad at: a traveller who wants something unlike the persona.
Paper: section 4, B9, without a printed rule; this one is definitions, P45. Table 5 gives R@1 0.191 and CGS 0.706.
"""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval import CellIndexes, by_score
from trace_dataset.turns import Response, TurnContext


class PersonaGrounded(Baseline):
    """Ranks by TF-IDF with the query and with the persona's description."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Index every cell."""
        super().prepare(kb)
        self.index = CellIndexes(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by the mean of both scores."""
        return self.rank_many([turn])[0]

    def rank_many(self, turns: Sequence[TurnContext]) -> list[list[str]]:
        """Rank many turns, whose queries are scored together."""
        said = self.index.scores_many(turns)
        persona = self.index.scores_many(turns, [turn.persona_description for turn in turns])
        means = [{place: 0.5 * a[place] + 0.5 * b[place] for place in a} for a, b in zip(said, persona, strict=True)]
        return [by_score(scores, self.kb.pois) for scores in means]

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Say for whom the suggestion is meant."""
        response = self.writer.respond(turn, ranking)
        if not response.poi_ids:
            return response
        who = turn.persona_description.rstrip(".")
        text = f"{response.text} I kept in mind who is travelling: {who[:1].lower()}{who[1:]}."
        return Response(text, response.poi_ids, response.citations, response.ranking)
