"""The seam for writers that try again by themselves: a language model, with its complaints, its fallback, its budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from trace_dataset.dialogues.planned import Plan

T = TypeVar("T")
R = TypeVar("R")
Check = Callable[[Sequence[str]], list[str]]  # texts in release form to the checks that they fail


class WriterStopped(Exception):
    """A writer that writes no more, e.g. because its budget is spent; what is done stays done. `reason` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Written:
    """Texts that passed the check, and what they took.

    Attributes:
        texts: one a turn, in release form.
        generator: who wrote them; the template's name where `fallback` is true.
        attempts: tries, the fallback included.
        complaints: failing check to how often a text was sent back for it.
    """

    texts: tuple[str, ...]
    generator: str
    attempts: int
    fallback: bool = False
    complaints: Counter[str] = field(default_factory=Counter)


@runtime_checkable
class Composer(Protocol):
    """A writer that is handed the check and answers with texts that pass it.

    Attributes:
        name: recorded as a dialogue's `generator`.
        threads: how many dialogues it writes at a time.
    """

    name: str
    threads: int

    def compose(self, plan: Plan, names: Mapping[str, str], seed: int, check: Check) -> Written | None:
        """Return texts that pass `check`, or None where not even the fallback's do.

        Raises:
            WriterStopped: nothing more will be written in this run.
        """
        ...


def in_threads(work: Callable[[T], R], items: Sequence[T], threads: int) -> Iterator[R]:
    """Yield the results in the order of the items; what has not begun when the caller leaves is never begun."""
    if threads == 1:
        yield from (work(item) for item in items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(work, items)
    finally:
        pool.shutdown(cancel_futures=True)
