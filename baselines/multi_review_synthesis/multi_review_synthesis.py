"""Multi-Review Synthesis: what reviewers agree on, by aspect, instead of what one of them wrote.

What it does: sorts every review sentence by aspect keyword; the consensus of an aspect is (praise - fault) / all sentences;
ranks by the sum of it over the aspects in the user's turns, plus a tenth of the stars; the model is shown the first places'
consensus, no review, and told to recommend in that order. It need not quote, and does not.
Good at: a fair picture of many reviews. Bad at: evidence that can be checked, and a "no": the consensus stays what it was.
Paper: section 4, B13; Table 5 gives R@1 0.281 and CGS 0.008 with gpt-5.4-mini on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm_baseline import LmBaseline
from trace_dataset.retrieval import by_score
from trace_dataset.retrieval.cards import place_head
from trace_dataset.retrieval.consensus import Consensus
from trace_dataset.turns import TurnContext

SHOWN = 3  # places that the model is told about
FULL = " Say what reviewers agree on, in your own words; quote nobody."


class MultiReviewSynthesis(LmBaseline):
    """Ranks by consensus; the model words it."""

    retrievers: ClassVar[tuple[str, ...]] = ()
    retriever = "consensus"
    sentences: ClassVar[Mapping[str, str]] = {
        **LmBaseline.sentences,
        "recommend": "Recommend the first of the places by its name." + FULL,
        "compare": "Compare the first two of the places by their names." + FULL,
        "explain": "Answer the traveller's question about the place." + FULL,
    }

    def prepare(self, kb: KnowledgeBase) -> None:
        """Open the model; reviews are read once a place."""
        super().prepare(kb)
        self.consensus = Consensus(kb)

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by consensus on the aspects of the user's turns."""
        return by_score({place: self.consensus.score(place, turn.query) for place in turn.pool}, self.kb.pois)

    def material(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Return the first places, each with its aspects, largest consensus first."""
        return {"places": "\n".join(f"{n}. {self.summary(place)}" for n, place in enumerate(ranking[:SHOWN], 1))}

    def summary(self, place: str) -> str:
        """Return a place's head and what reviewers agree on about it."""
        found = sorted(self.consensus.of(place).items(), key=lambda item: (-item[1].value, item[0]))
        aspects = [f"{name} {each.value:+.2f} ({each.n_pos} praise it, {each.n_neg} do not)" for name, each in found]
        return f"{place_head(self.kb, place)}: {'; '.join(aspects) or 'no aspect is spoken of'}"
