"""From a sentence to normalised words in clauses: what the word lists are matched against."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)} | {0x2019: "'", 0x2018: "'"}
TOKEN = re.compile(r"[a-z0-9à-öø-ÿ]+(?:'[a-z]+)*|[,;:()&#…—–]|\.\.+|--+|(?<=\s)-(?=\s)")
HARD_BREAKS = frozenset(";:()…—–-")
NO_CONTRAST = frozenset(["a", "not", "anything", "nothing", "all", "none"])  # "a while", "not yet", "anything but"
FINAL_S = re.compile(r"'s?$")


@cache
def word_lists() -> dict[str, Any]:
    """Return the contents of `lexicon.json`."""
    lists: dict[str, Any] = json.loads(
        resources.files(__package__).joinpath("lexicon.json").read_text(encoding="utf-8")
    )
    return lists


@dataclass(slots=True)
class Clause:
    """A stretch of a sentence: its normalised words, and where its plain text stands in the review."""

    words: list[str] = field(default_factory=list)
    start: int = -1
    end: int = -1
    tokens: int = 0


class Reader:
    """Cuts sentences into clauses and words; keeps the word lists at hand."""

    def __init__(self) -> None:
        lists = word_lists()
        self.fillers = frozenset(lists["fillers"])
        self.forms: dict[str, str] = lists["forms"]
        self.contrast = frozenset(lists["contrast"])
        self.subjects = frozenset(lists["subjects"])
        split: dict[str, str] = lists["split"]
        self.known: dict[str, tuple[str, ...]] = {word: tuple(text.split()) for word, text in split.items()}

    def normalise(self, phrase: str) -> tuple[str, ...]:
        """Return the normalised words of a phrase, as they would stand in a clause."""
        found: list[str] = []
        for match in TOKEN.finditer(phrase.lower()):
            found += self._words(match.group())
        return tuple(found)

    def clauses(self, lowered: str, start: int, end: int) -> list[Clause]:
        """Return the clauses of a sentence, given the review's text in lower case.

        A clause ends at a semicolon, colon, dash or parenthesis, before a contrast word, and where a comma or `and`
        is followed by a new subject.
        """
        clause = Clause()
        found = [clause]
        last = ""
        for match in TOKEN.finditer(lowered, start, end):
            raw = match.group()
            if raw == ",":
                clause.words.append(",")
            elif raw[0] in HARD_BREAKS or raw[0] == ".":
                clause = Clause()
                found.append(clause)
            else:
                if clause.words and self._begins(raw, last):
                    clause = Clause()
                    found.append(clause)
                if raw in ("only", "just") and clause.words and clause.words[-1] == "not":
                    clause.words.pop()  # "not only" says yes
                else:
                    clause.words += self.known.get(raw) or self._words(raw)
                if not (clause.start < 0 and (raw in self.contrast or raw in ("and", "so", "&", "plus", "or"))):
                    if clause.start < 0:
                        clause.start = match.start()
                    clause.tokens += 1
                    if raw not in ("and", "so", "&", "or"):
                        clause.end = match.end()
            last = raw
        return [clause for clause in found if clause.end > clause.start >= 0]

    def _begins(self, raw: str, last: str) -> bool:
        """Say whether a word begins a new clause."""
        if raw in self.contrast:
            return last not in NO_CONTRAST
        return last in (",", "and", "&", "plus", "so") and raw in self.subjects

    def _words(self, raw: str) -> tuple[str, ...]:
        known = self.known.get(raw)
        if known is None:
            if raw == "&":
                known = ("and",)
            else:
                base = FINAL_S.sub("", raw)
                split = self.known.get(base, (self.forms.get(base, base),))
                known = tuple(self.forms.get(word, word) for word in split if word not in self.fillers)
            if len(self.known) < 200_000:  # words repeat; rare ones need not be kept for ever
                self.known[raw] = known
        return known


def lower(text: str) -> str:
    """Return text in lower case with plain apostrophes, every character in its place."""
    return text.lower() if text.isascii() else text.translate(ASCII_LOWER)
