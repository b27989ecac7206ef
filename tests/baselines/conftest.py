"""A model that is played, and the turns of the sample benchmark, for tests of the baselines that ask one."""

from __future__ import annotations

import pytest

from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.lm import Answer, Failed, Meter, Usage


class Played:
    """A model whose replies a function makes of the number of the call, the inputs and the fields.

    Attributes:
        asked: what it was told, call by call: instructions, inputs, fields.
    """

    def __init__(self, reply, name="played"):
        self.reply, self.meter = reply, Meter()
        self.signature = {"name": name, "options": {}}
        self.asked = []

    def ask(self, instructions, inputs, fields, variation=0):
        self.asked.append((instructions, dict(inputs), dict(fields)))
        found = self.reply(len(self.asked), inputs, fields)
        usage = Usage(1, 100, 20, 0.001)
        return (
            Failed(found.reason, found.detail, usage) if isinstance(found, Failed) else Answer(found, "played", usage)
        )


def saying(text):
    """Reply with one text whatever is asked."""
    return lambda number, inputs, fields: {"response": text}


@pytest.fixture
def prepared(benchmark):
    """Return a baseline over the sample benchmark, with a played model."""

    def make(name, reply, model_name="played"):
        baseline = load_baseline(name, lm=Played(reply, model_name))
        baseline.prepare(benchmark.kb)
        return baseline

    return make


@pytest.fixture
def contexts(benchmark):
    """Return the turn contexts of the benchmark's first dialogues that have an action."""

    def find(action, pool="closed"):
        return [
            context
            for dialogue in benchmark.dialogues[:40]
            for _, context in turn_contexts(dialogue, benchmark.kb.cells, pool, 42, "test")
            if context.action == action
        ]

    return find
