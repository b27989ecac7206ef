"""A line on standard error that says how far a long read is."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_QUIET_SECONDS, _SECONDS_A_LINE = 1.0, 15.0


class ProgressLine:
    """Shows bytes done and in all, rate and time left; rewrites its line on a terminal, else writes one now and then.

    Time counts from the first call. Nothing is shown in the first second, nor at all where it is over by then.
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what, self._stream = what, stream or sys.stderr
        self._begun: tuple[float, int] | None = None  # when, and how much was done then
        self._next = 0.0
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show that so many bytes of so many are done."""
        now = time.monotonic()
        if self._begun is None:
            self._begun, self._next = (now, done), now + _QUIET_SECONDS
        if now < self._next:
            return
        start, before = self._begun
        terminal = self._stream.isatty()
        self._next = now + (0.2 if terminal else _SECONDS_A_LINE)
        self._shown = True
        rate = (done - before) / max(now - start, 1e-9)
        left = f"{(total - done) / rate:,.0f} s left" if rate else "time left unknown"
        text = (
            f"{self._what}: {done / 1e9:.2f} of {total / 1e9:.2f} GB, {100 * done / max(1, total):.0f} %, "
            f"{rate / 1e6:,.0f} MB/s, {left}"
        )
        self._stream.write(f"\r{text:<78}" if terminal else f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line."""
        if self._shown and self._stream.isatty():
            self._stream.write("\n")
