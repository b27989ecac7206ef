"""Dialogue state tracking with a language model: a delta from each user turn, merged into one state (definitions, B11)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from trace_dataset.lm import Choice, Items, LanguageModel, Step, StepResult, take_step
from trace_dataset.retrieval.state import NOISE, DialogueState
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.turns import PastTurn, TurnContext

UNSTATED = "unstated"
REMEMBERED = 256  # dialogues whose deltas are kept
STATE_STEP = Step(
    "state",
    "Extract what the traveller newly asks for in this turn. Leave a list empty, and a choice unstated, where the turn does "
    "not speak of it.",
    {
        "price": Choice("highest price that is fine", (UNSTATED, "$", "$$", "$$$", "$$$$")),
        "cuisine_like": Items("kinds of food or place wanted, as a category"),
        "cuisine_avoid": Items("kinds of food or place not wanted, as a category"),
        "ambience": Items("the atmosphere wanted, a word each"),
        "noise": Choice("how loud it may be", (UNSTATED, *NOISE)),
        "features": Items("what the place must have, such as parking, wifi, patio"),
        "location": Items("where it should be", most=1, each=60),
    },
)


class StateTracker:
    """Follows dialogues with one model; each user turn is asked about once. Threads may share it."""

    def __init__(self, model: LanguageModel, feedback: bool) -> None:
        self.model, self.feedback = model, feedback
        self._deltas: dict[str, dict[int, DialogueState]] = {}
        self._lock = threading.Lock()

    def state(self, turn: TurnContext) -> tuple[DialogueState, list[StepResult]]:
        """Return the state before a system turn, and what was asked for it.

        A turn whose reply will not do changes nothing; one for which the service failed ends the list of results, and its
        state is not to be used. Rejected and accepted places are those that the history marks, as every baseline sees them.
        """
        with self._lock:
            known = self._deltas.setdefault(turn.dialogue_id, {})
            while len(self._deltas) > REMEMBERED:
                self._deltas.pop(next(iter(self._deltas)))
        state, results = DialogueState(), []
        for index, past in enumerate(turn.history):
            if past.role != "user":
                continue
            if index not in known:
                result = take_step(self.model, STATE_STEP, self._inputs(turn, index), feedback=self.feedback)
                results.append(result)
                if result.unavailable:
                    return state, results
                known[index] = delta_of(result.values) if result.values is not None else DialogueState()
            state = state.merged(known[index]).merged(_marked(turn, index, past))
        return state, results

    def _inputs(self, turn: TurnContext, index: int) -> dict[str, str]:
        said = {"traveller": " ".join(turn.history[index].text.split())}
        if index and self.feedback:  # what "yes, please" answers; a very small model takes it for the traveller's
            said = {"assistant_before": " ".join(turn.history[index - 1].text.split()), **said}
        return said


def delta_of(values: Mapping[str, Any]) -> DialogueState:
    """Return what the fields of `STATE_STEP` say; features that are none of the 41 terms cannot be looked up: left out."""
    lists = {
        name: _clean(values[name]) for name in ("cuisine_like", "cuisine_avoid", "ambience", "features", "location")
    }
    return DialogueState(
        price=None if values["price"] == UNSTATED else len(values["price"]),
        cuisine_like=lists["cuisine_like"],
        cuisine_avoid=lists["cuisine_avoid"],
        ambience=lists["ambience"],
        noise=None if values["noise"] == UNSTATED else values["noise"],
        features=tuple(dict.fromkeys(term for text in lists["features"] for term in find_terms(text))),
        location=next(iter(lists["location"]), None),
    )


def _clean(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(item.split()).lower() for item in items if item.strip()))


def _marked(turn: TurnContext, index: int, past: PastTurn) -> DialogueState:
    accepted = turn.history[index - 1].poi_ids[:1] if past.action == "accept" and index else ()
    return DialogueState(rejected=past.rejected_poi_ids, accepted=accepted)
