"""The template writer: realises a plan with the grammar of the wording files, no model, the same words for the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from trace_dataset.dialogues.grammar import Voice, wording_file
from trace_dataset.dialogues.planned import Plan
from trace_dataset.dialogues.system_voice import SystemVoice
from trace_dataset.dialogues.user_voice import UserVoice
from trace_dataset.streams import stream


class Writer(Protocol):
    """Turns plans into texts. A language model is one more of these: it gets the plan and returns texts, no more.

    Attributes:
        name: recorded as a dialogue's `generator`.
    """

    name: str

    def write(self, plan: Plan, names: Mapping[str, str], seed: int, attempt: int) -> tuple[str, ...]:
        """Return one text a turn, in release form: each quote of the plan as `[Q:n]` in quotation marks, then its label.

        Args:
            names: business id to the full name that a system text has to use.
            attempt: 1 for the first try; a later one must not return the same texts.
        """
        ...


class TemplateWriter:
    """Writes from `user.json`, `system.json` and `wishes.json`; `blanked` slots come out as `_` (see `Voice`).

    Example:
        >>> TemplateWriter().name
        'template'
    """

    name = "template"

    def __init__(self, blanked: frozenset[str] = frozenset()) -> None:
        self.blanked = blanked

    def write(self, plan: Plan, names: Mapping[str, str], seed: int, attempt: int) -> tuple[str, ...]:
        """Return one text a turn; each attempt has a stream of its own."""
        rng = stream(seed, "template", plan.scenario.dialogue_id, attempt)
        user = UserVoice(plan, Voice(wording_file("user.json"), rng, self.blanked))
        system = SystemVoice(plan, names, Voice(wording_file("system.json"), rng, self.blanked))
        texts = []
        compared, refused = 0, False
        for index, turn in enumerate(plan.turns):
            if turn.role == "user":
                following = plan.turns[index + 1].action if index + 1 < len(plan.turns) else None
                texts.append(user.utter(turn, compared, following))
                refused = turn.action == "reject_and_refine"
            else:
                texts.append(system.utter(turn, refused))
                compared = len(turn.places) if turn.golds else compared
        return tuple(texts)
