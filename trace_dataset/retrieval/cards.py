"""What a language model is shown of a conversation and of the candidates: history, and a card for each place (P46).

Cards stand in the order of business ids: neither the pool's order, which begins with the dialogue's own candidates in wider
pools, nor a ranker's, which would be advice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_dataset.kb import KnowledgeBase
from trace_dataset.turns import PastTurn


@dataclass(frozen=True, slots=True)
class PromptSize:
    """How much a model is shown, and may write.

    Attributes:
        reviews: labelled reviews on a card.
        review_chars: of each, the first characters.
        turns: the last turns of the history; None shows them all.
        answer_chars: the longest answer.
    """

    reviews: int = 3
    review_chars: int = 500
    turns: int | None = None
    answer_chars: int = 2400


SHORT = PromptSize(
    reviews=1, review_chars=40, turns=1, answer_chars=240
)  # for a very small model, which reads slowly too


def history_text(history: Sequence[PastTurn], size: PromptSize) -> str:
    """Return the conversation so far, one line a turn."""
    shown = history if size.turns is None else history[-size.turns :]
    return "\n".join(
        f"{'traveller' if turn.role == 'user' else 'assistant'}: {' '.join(turn.text.split())}" for turn in shown
    )


def place_head(kb: KnowledgeBase, business_id: str) -> str:
    """Return a place's name, stars, price and categories on one line."""
    place = kb.pois[business_id]
    parts = [place.name, f"{place.stars:.1f} stars", "$" * (place.price or 0), ", ".join(place.categories)]
    return " | ".join(part for part in parts if part)


def place_cards(kb: KnowledgeBase, shown: Sequence[str], pool: Sequence[str], size: PromptSize) -> str:
    """Return the cards of places, with reviews under the labels that they have in the pool."""
    labels = kb.labels(pool)
    lines = []
    for business in sorted(shown):
        lines.append(place_head(kb, business))
        lines += [
            f"  [{labels[review_id]}] {_cut(kb.reviews[review_id].text or '', size.review_chars)}"
            for review_id in kb.reviews_of[business][: size.reviews]
        ]
    return "\n".join(lines)


def _cut(text: str, chars: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= chars else text[:chars].rsplit(" ", 1)[0]
