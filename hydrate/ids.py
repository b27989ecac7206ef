"""Ids: as a user gives them, and whether one stands twice among millions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise

from hydrate.errors import UsageError
from hydrate.spans import replace_surrogates


class Ids:
    """Ids that went by, at eight bytes for each: their hashes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, identifier: str) -> None:
        """Remember an id."""
        self._hashes.append(hash(identifier))

    def twice(self) -> set[int]:
        """Return the hashes that were met more than once; two ids may, rarely, share one."""
        try:
            import numpy as np
        except ImportError:
            return {one for one, next_one in pairwise(sorted(self._hashes)) if one == next_one}
        ordered = np.sort(np.frombuffer(self._hashes, np.int64)) if self._hashes else np.zeros(0, np.int64)
        found: list[int] = ordered[1:][ordered[1:] == ordered[:-1]].tolist()
        return set(found)


def cleaned(identifiers: Iterable[str]) -> Iterator[str]:
    """Yield ids as they are once read from a bundle."""
    if isinstance(identifiers, str):
        raise UsageError("one id was given where several are expected", do="give a list or set of ids")
    for each in identifiers:
        if not isinstance(each, str):
            raise UsageError(f"an id is of type {type(each).__name__} and not a text", do="give Yelp's ids as text")
        yield replace_surrogates(each)[0]
