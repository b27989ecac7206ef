"""A conversation with a baseline: what was said, what it answered, and whatever went wrong said plainly.

One prepared baseline serves all visitors. Before every answer it is brought to the visitor's conversation, under a lock, so
that two conversations never mix; a baseline that remembers across dialogues gets an instance of its own for each visitor.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from hydrate.errors import TraceError
from trace_dataset.apps.widgets.looks import where_it_failed
from trace_dataset.baseline import Baseline
from trace_dataset.evaluation.answers import Fault, clean_ranking, clean_response
from trace_dataset.evaluation.mentions import scored_places
from trace_dataset.kb import KnowledgeBase
from trace_dataset.streams import stream
from trace_dataset.turns import PastTurn, Response, TurnContext

logger = logging.getLogger(__name__)

LONGEST_MESSAGE = 5_000  # characters
MOST_TURNS = 60  # of one conversation
REFUSAL = "Not that one, please."  # what a visitor says who only presses the button
NOBODY = "A traveller who has said nothing about themselves."


@dataclass(frozen=True)
class Answer:
    """What a baseline answered to one message; `error` and `advice` say what went wrong where it did not."""

    ranking: tuple[str, ...] = ()
    response: Response | None = None
    error: str | None = None
    advice: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Talk:
    """One visitor's conversation; never changed, only replaced by a longer one."""

    identifier: str
    city: str
    poi_type: str
    pool: tuple[str, ...]
    persona: str = NOBODY
    turns: tuple[PastTurn, ...] = ()
    answer: Answer = field(default_factory=Answer)

    @property
    def named(self) -> tuple[str, ...]:
        """The places that the last answer named."""
        last = self.turns[-1] if self.turns else None
        return last.poi_ids if last is not None and last.role == "system" else ()

    @property
    def rejected(self) -> frozenset[str]:
        """The places that were refused so far."""
        return frozenset(place for turn in self.turns for place in turn.rejected_poi_ids)


class Host:
    """A baseline ready to talk.

    Args:
        make: returns a new baseline, not yet prepared; called once, and once a visitor for a baseline that remembers visitors.
        kb: what it may read.
    """

    def __init__(self, make: Callable[[], Baseline], kb: KnowledgeBase) -> None:
        self.make, self.kb = make, kb
        self._lock = threading.Lock()
        self._own: dict[str, tuple[Baseline, threading.Lock]] = {}
        self.shared: Baseline | None = None
        self.fault: tuple[str, str | None] | None = None
        try:
            self.shared = self._prepared()
        except (Exception, SystemExit) as error:
            logger.error("the baseline could not be prepared: %s", where_it_failed(error))
            self.fault = told(error)

    @property
    def name(self) -> str:
        """The baseline's name, or a general word where it could not even be loaded."""
        return self.shared.name if self.shared is not None else "baseline"

    def say(self, talk: Talk, text: str, action: str = "recommend", rejected: tuple[str, ...] = ()) -> Talk:
        """Return the conversation with a message and the baseline's answer to it.

        A baseline that fails costs its answer: the message stays, the fault is told, and the visitor can go on.

        Args:
            action: what the answer has to do: `recommend`, `compare`, `explain`, `clarify` or `close`.
            rejected: the places that the message refuses.
        """
        if problem := _refused(talk, text, rejected):
            return replace(talk, answer=replace(talk.answer, error=problem[0], advice=problem[1]))
        before = talk.turns
        if (
            before and before[-1].role == "user"
        ):  # a message that got no answer gives way to the next; what it refused stays
            rejected = tuple(dict.fromkeys((*before[-1].rejected_poi_ids, *rejected)))
            before = before[:-1]
        said = PastTurn("user", "reject_and_refine" if rejected else "inform", text.strip(), rejected_poi_ids=rejected)
        talk = replace(talk, turns=(*before, said))
        started = time.monotonic()
        try:
            answer = self._answer(talk, action)
        except (Exception, SystemExit) as error:  # a stranger's code: whatever it raises is told, and the page stays
            logger.error("%s failed: %s", self.name, where_it_failed(error))
            what, do = told(error)
            answer = Answer(error=f"{self.name} gave no answer: {what}", advice=do)
        answer = replace(answer, seconds=time.monotonic() - started)
        if answer.response is None or answer.error is not None:
            return replace(talk, answer=answer)
        names = {place: self.kb.pois[place].name for place in answer.response.poi_ids}
        named, _ = scored_places(answer.response.text, answer.response.poi_ids, names)
        reply = PastTurn("system", action, answer.response.text, named, answer.response.citations)
        return replace(talk, turns=(*talk.turns, reply), answer=answer)

    def _answer(self, talk: Talk, action: str) -> Answer:
        if self.fault is not None:
            return Answer(error=self.fault[0], advice=self.fault[1])
        baseline, lock = self._baseline_of(talk)
        turn = TurnContext(
            talk.identifier,
            talk.turns,
            action,
            talk.pool,
            talk.city,
            talk.poi_type,
            talk.persona,
            stream(42, baseline.name, talk.identifier, len(talk.turns)),
        )
        # a language model takes seconds, and the baselines that ask one keep nothing between turns: they wait for nobody
        with nullcontext() if baseline.uses_lm and baseline.session_isolated else lock:
            baseline.reset(talk.identifier)
            for past in talk.turns:
                baseline.observe(past)
            ranking: tuple[str, ...] = ()
            try:
                ranking = clean_ranking(baseline.rank(turn), talk.pool)
                response = clean_response(baseline.respond(turn, list(ranking)), talk.pool, ranking)
                fault = response.error
            except Fault as found:
                fault = str(found)
        if fault is not None:
            return Answer(
                ranking, None, f"{baseline.name} gave no answer: {fault}", "This is the baseline's fault, not yours."
            )
        return Answer(ranking, response)

    def _baseline_of(self, talk: Talk) -> tuple[Baseline, threading.Lock]:
        assert self.shared is not None
        if self.shared.session_isolated:
            return self.shared, self._lock
        with self._lock:
            if talk.identifier not in self._own:
                while len(self._own) >= 16:  # memory is bounded; whoever comes back after 16 others is a stranger again
                    self._own.pop(next(iter(self._own)))
                self._own[talk.identifier] = (self._prepared(), threading.Lock())
            return self._own[talk.identifier]

    def _prepared(self) -> Baseline:
        baseline = self.make()
        baseline.prepare(self.kb)
        return baseline


def told(error: BaseException) -> tuple[str, str | None]:
    """Return what went wrong and what to do, without a traceback and without the text of a stranger's exception at length."""
    if isinstance(error, TraceError):
        return error.what, error.do
    return f"{type(error).__name__}: {str(error)[:200]}", "This is the baseline's fault, not yours."


def _refused(talk: Talk, text: str, rejected: Any) -> tuple[str, str] | None:
    if len(text) > LONGEST_MESSAGE:
        return f"That is {len(text):,} characters; a message has at most {LONGEST_MESSAGE:,}", "Say it in fewer words."
    if not text.strip() and not rejected:
        return "There is nothing to answer yet", "Write what you are looking for, then press Send."
    if len(talk.turns) >= MOST_TURNS:
        return f"This conversation has {MOST_TURNS} turns, and that is as long as it gets", "Start over."
    return None
