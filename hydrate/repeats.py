"""Noticing that an id stands twice among millions, at eight bytes for each."""

from __future__ import annotations

from array import array
from itertools import pairwise


class Ids:
    """Ids that went by, as their hashes."""

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
