"""One question to a model with typed fields: asked again with what was wrong, and what came of it in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trace_dataset.lm.fields import Field
from trace_dataset.lm.model import LanguageModel
from trace_dataset.lm.outcomes import SERVICE, Answer, LmStopped, Usage

TRIES = 3  # the first and at most two more, as the paper has it for citations
COMPLAINTS: Mapping[str, str] = {
    "parse": "The reply was not the JSON object that was asked for.",
    "truncated": "The reply was too long and was cut off.",
    "empty": "The reply was empty.",
    "refusal": "The reply declined. This is a harmless task: answer it.",
}
Check = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class Step:
    """A DSPy signature by its parts: instructions, and the fields of the answer with their bounds."""

    name: str
    instructions: str
    fields: Mapping[str, Field]


@dataclass(frozen=True)
class StepResult:
    """What a step came to.

    Attributes:
        values: the fields; None where no reply had them.
        reason: why there are none, a key of `REASONS`; None where there are.
        detail: more about the reason, without keys or licensed text.
        complaint: what is wrong with `values` all the same: the last answer is kept, as the paper keeps it (P48).
        usage: tokens and cost of all tries.
        retries: how often a service had to be asked again since it failed.
        asked_again: how often the model was, since its reply would not do.
    """

    values: Mapping[str, Any] | None
    reason: str | None = None
    detail: str = ""
    complaint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    asked_again: int = 0

    @property
    def unavailable(self) -> bool:
        """Whether nothing was measured: the service failed, not the model."""
        return self.reason in SERVICE


def take_step(
    lm: LanguageModel,
    step: Step,
    inputs: Mapping[str, str],
    check: Check | None = None,
    tries: int = TRIES,
    feedback: bool = True,
) -> StepResult:
    """Ask until the reply has the fields and passes the check, at most `tries` times.

    Args:
        check: returns what is wrong with the fields in a sentence for the model, or None.
        feedback: whether the model is told; a very small one would only repeat it, and another seed does more.

    Raises:
        LmStopped: the budget is spent.
    """
    usage, retries, values, complaint = Usage(), 0, None, None
    mend, reason, detail = "", None, ""
    for number in range(tries):
        told = {**inputs, "what_was_wrong_before": mend} if mend and feedback else inputs
        outcome = lm.ask(step.instructions, told, step.fields, variation=number)
        usage, retries = usage + outcome.usage, retries + outcome.retries
        if isinstance(outcome, Answer):
            values, reason = outcome.values, None
            complaint = check(values) if check is not None else None
            if complaint is None:
                return StepResult(values, None, "", None, usage, retries, number)
            mend = complaint
            continue
        if outcome.reason == "budget":
            raise LmStopped(
                f"the budget is spent: {outcome.detail}", do="give a larger one and run the same again to go on"
            )
        if outcome.reason in SERVICE:
            return StepResult(None, outcome.reason, outcome.detail, None, usage, retries, number)
        reason, detail = outcome.reason, outcome.detail
        mend = COMPLAINTS[outcome.reason]
    if values is not None:
        return StepResult(values, None, "", complaint, usage, retries, tries - 1)
    return StepResult(None, reason, detail, None, usage, retries, tries - 1)
