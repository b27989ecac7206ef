"""How one reviewer writes: alone or in company, spacing, paragraphs, capitals, typing mistakes, emoji."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trace_dataset.sample.bank import Bank
from trace_dataset.sample.grammar import Sequence, expand, pick
from trace_dataset.sample.sentences import Unit

Uniform = Callable[[], float]
Span = tuple[int, int, str | None, int]

_ALONE = {"we": "I", "us": "me", "our": "my", "weve": "I've", "we_were": "I was"}
_TOGETHER = {"we": "we", "us": "us", "our": "our", "weve": "we've", "we_were": "we were"}

_MISTAKES = (
    ("definitely", "definately"),
    ("restaurant", "resturant"),
    ("a lot", "alot"),
    ("receive", "recieve"),
    ("because", "becuase"),
    ("their", "thier"),
    ("really", "realy"),
    ("until", "untill"),
    ("separate", "seperate"),
    ("atmosphere", "atmoshere"),
    ("delicious", "delicous"),
    ("the ", "teh "),
    ("ing ", "ng "),
    ("their", "there"),
    ("you're", "your"),
    ("it's", "its"),
    ("with ", "wiht "),
    ("minutes", "mintues"),
    ("friendly", "freindly"),
    ("parking", "parkng"),
    ("we ", "we we "),
)
_EMOJI = ("😍", "👍", "🙂", "😂", "❤️", "😋", "🎉", "👌🏽", "😬", "🔥", "☕", "🐶", "🤷‍♀️", "🙄", "💯", "👨‍👩‍👧")


@dataclass(frozen=True, slots=True)
class Voice:
    """The habits of one reviewer."""

    alone: bool
    gap: str
    paragraphs: float
    break_text: str
    lower: bool
    mistakes: float
    curly: bool
    emoji: float
    shout: float

    @classmethod
    def draw(cls, uniform: Uniform) -> Voice:
        """Return a reviewer; each habit is its own draw."""
        alone, gap, breaks, kind, lower, careless, curly, emoji, shout = (uniform() for _ in range(9))
        return cls(
            alone=alone < 0.22,
            gap="  " if gap < 0.34 else ".. " if gap > 0.975 else " ",
            paragraphs=0.0 if breaks < 0.52 else 0.30,
            break_text="\r\n\r\n" if kind < 0.01 else "\n" if kind < 0.22 else "\n\n",
            lower=lower < 0.025,
            mistakes=0.18 if careless < 0.12 else 0.012,
            curly=curly < 0.01,
            emoji=0.25 if emoji < 0.018 else 0.0,
            shout=0.5 if shout < 0.01 else 0.0,
        )

    def slots(self, bank: Bank, uniform: Uniform) -> dict[str, list[Sequence]]:
        """Return the slots that this reviewer fills: pronouns and who came along, the same all through a review."""
        words = _ALONE if self.alone else _TOGETHER
        filled: dict[str, list[Sequence]] = {key: [[word]] for key, word in words.items()}
        filled["companion"] = [[expand(pick(bank.slots["companions"], uniform), bank.slots, uniform)]]
        return filled


def join_units(units: list[Unit], voice: Voice, uniform: Uniform) -> tuple[str, list[Span]]:
    """Return the text of a review and the spans of its sentences, in code points of that text."""
    pieces: list[str] = []
    spans: list[Span] = []
    length = 0
    for number, unit in enumerate(units):
        if number:
            gap = voice.break_text if uniform() < voice.paragraphs else voice.gap
            if gap == ".. " and (pieces[-1][-1] != "." or pieces[-1].endswith("..")):
                gap = " "
            pieces.append(gap)
            length += len(pieces[-1])
        text = _retyped(unit, voice, uniform)
        for start, end, aspect, polarity in unit.spans:
            spans.append((length + start, length + (len(text) if end is None else end), aspect, polarity))
        pieces.append(text)
        length += len(text)
        if voice.emoji and uniform() < voice.emoji:
            face = " " + _EMOJI[int(uniform() * len(_EMOJI))]
            pieces.append(face)
            length += len(face)
    return "".join(pieces), spans


def _retyped(unit: Unit, voice: Voice, uniform: Uniform) -> str:
    """Return a sentence as this reviewer types it; a sentence with marks inside keeps its length."""
    text = unit.text
    whole = all(end is None for _, end, _, _ in unit.spans)
    if whole and uniform() < voice.mistakes:
        right, wrong = _MISTAKES[int(uniform() * len(_MISTAKES))]
        at = text.find(right)
        if at > 0:
            text = text[:at] + wrong + text[at + len(right) :]
    if voice.lower:
        text = text.lower()
    elif voice.shout and uniform() < voice.shout and len(text) < 60 and text.isascii():
        text = text.upper()
    return text.replace("'", "’") if voice.curly else text
