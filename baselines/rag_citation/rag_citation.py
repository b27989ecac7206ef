"""RAG-Citation: a model answers from ten review sentences, and has to quote one of them word for word.

What it does: takes the ten review sentences with the highest token-set Jaccard to the user's turns, shows each under its
review's label with the place's name and stars, and asks again, at most twice, where a recommending or comparing turn holds no
quote of ten tokens from them; then the last answer is kept. Of a pool wider than 16 it reads TF-IDF's best 16.
Good at: quotes that stand in a review. Bad at: choosing, since ten sentences may be of two places.
Paper: section 4, B12; Table 5 gives R@1 0.381 and CGS 0.658 with gpt-5.4-mini on the authors' corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm.steps import Check
from trace_dataset.lm_baseline import PREFILTER, LmBaseline, is_recommending
from trace_dataset.retrieval.evidence import QUOTE_TOKENS, TOP, ReviewSentence, ReviewSentences, rag_citation_check
from trace_dataset.turns import TurnContext

FEW = 4  # sentences for a very small model
COMPLAINT = (
    f"The reply holds no quote of at least {QUOTE_TOKENS} words, copied exactly from the evidence, in double quotes."
)
LENGTH = f" The quote has to have at least {QUOTE_TOKENS} words, copied exactly from the evidence."


class RagCitation(LmBaseline):
    """Evidence in, a quote of it out."""

    sentences: ClassVar[Mapping[str, str]] = {
        action: sentence + LENGTH if action in ("recommend", "compare") else sentence
        for action, sentence in LmBaseline.sentences.items()
    }

    def prepare(self, kb: KnowledgeBase) -> None:
        """Open the model."""
        super().prepare(kb)
        self.reviews = ReviewSentences(kb)

    def evidence(self, turn: TurnContext, ranking: Sequence[str]) -> list[ReviewSentence]:
        """Return the sentences that an answer may quote."""
        shown = ranking[:PREFILTER]
        top = TOP if self.feedback else FEW
        return self.reviews.nearest(turn.query, [place for place in turn.pool if place in shown], top)

    def material(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Return the evidence under its labels."""
        labels = self.kb.labels(turn.pool)
        lines = []
        for item in self.evidence(turn, ranking):
            place = self.kb.pois[item.business_id]
            lines.append(f"[{labels[item.review_id]}] {place.name} ({place.stars:.1f} stars): {item.text}")
        return {"evidence": "\n".join(lines)}

    def check(self, turn: TurnContext, ranking: Sequence[str]) -> Check | None:
        """Ask for a quote where places have to be named."""
        if not is_recommending(turn):
            return None
        texts = [item.text for item in self.evidence(turn, ranking)]

        def quotes(values: Mapping[str, Any]) -> str | None:
            return None if rag_citation_check(str(values["response"]), texts) else COMPLAINT

        return quotes
