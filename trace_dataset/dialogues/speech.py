"""Small repairs that turn fragments into sentences; literal text only, never what stands in quotation marks."""

from __future__ import annotations

import re

SENTENCE_START = re.compile(r"((?:^|[.!?]\s+)[\"'(]?)([a-z])")
DOUBLED = re.compile(r"([?!])\.")
BLANKS = re.compile(r" {2,}")


def finish(text: str) -> str:
    """Return a fragment as a sentence: first letter a capital, a full stop where no other mark ends it.

    Example:
        >>> finish("somewhere quiet")
        'Somewhere quiet.'
    """
    text = DOUBLED.sub(r"\1", BLANKS.sub(" ", text).strip())
    if text and text[-1] not in ".!?":
        text += "."
    return SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def lower_first(text: str) -> str:
    """Return text that can stand after a colon or comma; `I` and its contractions keep their capital."""
    return text if re.match(r"I\b|[A-Z][A-Z]", text) else text[:1].lower() + text[1:]


def join(*parts: str) -> str:
    """Return the non-empty parts as sentences of one utterance."""
    return " ".join(finish(part) for part in parts if part)


def lowered(text: str) -> str:
    """Return text as someone types it who never presses shift."""
    text = text.lower()
    return text[:-1] if text.endswith(".") else text
