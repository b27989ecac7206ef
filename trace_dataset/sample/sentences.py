"""Single sentences: one aspect, two aspects, no aspect."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from trace_dataset.sample.bank import Bank
from trace_dataset.sample.grammar import Sequence, Slots, expand, expand_raw, marked, pick

Uniform = Callable[[], float]

INDIRECT_SHARE = 0.50
_NEXT = re.compile(r"(?<=[.!?] )[a-z]")
_ENDS = ".!?)…"


@dataclass(slots=True)
class Unit:
    """A sentence, and what it says: (start, end, aspect, polarity) within the sentence; `end` None is the end."""

    text: str
    spans: list[tuple[int, int | None, str | None, int]] = field(default_factory=list)


def _fresh(options: list[Sequence], used: set[int], uniform: Uniform) -> Sequence:
    """Return a template that this review has not used yet, if three tries find one."""
    for _ in range(3):
        template = pick(options, uniform)
        if id(template) not in used:
            break
    used.add(id(template))
    return template


def capitalised(text: str) -> str:
    """Return the text with the first letter of each sentence in upper case; the length stays."""
    return _NEXT.sub(lambda match: match[0].upper(), text[:1].upper() + text[1:])


def _opens_lower(text: str) -> bool:
    return text[:1].islower() or text.startswith(("I ", "I'"))


def aspect_sentence(bank: Bank, slots: Slots, aspect: str, polarity: int, uniform: Uniform, used: set[int]) -> Unit:
    """Return a sentence that judges one aspect, with an opener or a tail now and then."""
    rows = bank.aspects[aspect]
    kind, opens, tails, mark = uniform(), uniform(), uniform(), uniform()
    mood = "good" if polarity > 0 else "bad"
    if kind < 0.10 and rows.nouns:
        noun = marked(expand_raw(pick(rows.nouns, uniform), slots, uniform))
        text = expand(_fresh(bank.lists[f"say_{mood}"], used, uniform), {**slots, "np": [[noun]]}, uniform)
    else:
        indirect = rows.indirect[polarity]
        options = indirect if indirect and kind < 0.10 + 0.9 * INDIRECT_SHARE else rows.direct[polarity]
        text = expand(_fresh(options, used, uniform), slots, uniform)
    if opens < 0.20 and _opens_lower(text):
        text = expand(pick(bank.lists["opener" if opens < 0.11 else f"opener_{mood}"], uniform), slots, uniform) + text
    if text[-1] not in _ENDS:
        if tails < 0.26 and len(text) < 95 and ". " not in text and "? " not in text:
            text += expand(pick(bank.lists[f"tail_{mood}"], uniform), slots, uniform)
        if text[-1] not in _ENDS:
            text += "!" if mark < (0.16 if polarity > 0 else 0.05) else "..." if mark > 0.975 else "."
    return Unit(capitalised(text), [(0, None, aspect, polarity)])


def neutral_sentence(bank: Bank, slots: Slots, aspect: str, uniform: Uniform, used: set[int]) -> Unit:
    """Return a sentence that names an aspect and judges it neither good nor bad."""
    noun = marked(expand_raw(pick(bank.aspects[aspect].nouns, uniform), slots, uniform))
    text = expand(_fresh(bank.lists["say_neutral"], used, uniform), {**slots, "np": [[noun]]}, uniform)
    return Unit(capitalised(text) if text[-1] in _ENDS else capitalised(text) + ".", [(0, None, aspect, 0)])


def mixed_sentence(
    bank: Bank, slots: Slots, first: tuple[str, int], second: tuple[str, int], uniform: Uniform, used: set[int]
) -> Unit:
    """Return one sentence with two clauses, each about an aspect of its own; marks cover the clauses."""
    clauses = [_clause(bank, slots, aspect, polarity, uniform, used) for aspect, polarity in (first, second)]
    relation = "pair" if first[1] == second[1] else "contrast"
    frame = expand(_fresh(bank.lists[relation], used, uniform), {**slots, "a": [["\x01"]], "b": [["\x02"]]}, uniform)
    spans: list[tuple[int, int | None, str | None, int]] = []
    for sign, clause, (aspect, polarity) in zip("\x01\x02", clauses, (first, second), strict=True):
        at = frame.index(sign)
        begins = at == 0 or frame[at - 2 : at] in (". ", "! ", "? ")
        frame = frame[:at] + (capitalised(clause) if begins else clause) + frame[at + 1 :]
        spans.append((at, at + len(clause), aspect, polarity))
    text = frame if frame[-1] in _ENDS else frame + "."
    return Unit(capitalised(text), spans)


def _clause(bank: Bank, slots: Slots, aspect: str, polarity: int, uniform: Uniform, used: set[int]) -> str:
    text = expand(_fresh(bank.aspects[aspect].clauses[polarity], used, uniform), slots, uniform)
    if uniform() < 0.5:
        text = expand(_fresh(bank.lists["clause_wrap"], used, uniform), {**slots, "c": [[text]]}, uniform)
    return text


def list_sentence(bank: Bank, name: str, slots: Slots, uniform: Uniform, used: set[int], polarity: int = 0) -> Unit:
    """Return a sentence without an aspect: how a visit began, an aside, a verdict."""
    text = expand(_fresh(bank.lists[name], used, uniform), slots, uniform)
    if text[-1] not in _ENDS:
        text += "!" if uniform() < 0.08 else "."
    return Unit(capitalised(text), [(0, None, None, polarity)])
