"""Runs of words that records share with licensed texts, quoted or not.

Only runs that the records hold are looked for while the texts are read, so memory follows the records, not the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hydrate.spans import Span, replace_surrogates, span_sha256

RUN_WORDS = 8
_WORD = re.compile(r"\w+(?:['’]\w+)*")


class RunIndex:
    """Where in `texts` the runs of `words` words of some records stand, character for character."""

    def __init__(self, records: Iterable[str], texts: Mapping[str, str], words: int = RUN_WORDS) -> None:
        self._texts, self._words = texts, words
        sought = {
            hash(replace_surrogates(text)[0][start:end]) for text in records for start, end in self._windows(text)
        }
        self._at: dict[int, tuple[str, int]] = {}
        for key, text in texts.items() if sought else ():
            for start, end in self._windows(text):
                window = hash(text[start:end])
                if window in sought:
                    self._at.setdefault(window, (key, start))

    def find(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, Span]]:
        """Yield the runs in a stretch of a text, as long as they can be made to whole words, with where they come from."""
        position = start
        for first, last in self._windows(text, start, end):
            key, origin = self._at.get(hash(text[first:last]), ("", 0))
            if first < position or not key or not self._texts[key].startswith(text[first:last], origin):
                continue
            source = self._texts[key]
            for word in _WORD.finditer(text, last, end):
                if not source.startswith(text[first : word.end()], origin):
                    break
                last = word.end()
            stop = origin + last - first
            yield first, last, Span(key, origin, stop, span_sha256(source[origin:stop]))
            position = last

    def _windows(self, text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
        words = [word.span() for word in _WORD.finditer(text, start, len(text) if end is None else end)]
        for first, last in zip(words, words[self._words - 1 :], strict=False):
            yield first[0], last[1]
