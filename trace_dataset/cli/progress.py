"""One bar a stage on standard error, with rate and time left."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from tqdm import tqdm

from trace_dataset.evaluation import Progress


class StageBars:
    """A progress function for stages: call it with a stage, how much is done and how much there is."""

    _latest: ClassVar[StageBars | None] = None

    def __init__(self) -> None:
        StageBars._latest = self
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            large = total > 1_000_000
            self._stage, self._bar = (
                stage,
                tqdm(
                    total=total,
                    desc=stage,
                    unit="B" if large else "",
                    unit_scale=large,
                    file=sys.stderr,
                    mininterval=0.2,
                ),
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Finish the last bar."""
        if self._bar is not None:
            self._bar.close()

    @classmethod
    def end_line(cls) -> None:
        """Finish the bar that an error broke off, so that its message begins a line of its own."""
        if cls._latest is not None:
            cls._latest.close()


class RunBar:
    """A bar over the dialogues of a run: rate, time left, failures so far, and what a language model has taken."""

    def __init__(self, name: str, total: int) -> None:
        self._bar = tqdm(total=total, desc=name, unit=" dialogues", file=sys.stderr, mininterval=0.2)
        self._first = True
        self._last: Progress | None = None

    def __call__(self, state: Progress) -> None:
        if state == self._last:  # an engine looks around more often than there is news
            return
        self._last = state
        self._bar.total = state.total
        if self._first:  # what earlier calls have done says nothing about the rate of this one
            self._bar.initial, self._first = max(0, state.done - 1), False
            self._bar.n = self._bar.initial
        said = [f"{state.failed:,} failed"] if state.failed else []
        said += [usage_text(state.usage)] if state.usage else []
        self._bar.set_postfix_str(", ".join(said), refresh=False)
        self._bar.update(state.done - self._bar.n)

    def close(self) -> None:
        """Finish the bar."""
        self._bar.close()


def usage_text(usage: Mapping[str, float]) -> str:
    """Return what a run took, e.g. `40 calls, 12,345 tokens, 0.0123 USD, 2 fallbacks`.

    Example:
        >>> usage_text({"calls": 2, "prompt_tokens": 300, "completion_tokens": 45.0, "cost": 0.5, "fallback": 1})
        '2 calls, 345 tokens, 0.5000 USD, 1 fallback'
    """
    calls, fallbacks = int(usage.get("calls", 0)), int(usage.get("fallback", 0))
    tokens = int(usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0))
    parts = [f"{calls:,} call{'' if calls == 1 else 's'}", f"{tokens:,} tokens"]
    parts.append(f"{usage['cost']:.4f} USD" if "cost" in usage else "price not known")
    parts += [f"{fallbacks:,} fallback{'' if fallbacks == 1 else 's'}"] if fallbacks else []
    return ", ".join(parts)
