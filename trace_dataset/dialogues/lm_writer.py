"""The writer that asks a language model: the same plans as the template's and the same validation.

Each dialogue has so many tries; one that has no sound text after the last is written by the template and marked `fallback`.
A service that fails is never fatal: its dialogues are the template's, and a later run with the same journal asks for them
again. Only a spent budget ends a build before its end.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.dialogues.composing import Check, Written
from trace_dataset.dialogues.lm_job import Job
from trace_dataset.dialogues.lm_prompt import INSTRUCTIONS, SMALL_INSTRUCTIONS, VERSION
from trace_dataset.dialogues.lm_report import WriterReport
from trace_dataset.dialogues.planned import Plan
from trace_dataset.dialogues.template import TemplateWriter
from trace_dataset.lm import Budget, Journal, LanguageModel, open_lm
from trace_dataset.lm.local import ALIAS
from trace_dataset.streams import digest

TRIES, SMALL_TRIES = 3, 8
SMALL = f"local/{ALIAS}"  # the one model that is known to need it
PATIENCE = 5  # dialogues in a row that the service failed; then nobody asks it any more
THREADS = 8  # dialogues at a time, for a service; a local model has one


@contextmanager
def open_lm_writer(
    name: Any,
    api_base: str | None = None,
    *,
    journal: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    tries: int | None = None,
    threads: int | None = None,
    turns_per_call: int | None = None,
    show_quotes: bool | None = None,
    small_model: bool | None = None,
    **options: Any,
) -> Iterator[LmWriter]:
    """Give a writer for `build_dialogues(..., writer=writer)`; the model and the journal are closed at the end.

    Args:
        name, api_base, budget, options: see `trace_dataset.lm.open_lm`.
        journal: a JSONL file of what was paid for; a run with the same settings goes on from it.
        tries: how often a dialogue is asked for before the template writes it; None: 3, and 8 for a small model.
        threads: dialogues at a time; None: 8 for a service, 1 for the local model.
        turns_per_call: None: the whole dialogue at once, one turn for a small model.
        show_quotes: whether the model sees the words of the quotes that it writes around, so that review text leaves this
            machine; None: yes, except to a small model, which would only repeat them.
        small_model: whether to ask as a very small model needs it: one turn's note at a time and nothing else; None: for
            `local` alone.

    Example:
        >>> with open_lm_writer("local", journal="run.jsonl") as writer:  # doctest: +SKIP
        ...     dialogues, report = build_dialogues(kb, evidence, n_dialogues=20, writer=writer)
        ...     print(writer.report())
    """
    if any(value is not None and value < 1 for value in (tries, threads, turns_per_call)):
        raise UsageError(
            f"tries={tries}, threads={threads}, turns_per_call={turns_per_call}: all have to be 1 or more",
            do="leave them out for the defaults",
        )
    with open_lm(name, api_base, budget=budget, **options) as lm:
        writer = LmWriter(
            lm,
            tries=tries,
            threads=threads,
            turns_per_call=turns_per_call,
            show_quotes=show_quotes,
            small_model=lm.name == SMALL if small_model is None else small_model,
        )
        if journal is None:
            yield writer
            return
        with Journal(journal, writer.settings) as writer.journal:
            yield writer


class LmWriter:
    """Writes dialogues with a language model; made by `open_lm_writer`. Threads may share it."""

    def __init__(
        self,
        lm: LanguageModel,
        *,
        tries: int | None = None,
        threads: int | None = None,
        turns_per_call: int | None = None,
        show_quotes: bool | None = None,
        small_model: bool = False,
        journal: Journal | None = None,
    ) -> None:
        self.lm, self.journal = lm, journal
        self.tries = tries or (SMALL_TRIES if small_model else TRIES)
        self.name = f"lm:{lm.name}"
        self.threads = threads or (1 if lm.local else THREADS)
        self.small_model = small_model
        self.turns_per_call = turns_per_call or (1 if small_model else None)
        self.show_quotes = not small_model if show_quotes is None else show_quotes
        self.instructions = SMALL_INSTRUCTIONS if small_model else INSTRUCTIONS
        self.template = TemplateWriter()
        self._lock = threading.Lock()
        self._report = WriterReport(lm.name)
        self._failed_in_a_row = 0
        self._given_up: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the texts depend on besides the plan; a journal of other settings is refused."""
        return {
            **self.lm.signature,
            "tries": self.tries,
            "turns_per_call": self.turns_per_call,
            "show_quotes": self.show_quotes,
            "small_model": self.small_model,
            "prompt": digest(VERSION, self.instructions).hex()[:16],
        }

    def write(self, plan: Plan, names: Mapping[str, str], seed: int, attempt: int) -> tuple[str, ...]:
        """Return texts without the check of the whole dialogue; `build_dialogues` uses `compose`."""
        written = self.compose(plan, names, seed + attempt - 1, lambda texts: [])
        assert written is not None  # nothing is refused
        return written.texts

    def compose(self, plan: Plan, names: Mapping[str, str], seed: int, check: Check) -> Written | None:
        """Return texts that pass `check`, by the model or else by the template; None where neither has any.

        Raises:
            WriterStopped: the budget is spent.
        """
        job = Job(self, plan, names, seed, check)
        written = job.finished()
        if written is not None:
            with self._lock:
                self._report.resumed += 1
        else:
            written = job.run()
        with self._lock:
            self._report.complaints.update(job.counted)
            self._report.earlier_tokens += job.earlier_tokens
            if written is not None and not written.fallback:
                self._report.written += 1
            elif written is not None:
                self._report.fallbacks[job.reason] += 1
        return written

    def report(self) -> WriterReport:
        """Return what was asked and what came of it so far."""
        meter = self.lm.meter
        with self._lock:
            values = {
                **self._report.__dict__,
                "fallbacks": Counter(self._report.fallbacks),
                "complaints": Counter(self._report.complaints),
            }
        return WriterReport(
            **{
                **values,
                "failures": dict(sorted(meter.failures.items())),
                "calls": meter.usage.calls,
                "retries": meter.retries,
                "prompt_tokens": meter.usage.prompt_tokens,
                "completion_tokens": meter.usage.completion_tokens,
                "cost": meter.usage.cost or 0.0,
                "unpriced_calls": meter.unpriced_calls,
            }
        )

    def gave_up(self) -> str | None:
        """Return the reason for which the service is not asked any more, or None."""
        with self._lock:
            return self._given_up

    def note_service(self, reason: str | None) -> None:
        """Count a dialogue that the service failed (or, for None, one that it did not)."""
        with self._lock:
            self._failed_in_a_row = 0 if reason is None else self._failed_in_a_row + 1
            if reason == "authentication" or self._failed_in_a_row >= PATIENCE:
                self._given_up = reason

    def stop(self, reason: str) -> None:
        """Note why no more is written."""
        with self._lock:
            self._report.stopped = reason
