"""Checks of what callers hand in: one error that says which item is wrong and shows the right shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from hydrate.errors import UsageError as UsageError
except ImportError:  # a metric published on its own carries this file without the rest of the project

    class UsageError(ValueError):  # type: ignore[no-redef]
        """An option or a row of a wrong kind."""

        def __init__(self, what: str, do: str | None = None) -> None:
            super().__init__(f"{what}\n  do: {do}" if do else what)


def check_texts(texts: Sequence[Any], what: str) -> None:
    """Raise `UsageError` unless every item is a string; an empty one is fine, None is not."""
    if isinstance(texts, str):
        raise UsageError(f"{what} is one string, not a list of strings", do=f"pass [{what}] for a single one")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(
                f"item {index} of {what} is {kind(text)}, not a string",
                do='pass "" for an answer that failed',
            )


def check_lengths(**columns: Sequence[Any]) -> None:
    """Raise `UsageError` unless all columns have one length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise UsageError(f"columns of different lengths: {told}", do="pass one entry an item in each of them")


def check_choice(value: object, what: str, choices: Sequence[str]) -> None:
    """Raise `UsageError` unless an option is one of its choices."""
    if value not in choices:
        raise UsageError(f"{what} is {value!r}", do=f"use one of: {', '.join(choices)}")


def check_threshold(threshold: object) -> None:
    """Raise `UsageError` unless a similarity threshold is a number above 0 and at most 1, or `exact`."""
    if threshold == "exact" or (
        isinstance(threshold, (int, float)) and not isinstance(threshold, bool) and 0 < threshold <= 1
    ):
        return
    raise UsageError(f"threshold is {threshold!r}", do='use a number above 0 and at most 1, or "exact"')


def check_cut(k: object) -> None:
    """Raise `UsageError` unless a cut-off rank is a whole number of at least 1."""
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise UsageError(f"k is {k!r}", do="use a whole number of at least 1")


def check_window(window: object) -> None:
    """Raise `UsageError` unless a distance in characters is a whole number of at least 0."""
    if not isinstance(window, int) or isinstance(window, bool) or window < 0:
        raise UsageError(f"window is {window!r}", do="use a whole number of characters, at least 0")


def kind(value: object) -> str:
    """Return what an unexpected value is, without its content: it may be licensed text."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    return f"a {type(value).__name__}"
