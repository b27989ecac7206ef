"""The one place that talks to a language model: names in, typed outcomes out, over DSPy (extra `llm`)."""

from trace_dataset.lm.fields import Choice, Field, Items, Number, Text
from trace_dataset.lm.journal import Journal
from trace_dataset.lm.local import LocalServer
from trace_dataset.lm.meter import Budget, Meter
from trace_dataset.lm.model import LanguageModel, open_lm
from trace_dataset.lm.outcomes import (
    PASSING,
    REASONS,
    SERVICE,
    UNAVAILABLE,
    Answer,
    Failed,
    LmStopped,
    Outcome,
    Usage,
    is_refusal,
)
from trace_dataset.lm.settings import LmSettings
from trace_dataset.lm.steps import Step, StepResult, take_step

__all__ = [
    "PASSING",
    "REASONS",
    "SERVICE",
    "UNAVAILABLE",
    "Answer",
    "Budget",
    "Choice",
    "Failed",
    "Field",
    "Items",
    "Journal",
    "LanguageModel",
    "LmSettings",
    "LmStopped",
    "LocalServer",
    "Meter",
    "Number",
    "Outcome",
    "Step",
    "StepResult",
    "Text",
    "Usage",
    "is_refusal",
    "open_lm",
    "take_step",
]
