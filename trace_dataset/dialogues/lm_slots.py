"""Slots: what a model writes around. `{place1}` and `{quote1}` stand for names and quotes, which only we put in.

A model that copied a name or a quote itself might alter it; here it cannot. Places and quotes are numbered through a turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hydrate import escape
from trace_dataset.dialogues.planned import PlannedQuote, PlannedTurn
from trace_dataset.dialogues.wishes import wording
from trace_dataset.lm import Text
from trace_dataset.schema import Constraint
from trace_dataset.scoring.text import tokenize

SLOT = re.compile(r"\{[^{}]*\}?")
AROUND_QUOTE = re.compile(r"[\"'“”‘’„]*(\{quote\d+\})(?:[\"'“”‘’]+(?![a-z]))?")
LABELS_BEHIND = re.compile(r"(\{quote\d+\})\s*[\[(]R?\d+[\])]")
MARKS = re.compile(r"[\"“”„‟«»]")
LABEL = re.compile(r"\[|\]")
BEFORE_SLOT, BEHIND_SLOT = (
    re.compile(r"(?<=[\w,.;:!?])(?=\{(?:place|quote)\d)"),
    re.compile(r"(\{(?:place|quote)\d+\})(?=\w)"),
)
TASK = re.compile(
    r"\bJSON\b|\bcurly\b|\bthe note\b|\bown words\b|\bquote\d|\bplace\d|\b(?:traveller|assistant) says\b", re.IGNORECASE
)
SPEAKER = re.compile(r"^(?:the )?(?:traveller|traveler|assistant|user|system)\s*:\s*", re.IGNORECASE)
SPEAKERS = re.compile(r"\b(?:travell?er|assistant|user|system)\s*:|\bturn_\d", re.IGNORECASE)
LEAST_NEW, LOOP_TOKENS = 0.7, 9  # of the three-token runs of so long a text are not said twice
SEGMENT = "[A-Za-z0-9 ,.'!?:;-]"
MOST_USER, MOST_SYSTEM, MOST_A_SLOT = 300, 220, 200  # characters
LEAST = 8
STOP_WORDS = frozenset(
    "about after also been before being both could does down ever every from have having here into just like likes look "
    "looking made make makes many mind more most much need needs nobody only other over people place places really said "
    "should some somebody someone something somewhere spot such take than that their them then there they thing things "
    "this those want wants well were what when where which will with without would your yourself".split()
)
SHORT_STOP_WORDS = frozenset("all and are big bit can end for how its lot low one out the two who you".split())
SLOT_OR_NOTE = re.compile(r"<[^>]*>|\{[^}]*\}")
STEM = 5  # letters by which two words count as one


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of one turn, in the order in which they have to stand; values are release text."""

    values: Mapping[str, str]
    quotes: Mapping[str, PlannedQuote]
    places: Mapping[str, str]  # business id to slot

    @classmethod
    def of(cls, turn: PlannedTurn, names: Mapping[str, str]) -> Slots:
        """Return the slots of a turn: each place, then its quotes; quotes of places that it does not name come first."""
        values: dict[str, str] = {}
        quotes: dict[str, PlannedQuote] = {}
        places: dict[str, str] = {}
        if turn.role == "user":
            return cls(values, quotes, places)

        def add(item: PlannedQuote) -> None:
            slot = f"{{quote{len(quotes) + 1}}}"
            quotes[slot] = item
            values[slot] = f'"[Q:{item.quote.n}]" [{item.quote.label}]'

        for item in turn.quotes:
            if item.quote.business_id not in turn.places:
                add(item)
        for business in turn.places:
            places[business] = slot = f"{{place{len(places) + 1}}}"
            values[slot] = escape(names[business])
            for item in turn.quotes:
                if item.quote.business_id == business:
                    add(item)
        return cls(values, quotes, places)

    def fill(self, text: str) -> str:
        """Return a model's text in release form."""
        pieces, position = [], 0
        for match in SLOT.finditer(text):
            pieces += [escape(text[position : match.start()]), self.values[match.group()]]
            position = match.end()
        return "".join([*pieces, escape(text[position:])])

    def field(self, about: str, role: str) -> Text:
        """Return the field that a model fills, with a pattern that makes it keep the slots where a service can."""
        if not self.values:
            most = MOST_USER if role == "user" else MOST_SYSTEM
            return Text(about, most, LEAST, f"^[A-Z]{SEGMENT}{{12,110}}[.!?]$")
        inner = "".join(f" {re.escape(slot)}[ ,.:;]{SEGMENT}{{2,50}}" for slot in self.values)
        return Text(about, MOST_SYSTEM + MOST_A_SLOT * len(self.values), LEAST, f"^[A-Z]{SEGMENT}{{3,50}}{inner}[.!?]$")


def tidy(text: str) -> str:
    """Return a model's text on one line, without a speaker before it, or quotation marks and labels around a slot."""
    text = SPEAKER.sub("", text.strip())
    text = LABELS_BEHIND.sub(r"\1", AROUND_QUOTE.sub(r"\1", " ".join(text.split())))
    return BEHIND_SLOT.sub(r"\1 ", BEFORE_SLOT.sub(" ", text))


def complaints(turn: PlannedTurn, slots: Slots, text: str, earlier: set[str]) -> dict[str, str]:
    """Return what is wrong with a model's text before the dialogue is whole: check to a sentence for the model.

    Args:
        text: as the model wrote it, tidied.
        earlier: what stands in the dialogue already, as it was written, in lower case.
    """
    found: dict[str, str] = {}
    standing = SLOT.findall(text)
    unknown = [slot for slot in standing if slot not in slots.values]
    wanted, first = list(slots.values), list(dict.fromkeys(standing))
    if unknown or SLOT.sub("", text).count("}"):
        allowed = f"Use no slots but {', '.join(wanted)}." if wanted else "Use no curly brackets and no slots in it."
        found["slots"] = allowed
    elif first != wanted or any(standing.count(slot) > 1 for slot in slots.quotes):
        found["slots"] = f"It has to hold {', then '.join(wanted)}, in this order and each quote once."
    literal = SLOT.sub(" ", text)
    if MARKS.search(literal):
        found["invented_quote"] = "Write no quotation marks: only slots quote a guest."
    if LABEL.search(literal):
        found["brackets"] = "Write no square brackets and no labels."
    if SPEAKERS.search(literal):
        found["speaker"] = "Write only what is said, and nothing about who says it."
    if TASK.search(literal):
        found["task"] = "Speak as in the conversation, and not of the task."
    if loops(literal):
        found["loop"] = "It goes round in circles: say each thing once, briefly."
    if text.lower() in earlier:
        found["repeated"] = "The same was said before: say something else."
    said = f" {' '.join(tokenize(literal))} "
    if any(f" {' '.join(tokenize(item.text))} " in said for item in slots.quotes.values()):
        found["copied_quote"] = "Do not repeat a guest's words; the slot stands for them."
    if turn.role == "user":
        unsaid = [wish for wish in turn.wishes if not speaks_of(literal, wish)]
        if unsaid:
            found["wish_unsaid"] = "Say what is wanted: " + "; ".join(wish.value for wish in unsaid) + "."
    return found


def loops(text: str) -> bool:
    """Whether a text says the same again and again, as small models do.

    Example:
        >>> loops("I want a museum. I want a museum. I want a museum.")
        True
    """
    words = tokenize(text)
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return len(words) >= LOOP_TOKENS and len(set(runs)) < LEAST_NEW * len(runs)


def speaks_of(text: str, wish: Constraint) -> bool:
    """Whether a text has a word in common with the ways in which people speak of a wish; a loose test, and a cheap one.

    Example:
        >>> speaks_of("I eat a lot, so big plates please", Constraint("aspect", "generous portions"))
        True
    """
    return bool(_stems(wish) & {word[:STEM] for word in tokenize(text)})


@cache
def _stems(wish: Constraint) -> frozenset[str]:
    words = wording(wish)
    lines = [line for use in ("thing", "where", "say", "ask", "lacks", "topic") for line in words.lines.get(use, ())]
    spoken = tokenize(SLOT_OR_NOTE.sub(" ", " ".join([*lines, *words.slots.values(), wish.value])))
    # what is wanted may come down to one short word: "somewhere for the car", "something from the sea"
    short = {
        word for line in words.lines.get("thing", ()) for word in tokenize(line.replace("|", " ")) if len(word) == 3
    }
    long = {word for word in spoken if len(word) > 3}
    return frozenset(word[:STEM] for word in (long - STOP_WORDS) | (short - SHORT_STOP_WORDS))
