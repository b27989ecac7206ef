"""The five stages: scenario, candidates, plan and words, validation, difficulty."""

from trace_dataset.dialogues.build import build_dialogues, default_dialogue_count
from trace_dataset.dialogues.report import BuildReport
from trace_dataset.dialogues.scenario import Persona, personas
from trace_dataset.dialogues.template import TemplateWriter, Writer
from trace_dataset.dialogues.validation import validate_dialogue

__all__ = [
    "BuildReport",
    "Persona",
    "TemplateWriter",
    "Writer",
    "build_dialogues",
    "default_dialogue_count",
    "personas",
    "validate_dialogue",
]
