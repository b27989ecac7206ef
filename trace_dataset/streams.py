"""Named random streams: every draw is keyed by what it is for, never by the order of calls.

Adding a stage moves no other draw, and workers cannot change a result (design, section 5.3).
"""

from __future__ import annotations

import hashlib
import random


def digest(*keys: object) -> bytes:
    """Return the SHA256 of the keys, joined by a separator that no id contains."""
    return hashlib.sha256("\x1f".join(str(key) for key in keys).encode("utf-8", "surrogatepass")).digest()


def stream(seed: int, *keys: object) -> random.Random:
    """Return a private generator for one use, e.g. `stream(42, "candidates", dialogue_id)`.

    Example:
        >>> stream(42, "a").random() == stream(42, "a").random() != stream(42, "b").random()
        True
    """
    return random.Random(int.from_bytes(digest(seed, *keys)[:16], "big"))


def hash_order(seed: int, use: str, identifier: str) -> bytes:
    """Return a sort key that shuffles identifiers by the seed alone, whatever order they arrive in."""
    return digest(seed, use, identifier)
