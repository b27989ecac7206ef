"""What the baselines that ask a language model have in common: prompt, answer, fallback, and an account of both.

A reply that will not do after two more tries is replaced by the popularity baseline's answer, as the paper has it, and
counted; where the service fails nothing was measured, and the turn fails with the reason. A subclass says what the model is
shown besides the conversation (`material`), which sentence tells it what to do, and what a reply has to hold.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from hydrate.errors import UsageError
from trace_dataset.baseline import Baseline
from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm import UNAVAILABLE, LanguageModel, LmStopped, Step, StepResult, Text, take_step
from trace_dataset.lm.settings import SMALL, open_given, signature_of
from trace_dataset.lm.steps import TRIES, Check
from trace_dataset.retrieval import CellIndexes, by_score, popularity_rank
from trace_dataset.retrieval.cards import SHORT, PromptSize, history_text, place_cards
from trace_dataset.retrieval.dense import DenseIndex
from trace_dataset.retrieval.embeddings import ENCODER, best_dtype, default_encoder
from trace_dataset.retrieval.mentions import mentions
from trace_dataset.schema import RECOMMENDING, Citation
from trace_dataset.scoring.text import extract_quotes, parse_citations
from trace_dataset.turns import Response, TurnContext

PREFILTER = 16  # places that a model is shown of a wider pool: the retriever's best (definitions, open-set interface)
RETRIEVERS = ("tfidf", "dense")  # either may choose them (paper, Table 25)
PATIENCE = 5  # turns in a row that the service failed; then the run is stopped
QUOTE_TOKENS = 5  # a quote from here on is a review's words, and a name in it is not the answer's
SMALL_TRIES = 2
PROMPT_VERSION = 1  # part of a run's parameters: another prompt is another run
SHORT_PATTERN = (
    "^[A-Z][A-Za-z0-9 ,.!?$'\\[\\]“”-]{30,200}[.!?]$"  # else a very small model copies the form of the reply
)
ROLE = "You are an assistant that recommends places to a traveller. Write the assistant's next turn. "
SENTENCES: Mapping[str, str] = {
    "greet": "Greet the traveller and ask what matters to them.",
    "clarify": "Ask the traveller about something that would help to choose.",
    "recommend": "Recommend the place that fits best by its name, and quote a review of it in double quotes with its label, "
    "such as [R3].",
    "compare": "Compare the two places that fit best by their names, and quote a review of each in double quotes with its "
    "label, such as [R3].",
    "explain": "Answer the traveller's question about the place, and quote a review of it in double quotes with its label, "
    "such as [R3].",
    "close": "Say goodbye to the traveller.",
}


class LmBaseline(Baseline):
    """Ranks by TF-IDF and lets a model write: the places that its text names come first in the ranking of the answer.

    The retriever, TF-IDF or the cosine of all-MiniLM-L6-v2, so chooses which 16 places of a wider pool the model is shown.
    """

    uses_lm: ClassVar[bool] = True
    retrievers: ClassVar[tuple[str, ...]] = RETRIEVERS
    sentences: ClassVar[Mapping[str, str]] = SENTENCES
    model: LanguageModel

    @property
    def parameters(self) -> dict[str, Any]:
        """The model, what it is shown and who chose that, and the version of the prompts."""
        signature = signature_of(self._given())
        size = dataclasses.asdict(self._size(signature["name"]))
        chosen = {"retriever": self.retriever, **({"encoder": ENCODER, "dtype": best_dtype()} if self._dense else {})}
        return {"lm": signature, "prompt": PROMPT_VERSION, "size": size, **chosen}

    def prepare(self, kb: KnowledgeBase) -> None:
        """Open the model, and index every cell."""
        super().prepare(kb)
        self.model, self._opened = open_given(self._given())
        self.size = self._size(self.model.signature["name"])
        self.feedback = self.model.signature["name"] != SMALL
        self._scores = self._cosines(kb) if self._dense else CellIndexes(kb).scores
        self._failed_in_a_row, self._lock = 0, threading.Lock()

    def close(self) -> None:
        """Close the model if it was opened here."""
        if getattr(self, "_opened", False):
            self.model.close()

    def rank(self, turn: TurnContext) -> list[str]:
        """Return the pool by the retriever; the model is not asked."""
        return by_score(self._scores(turn), self.kb.pois)

    def respond(self, turn: TurnContext, ranking: Sequence[str]) -> Response:
        """Return the model's answer; popularity's, counted, where it has none.

        Raises:
            LmStopped: the budget is spent, the key refused, or the service has failed several turns in a row.
        """
        result = self.ask(turn, self.inputs(turn, ranking), self.check(turn, ranking))
        return self.answer(turn, ranking, result)

    def ask(self, turn: TurnContext, told: Mapping[str, str], check: Check | None = None) -> StepResult:
        """Ask for the turn's text; a very small model is told nothing of what was wrong, and asked once more only."""
        tries = TRIES if self.feedback else SMALL_TRIES
        return take_step(self.model, self.step(turn), told, check, tries, self.feedback)

    def step(self, turn: TurnContext) -> Step:
        """Return the question: one sentence for the action, and one text to write."""
        pattern = SHORT_PATTERN if self.size == SHORT else None
        text = Text("the assistant's next turn", most=self.size.answer_chars, pattern=pattern)
        return Step("answer", ROLE + self.sentences.get(turn.action, SENTENCES["clarify"]), {"response": text})

    def inputs(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Return what the model is told: the material, then the conversation."""
        return {**self.material(turn, ranking), "conversation": history_text(turn.history, self.size)}

    def material(self, turn: TurnContext, ranking: Sequence[str]) -> dict[str, str]:
        """Return the cards of the candidates: the whole pool, or the retriever's best 16 of a wider one."""
        return {"places": place_cards(self.kb, ranking[:PREFILTER], turn.pool, self.size)}

    def check(self, turn: TurnContext, ranking: Sequence[str]) -> Check | None:
        """Return what a reply has to pass, or None where any text will do."""
        return None

    def answer(self, turn: TurnContext, ranking: Sequence[str], result: StepResult, *before: StepResult) -> Response:
        """Turn what came of the question into a response; `before` are questions that led to it, for the account."""
        usage = usage_of(result, *before)
        self._note_service(result)
        if result.unavailable:
            detail = f" ({result.detail})" if result.detail else ""
            return Response("", usage=usage, error=f"{UNAVAILABLE}{result.reason}{detail}")
        if result.values is None:
            order = popularity_rank(self.kb.pois[place] for place in turn.pool)
            stand_in = self.writer.respond(turn, order, query="")
            usage |= {"fallback": 1.0, f"fallback_{result.reason}": 1.0}
            return dataclasses.replace(stand_in, usage=usage)
        text = str(result.values["response"]).strip()
        places = self.named(text, turn)
        return Response(
            text, places, self.citations(text, turn), (*places, *(p for p in ranking if p not in places)), usage
        )

    def named(self, text: str, turn: TurnContext) -> tuple[str, ...]:
        """Return the places of the pool that a text names outside of longer quotes, in order."""
        for quote in extract_quotes(text, min_tokens=QUOTE_TOKENS):
            text = text.replace(quote, " ")
        return tuple(mentions(text, {place: self.kb.pois[place].name for place in turn.pool}))

    def citations(self, text: str, turn: TurnContext) -> tuple[Citation, ...]:
        """Return what the labels of a text refer to; labels that the pool does not have refer to nothing."""
        review_of = {label: review_id for review_id, label in self.kb.labels(turn.pool).items()}
        found = [(f"R{number}", review_of.get(f"R{number}")) for number in parse_citations(text)]
        return tuple(Citation(label, self.kb.reviews[review].business_id, review) for label, review in found if review)

    @property
    def _dense(self) -> bool:
        return self.retriever == "dense"

    @staticmethod
    def _cosines(kb: KnowledgeBase) -> Callable[[TurnContext], Mapping[str, float]]:
        index, one_at_a_time = DenseIndex(kb, default_encoder()), threading.Lock()

        def scores(turn: TurnContext) -> Mapping[str, float]:
            with one_at_a_time:  # runs with a model answer in threads
                return index.cosines(turn)

        return scores

    def _note_service(self, result: StepResult) -> None:
        with self._lock:
            self._failed_in_a_row = self._failed_in_a_row + 1 if result.unavailable else 0
            failed = self._failed_in_a_row
        if result.reason == "authentication" or failed >= PATIENCE:
            why = f"{result.reason} {result.detail}".strip()
            raise LmStopped(
                f"{self.name}: {UNAVAILABLE}{why}; {failed} turns in a row",
                do="see to the key or the service, and run the same again to go on",
            )

    def _given(self) -> Any:
        if self.lm is None:
            raise UsageError(
                f"{self.name} asks a language model, and none is named",
                do="name one: --lm local, --lm openai/…, --lm anthropic/… (in Python: lm=…)",
            )
        return self.lm

    @staticmethod
    def _size(name: str) -> PromptSize:
        return SHORT if name == SMALL else PromptSize()


def is_recommending(turn: TurnContext) -> bool:
    """Whether a turn has to name places."""
    return turn.action in RECOMMENDING


def usage_of(*results: StepResult) -> dict[str, float]:
    """Return the account of a turn's questions as a response carries it; `cost` is left out where a price is unknown."""
    total = {"calls": 0.0, "prompt_tokens": 0.0, "completion_tokens": 0.0, "retries": 0.0, "asked_again": 0.0}
    costs: list[float | None] = []
    for result in results:
        total["calls"] += result.usage.calls
        total["prompt_tokens"] += result.usage.prompt_tokens
        total["completion_tokens"] += result.usage.completion_tokens
        total["retries"] += result.retries
        total["asked_again"] += result.asked_again
        costs.append(result.usage.cost)
    known = [cost for cost in costs if cost is not None]
    if len(known) == len(costs):
        total["cost"] = math.fsum(known)
    for reason in (result.reason for result in results[1:] if result.reason is not None):
        total[f"failed_step_{reason}"] = total.get(f"failed_step_{reason}", 0.0) + 1  # of those that led to the answer
    return total


__all__ = ["PREFILTER", "RETRIEVERS", "LmBaseline", "LmStopped", "is_recommending", "usage_of"]
