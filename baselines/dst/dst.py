"""DST: a model keeps the state of what the traveller wants, the state filters the places, and a model answers from it.

What it does: each user turn gives a delta (price, cuisine liked and avoided, ambience, noise, features, location), merged
into one state; places that contradict it are left out (unknown price or noise passes; constraints are given up in the order
features, noise, cuisine, price where nothing would be left); the rest is ranked by TF-IDF, and the model sees the state and
the best eight.
Good at: remembering a constraint from five turns ago. Bad at: wishes that no slot holds, and a wrong delta stays.
Paper: section 4, B11; Table 5 gives R@1 0.442 and CGS 0.634 with gpt-5.4-mini on the authors' corpus.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm_baseline import LmBaseline
from trace_dataset.retrieval.cards import history_text, place_cards
from trace_dataset.retrieval.state import DialogueState, dst_filter, filter_row
from trace_dataset.retrieval.tracking import StateTracker
from trace_dataset.turns import Response, TurnContext

SHOWN = 8  # places that the answer may choose from


class Dst(LmBaseline):
    """Two questions a turn: what is new, and what to say."""

    def prepare(self, kb: KnowledgeBase) -> None:
        """Open the model; what the filter looks at is read once a place."""
        super().prepare(kb)
        self.tracker = StateTracker(self.model, self.feedback)
        self.row = functools.cache(functools.partial(filter_row, kb))

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Bring the state up to date, filter and rank by it, and let the model answer."""
        state, asked = self.tracker.state(turn)
        if asked and asked[-1].unavailable:
            return self.answer(turn, ranking, asked[-1], *asked[:-1])
        order = self.filtered(state, ranking)
        told = {
            "places": place_cards(self.kb, order[:SHOWN], turn.pool, self.size),
            "the_traveller_wants": state.described({place: self.kb.pois[place].name for place in turn.pool}),
            "conversation": history_text(turn.history[-2:], self.size),
        }
        return self.answer(turn, order, self.ask(turn, told), *asked)

    def filtered(self, state: DialogueState, ranking: Sequence[str]) -> list[str]:
        """Return the places that the state leaves, in TF-IDF's order, and then the others."""
        left = set(dst_filter(vars(state), [self.row(place) for place in ranking]))
        return [place for place in ranking if place in left] + [place for place in ranking if place not in left]
