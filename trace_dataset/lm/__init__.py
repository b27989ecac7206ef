"""The one place that talks to a language model: names in, typed outcomes out, over DSPy (extra `llm`)."""

from trace_dataset.lm.fields import Choice, Field, Number, Text
from trace_dataset.lm.journal import Journal
from trace_dataset.lm.local import LocalServer
from trace_dataset.lm.meter import Budget, Meter
from trace_dataset.lm.model import LanguageModel, open_lm
from trace_dataset.lm.outcomes import PASSING, REASONS, SERVICE, Answer, Failed, Outcome, Usage, is_refusal

__all__ = [
    "PASSING",
    "REASONS",
    "SERVICE",
    "Answer",
    "Budget",
    "Choice",
    "Failed",
    "Field",
    "Journal",
    "LanguageModel",
    "LocalServer",
    "Meter",
    "Number",
    "Outcome",
    "Text",
    "Usage",
    "is_refusal",
    "open_lm",
]
