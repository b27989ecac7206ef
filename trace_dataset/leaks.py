"""The leak guard: no run of eight or more words of a review may stand in anything that is published.

Words are compared without case, spacing, punctuation or quote marks. The hashes used here live in memory for one run and
are never written: a published set of hashed shingles can be turned back into text.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RUN_LENGTH = 8  # tokens
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
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
    """Finds runs of review text in other texts, by one sorted index of hashed runs that is made when first needed.

    Args:
        texts: review id to text.

    Example:
        >>> finder = RunFinder({"r": "We sat by the river and nobody rushed us all evening."})
        >>> [(run.start, run.end) for run in finder.runs("They say we sat by the river and nobody rushed us.")]
        [(9, 49)]
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    @functools.cached_property
    def _index(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Hashes of all runs in order, the position of the review that each stands in, and the review ids."""
        ids = list(self.texts)
        parts = [_run_hashes(_words(self.texts[review_id])) for review_id in ids]
        owners = np.repeat(np.arange(len(ids), dtype=np.int32), [len(part) for part in parts])
        hashes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], owners[order], ids

    def prepare(self) -> None:
        """Make the index now rather than at the first question."""
        _ = self._index

    def runs(self, text: str, review_ids: Collection[str] | None = None) -> list[Run]:
        """Return the runs of at least eight words that a text shares with a review, longest first where they overlap.

        Args:
            review_ids: look in these reviews alone; None looks in all.
        """
        suspects = self._suspects(text)
        if review_ids is not None:
            suspects = [review_id for review_id in suspects if review_id in review_ids]
        if not suspects:
            return []
        tokens = leak_tokens(text)
        found = [run for review_id in suspects for run in self._shared(tokens, review_id)]
        return _without_overlap(sorted(found, key=lambda run: (run.start - run.end, run.start, run.review_id)))

    def is_clear(self, text: str) -> bool:
        """Return whether a text shares no run with any review; cheaper than `runs` where that is all one needs."""
        return not self._suspects(text)

    def any_run(self, text: str) -> Run | None:
        """Return the first run that a text shares with any review, or None."""
        return next(iter(self.runs(text)), None)

    def _suspects(self, text: str) -> list[str]:
        wanted = _run_hashes(_words(text))
        if not len(wanted):
            return []
        hashes, owners, ids = self._index
        first, last = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, side="right")
        hits = np.flatnonzero(last > first)
        return list(dict.fromkeys(ids[owner] for hit in hits for owner in owners[first[hit] : last[hit]]))

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


def _run_hashes(words: Sequence[str]) -> np.ndarray:
    """Return one number for each run of eight words: equal runs, equal numbers, in any process."""
    numbers = np.fromiter((_word_number(word) for word in words), dtype=np.uint64, count=len(words))
    count = max(0, len(words) - RUN_LENGTH + 1)
    total = np.zeros(count, dtype=np.uint64)
    for place in range(RUN_LENGTH):
        total = total * _MULTIPLIER + numbers[place : place + count]  # modulo 2 to the 64th, as numpy does
    return total


@functools.lru_cache(maxsize=200_000)
def _word_number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(text)]


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'").replace("ʼ", "'")
