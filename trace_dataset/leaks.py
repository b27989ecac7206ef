"""The leak guard: no run of eight or more words of a review may stand in anything that is published.

Words are compared without case, spacing, punctuation or quote marks. The hashes used here live in memory for one run and
are never written: a published set of hashed shingles can be turned back into text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RUN_LENGTH = 8  # tokens
_WORD = re.compile(r"\w+(?:['’ʼ]\w+)*")


@dataclass(frozen=True, slots=True)
class Token:
    """A word as compared, and where it stands (code points)."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a text that stands in a review, word for word."""

    start: int
    end: int
    review_id: str
    review_start: int
    review_end: int


def leak_tokens(text: str) -> list[Token]:
    """Return the words of a text, normalised for comparison, with their offsets in the text as it is."""
    return [Token(_plain(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


class RunFinder:
    """Finds runs of review text in other texts; reviews are indexed when first asked for, a group at a time.

    Args:
        texts: review id to text.

    Example:
        >>> finder = RunFinder({"r": "We sat by the river and nobody rushed us all evening."})
        >>> [(run.start, run.end) for run in finder.runs("They say we sat by the river and nobody rushed us.", ["r"])]
        [(9, 49)]
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._hashes: dict[str, np.ndarray] = {}

    def runs(self, text: str, review_ids: Iterable[str]) -> list[Run]:
        """Return the runs of at least eight words that a text shares with one of the reviews, longest first at each place."""
        tokens = leak_tokens(text)
        hashes = _shingles(tokens)
        if not len(hashes):
            return []
        suspects = [review_id for review_id in review_ids if np.isin(hashes, self._of(review_id)).any()]
        if not suspects:
            return []
        candidates = [run for review_id in suspects for run in self._shared(tokens, review_id)]
        return _without_overlap(sorted(candidates, key=lambda run: (run.start - run.end, run.start, run.review_id)))

    def any_run(self, text: str) -> Run | None:
        """Return the first run that a text shares with any review at all, or None."""
        tokens = leak_tokens(text)
        hashes = _shingles(tokens)
        if not len(hashes):
            return None
        every, owners = self._every()
        where = np.searchsorted(every, hashes)
        hits = [index for index, place in enumerate(where) if place < len(every) and every[place] == hashes[index]]
        for index in hits:
            for place in range(int(where[index]), len(every)):
                if every[place] != hashes[index]:
                    break
                runs = list(self._shared(tokens, owners[place]))
                if runs:
                    return max(runs, key=lambda run: run.end - run.start)
        return None

    def _of(self, review_id: str) -> np.ndarray:
        if review_id not in self._hashes:
            self._hashes[review_id] = _shingles(leak_tokens(self.texts[review_id]))
        return self._hashes[review_id]

    def _every(self) -> tuple[np.ndarray, list[str]]:
        if not hasattr(self, "_all"):
            ids = list(self.texts)
            parts = [self._of(review_id) for review_id in ids]
            owner = np.repeat(np.arange(len(ids)), [len(part) for part in parts])
            joined = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
            order = np.argsort(joined, kind="stable")
            self._all = joined[order], [ids[index] for index in owner[order]]
        return self._all

    def _shared(self, tokens: Sequence[Token], review_id: str) -> Iterator[Run]:
        theirs = leak_tokens(self.texts[review_id])
        starts: dict[tuple[str, ...], list[int]] = {}
        for index in range(len(theirs) - RUN_LENGTH + 1):
            starts.setdefault(tuple(token.word for token in theirs[index : index + RUN_LENGTH]), []).append(index)
        position = 0
        while position + RUN_LENGTH <= len(tokens):
            key = tuple(token.word for token in tokens[position : position + RUN_LENGTH])
            longest, origin = 0, 0
            for start in starts.get(key, ()):
                length = RUN_LENGTH
                while (
                    position + length < len(tokens)
                    and start + length < len(theirs)
                    and tokens[position + length].word == theirs[start + length].word
                ):
                    length += 1
                if length > longest:
                    longest, origin = length, start
            if longest:
                yield Run(
                    tokens[position].start,
                    tokens[position + longest - 1].end,
                    review_id,
                    theirs[origin].start,
                    theirs[origin + longest - 1].end,
                )
            position += longest or 1


def _without_overlap(runs: Sequence[Run]) -> list[Run]:
    kept: list[Run] = []
    for run in runs:
        if all(run.end <= other.start or run.start >= other.end for other in kept):
            kept.append(run)
    return sorted(kept, key=lambda run: run.start)


def _shingles(tokens: Sequence[Token]) -> np.ndarray:
    words = [token.word for token in tokens]
    return np.fromiter(
        (hash(tuple(words[index : index + RUN_LENGTH])) for index in range(len(words) - RUN_LENGTH + 1)), dtype=np.int64
    )


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'").replace("ʼ", "'")
