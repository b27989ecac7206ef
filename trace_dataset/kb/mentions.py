"""From a review to its mentions: which aspects it speaks of, how, and the span of text that says so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trace_dataset.kb.lexicon import GENERAL
from trace_dataset.kb.opinions import ClauseReader, Reading
from trace_dataset.kb.sentences import sentence_offsets
from trace_dataset.kb.words import Clause, Reader, lower

SHORTEST, LONGEST = 4, 25  # tokens of a span that may be quoted
UNQUOTABLE = re.compile(r"[\"“”„‟«»\[\]\\\x00-\x1f\x7f\x85\u2028\u2029]")
LETTER = r"[0-9A-Za-z_\u00c0-\u1fff]"  # a fixed range: no decision rests on Unicode tables
WORDS = re.compile(rf"{LETTER}+(?:['’]{LETTER}+)*")
LINE = re.compile(r"[^\r\n]*[^\s]")


def read_review(
    reader: Reader, clause_reader: ClauseReader, text: str, cut: int = 0
) -> list[tuple[int, int, int, int]]:
    """Return the mentions of a review: aspect number, signed strength, start and end of the span, (0, 0) if unquotable.

    Args:
        cut: the length at which texts were cut; a last sentence that the cut left without its end is not read.
    """
    lowered = lower(text)
    found: list[tuple[int, int, int, int]] = []
    for first, last in sentence_offsets(text):
        for start, end in _lines(text, first, last):
            if text[end - 1] == "?" or (end == len(text) >= cut > 0 and text[end - 1] not in ".!)"):
                continue
            found += _read_sentence(reader, clause_reader, text, lowered, start, end)
    return found


def _read_sentence(
    reader: Reader, clause_reader: ClauseReader, text: str, lowered: str, start: int, end: int
) -> list[tuple[int, int, int, int]]:
    clauses = reader.clauses(lowered, start, end)
    readings = [clause_reader.read(clause.words) for clause in clauses]
    good = any(reading is not None and reading.good for reading in readings)
    bad = any(reading is not None and reading.bad for reading in readings)
    if not good and not bad:
        return []
    whole = Clause(start=start, end=end, tokens=sum(clause.tokens for clause in clauses))
    found: list[tuple[int, int, int, int]] = []
    for clause, reading in zip(clauses, readings, strict=True):
        if reading is None:
            continue
        span = _span(text, whole) if not (good and bad) else (0, 0)
        if span == (0, 0):
            span = _span(text, clause)
        found += [(aspect, signed, *span) for aspect, signed in _said(reading)]
    return found


def _said(reading: Reading) -> list[tuple[int, int]]:
    mixed = reading.good and reading.bad
    said = [(aspect, _weaker(signed) if mixed else signed) for aspect, signed in reading.aspects.items()]
    return said if mixed or not reading.general else [*said, (GENERAL, reading.general)]


def _weaker(signed: int) -> int:
    """Return a strength one nearer to 0, but not 0: the sentence also says the opposite of something else."""
    return signed - 1 if signed > 1 else signed + 1 if signed < -1 else signed


def _span(text: str, clause: Clause) -> tuple[int, int]:
    """Return where a clause can be quoted, without final punctuation but for `!`; (0, 0) where it cannot."""
    start, end = clause.start, clause.end
    while end > start and text[end - 1] in ".,;:- ":
        end -= 1
    while start < end and text[start] in ".,;:-* ":
        start += 1
    if UNQUOTABLE.search(text, start, end) or text.count("(", start, end) != text.count(")", start, end):
        return 0, 0
    many = len(WORDS.findall(text, start, end))
    return (start, end) if SHORTEST <= many <= LONGEST else (0, 0)


def _lines(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """Yield the stretches of a sentence between its line breaks."""
    for match in LINE.finditer(text, start, end):
        first = match.start()
        while text[first].isspace():
            first += 1
        yield first, match.end()
