"""What one worker does: ask a prepared baseline about the turns of a shard, one dialogue after the other."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from hydrate.errors import TraceError
from trace_dataset.baseline import Baseline
from trace_dataset.evaluation.answers import attempt, clean_ranking, clean_response, reason
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.evaluation.limits import within
from trace_dataset.evaluation.mentions import scored_places
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.stored import PoolReviews, redacted, store_text
from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm import UNAVAILABLE
from trace_dataset.release import Benchmark
from trace_dataset.schema import Dialogue
from trace_dataset.turns import PastTurn, Response, TurnContext

logger = logging.getLogger(__name__)

SEED = 42
Key = tuple[str, int]  # dialogue id, index of the turn
Known = Mapping[Key, StoredResponse]


class Stopped(Exception):
    """The run ends before this shard is done."""


@dataclass
class Job:
    """A baseline and what it is asked about. `prepare` it once a process; then `shard` as often as there is work.

    Attributes:
        per_shard: dialogues in a shard.
        strict: raise at the first turn that fails.
        turn_seconds: the longest that one call may take, or None.
    """

    baseline: Baseline
    benchmark: Benchmark
    dialogues: Sequence[Dialogue]
    pool: str
    per_shard: int
    strict: bool = False
    turn_seconds: float | None = None
    stopped: Callable[[], bool] = field(default=bool, repr=False)  # bool() is False
    _clear: set[str] = field(default_factory=set, repr=False)  # threads may share it: adding is atomic

    def prepare(self) -> None:
        """Let the baseline read the knowledge base, which it cannot change for others.

        Raises:
            TraceError: it does not get through that.
        """
        self._process = os.getpid()
        try:
            self.baseline.prepare(read_only(self.benchmark.kb))
        except (KeyboardInterrupt, TraceError):  # ours has advice of its own
            raise
        except BaseException as error:  # a stranger's code
            raise TraceError(
                f"the baseline {self.baseline.name} could not be prepared: {self._said(error)}", do="mend its prepare()"
            ) from None
        finally:
            self._end_copies()

    def close(self) -> None:
        """Let the baseline give back what it opened; where it cannot, that is told, and costs nothing that was answered."""
        try:
            self.baseline.close()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a stranger's code
            logger.warning("the baseline %s could not be closed: %s", self.baseline.name, self._said(error))

    def shard(self, number: int, known: Known = MappingProxyType({})) -> Iterator[StoredResponse]:
        """Yield the answer to every system turn of a shard; those that are known are not asked for again."""
        start = number * self.per_shard
        asked = [
            (dialogue, list(turn_contexts(dialogue, self.benchmark.kb.cells, self.pool, SEED, self.baseline.name)))
            for dialogue in self.dialogues[start : start + self.per_shard]
        ]
        left = [turn for dialogue, turns in asked for i, turn in turns if (dialogue.dialogue_id, i) not in known]
        ranked = self._ranked_at_once(left)
        for dialogue, turns in asked:
            yield from self._dialogue(dialogue, turns, known, ranked)

    @cached_property
    def stateful(self) -> bool:
        """Whether the baseline follows a dialogue, so that turns answered earlier have to go by again."""
        kind = type(self.baseline)
        follows = kind.reset is not Baseline.reset or kind.observe is not Baseline.observe
        return follows or not self.baseline.session_isolated

    def _ranked_at_once(self, turns: Sequence[TurnContext]) -> dict[Key, tuple[str, ...]]:
        """Return the rankings of a baseline that ranks many turns in one go; where that fails each turn is asked for."""
        if type(self.baseline).rank_many is Baseline.rank_many or self.stateful or not turns:
            return {}
        rankings, fault = self._call(self.baseline.rank_many, turns)
        if fault is not None or not isinstance(rankings, (list, tuple)) or len(rankings) != len(turns):
            return {}
        found = {}
        for turn, ranking in zip(turns, rankings, strict=True):
            plain, fault = attempt(clean_ranking, ranking, frozenset(turn.pool))
            if fault is None:
                found[turn.dialogue_id, len(turn.history)] = plain
        return found

    def _dialogue(
        self,
        dialogue: Dialogue,
        turns: Sequence[tuple[int, TurnContext]],
        known: Known,
        ranked: Mapping[Key, tuple[str, ...]],
    ) -> Iterator[StoredResponse]:
        if not turns:
            return
        of = self.benchmark.kb.reviews_of
        reviews = PoolReviews.of(review for place in turns[0][1].pool for review in of[place])
        pool = frozenset(turns[0][1].pool)
        seen, fault = 0, self._follow(self.baseline.reset, dialogue.dialogue_id)
        for index, turn in turns:
            for past in turn.history[seen:index] if self.stateful else ():
                fault = fault or self._follow(self.baseline.observe, past)
            seen = index
            answer = known.get((dialogue.dialogue_id, index))
            if answer is not None:
                if self.stateful and fault is None:
                    self._follow(self.baseline.rank, turn)
            else:
                if self.stopped():
                    raise Stopped
                response = Response("", error=fault) if fault else self._answer(turn, pool, ranked)
                answer = self._stored(turn, index, response, reviews)
            if self.strict and answer.error:
                raise TraceError(
                    f"{self.baseline.name}, dialogue {answer.dialogue_id}, turn {index}: {answer.error}",
                    do="mend the baseline, or run without --strict",
                )
            yield answer
        for rest in dialogue.turns[seen:] if self.stateful else ():
            self._follow(self.baseline.observe, PastTurn.of(rest))

    def _follow(self, call: Callable[..., object], argument: object) -> str | None:
        """Let a turn or a dialogue's beginning go by; return the reason where the baseline cannot take it."""
        return self._limited(call, argument)[1]

    def _answer(self, turn: TurnContext, pool: frozenset[str], ranked: Mapping[Key, tuple[str, ...]]) -> Response:
        def asked() -> Response:
            ranking = ranked.get((turn.dialogue_id, len(turn.history)))
            if ranking is None:
                ranking = clean_ranking(self.baseline.rank(turn), pool)
            return clean_response(self.baseline.respond(turn, list(ranking)), pool, ranking)

        response, fault = self._limited(asked)
        return response if fault is None else Response("", error=fault)

    def _limited(self, call: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
        if self.turn_seconds is None:
            return self._call(call, *arguments)
        with within(self.turn_seconds):
            return self._call(call, *arguments)

    def _call(self, call: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
        try:
            return attempt(call, *arguments)
        finally:
            self._end_copies()

    def _said(self, error: BaseException) -> str:
        return redacted(reason(error), PoolReviews.of(()), self.benchmark.finder)

    def _end_copies(self) -> None:
        """End this process where it is a copy of itself that the baseline has forked: one of us is enough."""
        if os.getpid() != self._process:
            os._exit(0)

    def _stored(self, turn: TurnContext, index: int, response: Response, reviews: PoolReviews) -> StoredResponse:
        names = {place: self.benchmark.kb.pois[place].name for place in response.poi_ids}
        named, dropped = scored_places(response.text, response.poi_ids, names)
        return StoredResponse(
            turn.dialogue_id,
            index,
            turn.action,
            store_text(response, reviews, self.benchmark.finder, self._clear),
            named,
            dropped,
            response.citations,
            response.ranking,
            response.usage,
            None if response.error is None else redacted(response.error, reviews, self.benchmark.finder),
        )


def is_unavailable(answer: StoredResponse) -> bool:
    """Whether a turn has no answer since the language model's service gave none; such a turn may be asked again."""
    return bool(answer.error and answer.error.startswith(UNAVAILABLE))


def read_only(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base behind mappings that cannot be changed, so that no baseline alters it for another."""
    views = {item.name: MappingProxyType(getattr(kb, item.name)) for item in dataclasses.fields(kb)}
    return KnowledgeBase(**views)
