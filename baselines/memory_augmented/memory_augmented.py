"""Memory-Augmented: the zero-shot model, and what travellers of the same persona asked for in earlier dialogues.

What it does: remembers every user turn by persona; weighs what it remembers by the cosine with the user's turns so far and
by age, with a half-life of 168 hours, one hour a dialogue; the five with the largest weight go into the prompt.
Good at: a persona that keeps coming back with the same wishes. Bad at: one that wants something else this time.
Not session-isolated: a dialogue's answers depend on those before it, so dialogues are run in order, and its row stands apart.
What users said are reference turns, so the memory does not depend on any answer of the model.
Paper: section 4, B14; it is reported apart from Tables 5 and 6, which leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm_baseline import LmBaseline
from trace_dataset.retrieval.memory import HOURS_A_DIALOGUE, PreferenceMemory
from trace_dataset.turns import PastTurn, TurnContext


class MemoryAugmented(LmBaseline):
    """Zero-shot with a memory that outlives a dialogue."""

    session_isolated: ClassVar[bool] = False

    def prepare(self, kb: KnowledgeBase) -> None:
        """Open the model, with an empty memory."""
        super().prepare(kb)
        self.memory = PreferenceMemory()
        self.hour = 0.0
        self._persona: str | None = None
        self._said: list[str] = []

    def reset(self, dialogue_id: str) -> None:
        """Take what the last dialogue's traveller said into the memory; an hour passes."""
        if self._persona is not None:
            for text in self._said:
                self.memory.add(self._persona, text, self.hour)
            self.hour += HOURS_A_DIALOGUE
        self._persona, self._said = None, []

    def observe(self, turn: PastTurn) -> None:
        """Keep a user turn until its dialogue is over."""
        if turn.role == "user":
            self._said.append(" ".join(turn.text.split()))

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by TF-IDF, and note who is travelling."""
        self._persona = turn.persona_description
        return super().rank(turn)

    def material(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Add what is remembered to the cards."""
        recalled = self.memory.recall(turn.persona_description, turn.query, self.hour)
        lines = [text if self.feedback else text[:90] for text, _ in recalled[: None if self.feedback else 2]]
        said_before = "\n".join(lines) or "nothing"
        return {**super().material(turn, ranking), "such_travellers_said_before": said_before}
