"""The writer that asks a language model: the same plans as the template's, the same validation, then the template.

Each dialogue has so many tries. A try asks for the turns that are still missing, with what was wrong with them before.
A dialogue that has no sound text after the last try is written by the template and marked `fallback`.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.dialogues.composing import Check, WriterStopped, Written
from trace_dataset.dialogues.lm_prompt import INSTRUCTIONS, VERSION, Notes
from trace_dataset.dialogues.lm_slots import complaints, tidy
from trace_dataset.dialogues.planned import Plan
from trace_dataset.dialogues.template import TemplateWriter
from trace_dataset.lm import SERVICE, Budget, Failed, Journal, LanguageModel, Usage, open_lm
from trace_dataset.streams import digest

TRIES = 3
PATIENCE = 5  # dialogues in a row that the service failed; then nobody asks it any more
THREADS = 8  # dialogues at a time, for a service; a local model has one
SAID_BEFORE = 4  # turns that a model is shown when it does not write the whole dialogue at once
TEMPLATE_TRIES = 3
GENERAL_COMPLAINT = "The last reply was no use: answer with the JSON fields that are asked for, each with its text."
COMPLAINT_OF: Mapping[str, str] = {
    "copied_words": "It repeats a guest's words at length: use your own.",
    "user_names_place": "A traveller names no place: leave the name out.",
    "name_token": "A word of it gives the place away: describe what is wanted in other words.",
    "quote": "Write no quotation marks.", "review_reference": "Write no square brackets."}


@dataclass
class WriterReport:
    """What a model was asked and what came of it; all counts are of this run unless they say otherwise.

    Attributes:
        written: dialogues with the model's texts; `resumed` of these were in the journal already.
        fallbacks: reason to dialogues that the template wrote: `tries` where no try was sound, else why there was no answer.
        complaints: failing check to turns that were sent back.
        failures: reason to questions that came to nothing.
        cost: USD of the calls whose price is known; `unpriced_calls` counts the others.
        earlier_tokens: what the journal says was spent in earlier runs.
        stopped: why the writer stopped before the end, if it did.
    """

    model: str = ""
    written: int = 0
    resumed: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    complaints: Counter[str] = field(default_factory=Counter)
    failures: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced_calls: int = 0
    earlier_tokens: int = 0
    stopped: str | None = None

    @property
    def fallback_share(self) -> float:
        """Dialogues that the template wrote, as a share of all that were finished."""
        fallen = sum(self.fallbacks.values())
        return fallen / max(1, fallen + self.written)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {**asdict(self), "fallbacks": dict(sorted(self.fallbacks.items())),
                "complaints": dict(sorted(self.complaints.items())), "fallback_share": self.fallback_share}

    def __str__(self) -> str:
        fallen = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(self.fallbacks.items())) or "none"
        unpriced = f" and {self.unpriced_calls:,} calls of unknown price" if self.unpriced_calls else ""
        lines = [f"{self.model}: {self.written:,} dialogues written ({self.resumed:,} of them in earlier runs)",
                 f"by the template instead: {100 * self.fallback_share:.1f} % ({fallen})",
                 f"{self.calls:,} calls, {self.retries:,} retries, {self.prompt_tokens:,} tokens read, "
                 f"{self.completion_tokens:,} written, {self.cost:.4f} USD{unpriced}"]
        return "\n".join([*lines, f"stopped: {self.stopped}"] if self.stopped else lines)


@contextmanager
def open_lm_writer(name: str, api_base: str | None = None, *, journal: str | os.PathLike[str] | None = None,
                   budget: Budget | None = None, tries: int = TRIES, threads: int | None = None,
                   turns_per_call: int | None = None, show_quotes: bool | None = None, **options: Any) -> Iterator[LmWriter]:
    """Give a writer for `build_dialogues(..., writer=writer)`; the model and the journal are closed at the end.

    Args:
        name, api_base, budget, options: see `trace_dataset.lm.open_lm`.
        journal: a JSONL file of what was paid for; a run with the same settings goes on from it.
        tries: how often a dialogue is asked for before the template writes it.
        threads: dialogues at a time; None: 8 for a service, 1 for the local model.
        turns_per_call: None: the whole dialogue at once for a service, one turn for the local model.
        show_quotes: whether the model sees the words of the quotes that it writes around, so that review text leaves this
            machine; None: yes, except to the local model, which would only repeat them.

    Example:
        >>> with open_lm_writer("local", journal="run.jsonl") as writer:  # doctest: +SKIP
        ...     dialogues, report = build_dialogues(kb, evidence, n_dialogues=20, writer=writer)
        ...     print(writer.report())
    """
    if tries < 1 or (threads is not None and threads < 1) or (turns_per_call is not None and turns_per_call < 1):
        raise UsageError(f"tries={tries}, threads={threads}, turns_per_call={turns_per_call}: all have to be 1 or more",
                         do="leave them out for the defaults")
    with open_lm(name, api_base, budget=budget, **options) as lm:
        writer = LmWriter(lm, tries=tries, threads=threads, turns_per_call=turns_per_call, show_quotes=show_quotes)
        if journal is None:
            yield writer
            return
        with Journal(journal, writer.settings) as writer.journal:
            yield writer


class LmWriter:
    """Writes dialogues with a language model; made by `open_lm_writer`. Threads may share it."""

    def __init__(self, lm: LanguageModel, *, tries: int = TRIES, threads: int | None = None,
                 turns_per_call: int | None = None, show_quotes: bool | None = None, journal: Journal | None = None) -> None:
        self.lm, self.tries, self.journal = lm, tries, journal
        self.name = f"lm:{lm.name}"
        self.threads = threads or (1 if lm.local else THREADS)
        self.turns_per_call = turns_per_call or (1 if lm.local else None)
        self.show_quotes = not lm.local if show_quotes is None else show_quotes
        self.template = TemplateWriter()
        self._lock = threading.Lock()
        self._report = WriterReport(lm.name)
        self._failed_in_a_row = 0
        self._given_up: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What the texts depend on besides the plan; a journal of other settings is refused."""
        return {**self.lm.signature, "tries": self.tries, "turns_per_call": self.turns_per_call,
                "show_quotes": self.show_quotes, "prompt": digest(VERSION, INSTRUCTIONS).hex()[:16]}

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
        job = _Job(self, plan, names, seed, check)
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
            values = {**self._report.__dict__, "fallbacks": Counter(self._report.fallbacks),
                      "complaints": Counter(self._report.complaints)}
        return WriterReport(**{**values, "failures": dict(sorted(meter.failures.items())), "calls": meter.usage.calls,
                               "retries": meter.retries, "prompt_tokens": meter.usage.prompt_tokens,
                               "completion_tokens": meter.usage.completion_tokens, "cost": meter.usage.cost or 0.0,
                               "unpriced_calls": meter.unpriced_calls})

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


class _Job:
    """One dialogue: its tries, its record in the journal, its fallback."""

    def __init__(self, writer: LmWriter, plan: Plan, names: Mapping[str, str], seed: int, check: Check) -> None:
        self.writer, self.plan, self.names, self.seed, self.check = writer, plan, names, seed, check
        self.notes = Notes(plan, names, seed, writer.show_quotes)
        self.accepted: dict[int, str] = {}  # turn to the model's text, slots still in it
        self.wrong: dict[int, dict[str, str]] = {}
        self.useless = False  # the last reply could not be read
        self.tried = 0
        self.reason = "tries"
        self.counted: Counter[str] = Counter()
        self.earlier_tokens = 0
        guests = [self.notes.guests(index) for index in range(len(plan.turns))]
        self.digest = digest(self.notes.scene, *self.notes.notes, *guests, *(
            value for slots in self.notes.slots for item in slots.values.items() for value in item)).hex()[:32]

    def finished(self) -> Written | None:
        """Take up what the journal holds of this dialogue, and return it if it is whole and still sound."""
        if self.writer.journal is None:
            return None
        for record in self.writer.journal.records(self.plan.scenario.dialogue_id):
            if record.get("digest") != self.digest:
                continue  # another plan under the same id: a scenario that was drawn again, or other reviews
            self.earlier_tokens += int(record.get("tokens", 0))
            if record["step"] in ("call", "try"):
                self.tried = int(record["try"])
                self.accepted.update({int(index): text for index, text in record.get("accepted", {}).items()})
                self.wrong.update({int(index): dict(found) for index, found in record["wrong"].items()})
                self.useless = bool(record["useless"])
                for index in record["wrong"]:
                    self.accepted.pop(int(index), None)
            elif not self.check(self.texts()):
                return self._sound()
        return None

    def run(self) -> Written | None:
        """Ask until the dialogue is sound or the tries are used up."""
        while self.tried < self.writer.tries:
            given_up = self.writer.gave_up()
            if given_up is not None:
                self.reason = given_up
                return self._fallback()
            failed = self._try()
            if failed is not None and failed.reason == "budget":
                reason = f"budget: {failed.detail}"
                self.writer.stop(reason)
                raise WriterStopped(reason)
            if failed is not None and failed.reason in SERVICE:
                self.writer.note_service(failed.reason)
                self.reason = failed.reason
                return self._fallback()
            self.writer.note_service(None)
            if len(self.accepted) == len(self.plan.turns):
                self._record({"step": "done"})
                return self._sound()
        return self._fallback()

    def _try(self) -> Failed | None:
        """Ask for every missing turn once; keep what is sound. Returns the failure that ended the try, if one did."""
        missing = [index for index in range(len(self.plan.turns)) if index not in self.accepted]
        size = self.writer.turns_per_call or len(missing)
        wrong, useless = dict(self.wrong), self.useless
        self.useless = False
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            fields = {f"turn_{index + 1}": self.notes.slots[index].field(
                f"turn {index + 1}, by the {'traveller' if index % 2 == 0 else 'assistant'}", self.plan.turns[index].role)
                for index in batch}
            outcome = self.writer.lm.ask(INSTRUCTIONS, self._inputs(batch, wrong, useless), fields)
            if isinstance(outcome, Failed):
                if outcome.reason in SERVICE or outcome.reason == "budget":
                    return outcome
                self.useless = True
                self.counted[outcome.reason] += 1
            else:
                for index in batch:
                    self._take(index, str(outcome.values[f"turn_{index + 1}"]))
            self._note("call", batch, outcome.usage)
        self.tried += 1
        if len(self.accepted) == len(self.plan.turns):
            self._judge()
        self._note("try", (), Usage())
        return None

    def _inputs(self, batch: Sequence[int], wrong: Mapping[int, Mapping[str, str]], useless: bool) -> dict[str, str]:
        notes = [f"turn_{index + 1}: {self.notes.notes[index]}{self.notes.guests(index)}" for index in batch]
        inputs = {"scene": self.notes.scene}
        if self.writer.turns_per_call is not None:
            before = [index for index in sorted(self.accepted) if index < batch[0]][-SAID_BEFORE:]
            inputs["said_before"] = "\n".join(f"{'assistant' if index % 2 else 'traveller'}: {self.accepted[index]}"
                                              for index in before) or "nothing yet"
        inputs["notes"] = "\n".join(notes)
        mend = [f"turn_{index + 1}: {' '.join(wrong[index].values())}" for index in batch if index in wrong]
        if useless:
            mend.insert(0, GENERAL_COMPLAINT)
        if mend:
            inputs["what_was_wrong_before"] = "\n".join(mend)
        return inputs

    def _take(self, index: int, text: str) -> None:
        text = tidy(text)
        others = {said.lower() for key, said in self.accepted.items() if key != index}
        found = complaints(self.plan.turns[index], self.notes.slots[index], text, others)
        if found:
            self.wrong[index] = found
            self.counted.update(found)
        else:
            self.accepted[index] = text
            self.wrong.pop(index, None)

    def _judge(self) -> None:
        """Put the whole dialogue to the check; turns that fail it are missing again."""
        failing = self.check(self.texts())
        if not failing:
            return
        blamed = self._blamed() or dict.fromkeys(self.accepted, failing)
        for index, names in blamed.items():
            self.counted.update(names)
            self.wrong[index] = {name: COMPLAINT_OF.get(name, f"It fails the check {name}.") for name in names}
            del self.accepted[index]

    def _blamed(self) -> dict[int, list[str]]:
        """Return the turns at fault: those that fail among the template's texts, each put there alone."""
        base = self._template_texts()
        if base is None:
            return {}
        found = {}
        for index, text in enumerate(self.texts()):
            failing = self.check((*base[:index], text, *base[index + 1 :]))
            if failing:
                found[index] = failing
        return found

    def texts(self) -> tuple[str, ...]:
        """Return the dialogue in release form; every turn has to be there."""
        return tuple(self.notes.slots[index].fill(self.accepted[index]) for index in range(len(self.plan.turns)))

    def _template_texts(self) -> tuple[str, ...] | None:
        for attempt in range(1, TEMPLATE_TRIES + 1):
            texts = self.writer.template.write(self.plan, self.names, self.seed, attempt)
            if not self.check(texts):
                return texts
        return None

    def _sound(self) -> Written:
        return Written(self.texts(), self.writer.name, self.tried, False, Counter(self.counted))

    def _fallback(self) -> Written | None:
        texts = self._template_texts()
        if texts is None:
            return None
        return Written(texts, self.writer.template.name, self.tried + 1, True, Counter(self.counted))

    def _note(self, step: str, batch: Sequence[int], usage: Usage) -> None:
        """Record a reply that was paid for (its sound texts), or the end of a try (what is to be written again)."""
        record: dict[str, Any] = {"step": step, "try": self.tried, "useless": self.useless,
                                  "wrong": {str(index): found for index, found in self.wrong.items()}}
        if step == "call":
            sound = {str(index): self.accepted[index] for index in batch if index in self.accepted}
            record |= {"accepted": sound, "tokens": usage.tokens, "cost": usage.cost}
        self._record(record)

    def _record(self, record: Mapping[str, Any]) -> None:
        if self.writer.journal is not None:
            self.writer.journal.append(self.plan.scenario.dialogue_id, {"digest": self.digest, **record})
