"""Counts calls, tokens and cost over all threads, and says when a budget is spent."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from hydrate.errors import UsageError
from trace_dataset.lm.outcomes import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent: USD, tokens (read and written), or both. None sets no limit.

    No call begins once a limit is reached; those under way end, so a limit is passed by at most one call a thread.
    """

    usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("usd", self.usd), ("tokens", self.tokens)):
            if value is not None and not value >= 0:
                raise UsageError(f"a budget of {name}={value} is not 0 or more", do="leave it out for no limit")


@dataclass
class Meter:
    """What one model has taken so far."""

    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    unpriced_calls: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def spent(self) -> str | None:
        """Return which limit is reached, or None while calls may go on."""
        with self._lock:
            usd, tokens = self.budget.usd, self.budget.tokens
            if tokens is not None and self.usage.tokens >= tokens:
                return f"{self.usage.tokens:,} of {tokens:,} tokens"
            if usd is None:
                return None
            if self.unpriced_calls:
                return "the price of this model is not known, so a budget in USD cannot be kept; give prices=(…, …) or tokens"
            cost = self.usage.cost or 0.0
            return f"{cost:.4f} of {usd:.4f} USD" if cost >= usd else None

    def add(self, usage: Usage) -> None:
        """Count a call that was sent."""
        with self._lock:
            known = Usage(usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost or 0.0)
            self.usage = self.usage + known
            self.unpriced_calls += usage.cost is None

    def count_retry(self) -> None:
        """Count a call that is sent again."""
        with self._lock:
            self.retries += 1

    def count_failure(self, reason: str) -> None:
        """Count a question that came to nothing."""
        with self._lock:
            self.failures[reason] += 1
