"""The phrase notation of the word lists: alternatives `(a|b)`, optional parts `(a)?`, nested; blanks between parts."""

from __future__ import annotations

from collections.abc import Iterator


def expand(pattern: str) -> Iterator[str]:
    """Yield every text that a pattern stands for.

    Example:
        >>> list(expand("(free|easy) (street)? parking"))
        ['free street parking', 'free  parking', 'easy street parking', 'easy  parking']
    """
    texts, rest = _alternatives(pattern, 0)
    if rest != len(pattern):
        raise ValueError(f"unbalanced parenthesis in the pattern {pattern!r}")
    yield from texts


def _alternatives(pattern: str, at: int) -> tuple[list[str], int]:
    """Return the texts from `at` up to the closing parenthesis of this level, and its position."""
    done: list[str] = []
    current = [""]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            done += current
            current = [""]
            at += 1
        elif pattern[at] == "(":
            inner, at = _alternatives(pattern, at + 1)
            at += 1
            if pattern[at : at + 1] == "?":
                inner.append("")
                at += 1
            current = [f"{text}{part} " if part else text for text in current for part in inner]
        else:
            current = [text + pattern[at] for text in current]
            at += 1
    return done + current, at
