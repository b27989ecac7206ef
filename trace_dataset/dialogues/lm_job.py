"""One dialogue in a language model's hands: tries, complaints, the record in the journal, the fallback.

A try asks for the turns that are still missing, with what was wrong with them before. A dialogue that has no sound text after
the last try is written by the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trace_dataset.dialogues.composing import Check, WriterStopped, Written
from trace_dataset.dialogues.lm_prompt import Notes
from trace_dataset.dialogues.lm_slots import complaints, tidy
from trace_dataset.dialogues.planned import Plan
from trace_dataset.lm import SERVICE, Failed, Usage
from trace_dataset.streams import digest

if TYPE_CHECKING:
    from trace_dataset.dialogues.lm_writer import LmWriter

SAID_BEFORE = 3  # turns that a model is shown when it does not write the whole dialogue at once
TEMPLATE_TRIES = 3
GENERAL_COMPLAINT = "The last reply was no use: answer with the JSON fields that are asked for, each with its text."
COMPLAINT_OF: Mapping[str, str] = {
    "copied_words": "It repeats a guest's words at length: use your own.",
    "user_names_place": "A traveller names no place: leave the name out.",
    "name_token": "A word of it gives the place away: describe what is wanted in other words.",
    "quote": "Write no quotation marks.",
    "review_reference": "Write no square brackets.",
}


class Job:
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
        self.digest = digest(
            self.notes.scene,
            *self.notes.notes,
            *guests,
            *(value for slots in self.notes.slots for item in slots.values.items() for value in item),
        ).hex()[:32]

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
            fields = {
                f"turn_{index + 1}": self.notes.slots[index].field(
                    f"what the {_role(index)} says", self.plan.turns[index].role
                )
                for index in batch
            }
            inputs = self._inputs(batch, wrong, useless)
            outcome = self.writer.lm.ask(self.writer.instructions, inputs, fields, variation=self.tried)
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
        notes = [
            f"turn_{index + 1}, {_role(index)}: {self.notes.notes[index]}{self.notes.guests(index)}" for index in batch
        ]
        if self.writer.small_model:  # no complaint either: it would be repeated, and another seed does more
            return {"note": "\n".join(note.partition(", ")[2] for note in notes)}
        inputs = {"scene": self.notes.scene}
        if self.writer.turns_per_call is not None:
            before = [index for index in sorted(self.accepted) if index < batch[0]][-SAID_BEFORE:]
            inputs["said_before"] = (
                "\n".join(f"{_role(index)}: {self.accepted[index]}" for index in before) or "nothing yet"
            )
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
            self.counted.update(list(found))
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
        record: dict[str, Any] = {
            "step": step,
            "try": self.tried,
            "useless": self.useless,
            "wrong": {str(index): found for index, found in self.wrong.items()},
        }
        if step == "call":
            sound = {str(index): self.accepted[index] for index in batch if index in self.accepted}
            record |= {"accepted": sound, "tokens": usage.tokens, "cost": usage.cost}
        self._record(record)

    def _record(self, record: Mapping[str, Any]) -> None:
        if self.writer.journal is not None:
            self.writer.journal.append(self.plan.scenario.dialogue_id, {"digest": self.digest, **record})


def _role(index: int) -> str:
    return "assistant" if index % 2 else "traveller"
