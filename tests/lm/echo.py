"""A model that says what the notes say: sound answers for tests that are about something else."""

from __future__ import annotations

import re


def notes_of(inputs):
    """Return turn to note, from what a model is told."""
    lines = [line for line in inputs["notes"].splitlines() if not line.startswith("  ")]
    return {
        f"turn_{number}": note
        for number, note in (
            re.fullmatch(r"turn_(\d+), (?:traveller|assistant): (.*)", line).groups() for line in lines
        )
    }


def echoed(inputs, fields):
    """Return an answer that says every note, each with words of its own so that none is repeated."""
    notes = notes_of(inputs)
    return {name: f"{notes[name]} That is point {name[5:]}." for name in fields}
