"""A limit of time for a call of a stranger's code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hydrate.errors import UsageError


class TookTooLong(BaseException):
    """Raised in the middle of a call whose time is up; not an `Exception`, so that `except Exception` does not hide it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Break off what runs inside when its time is up, by an alarm of the operating system.

    It comes again every second, should the code have caught it. A call that never returns to Python is not reached by it.

    Raises:
        TookTooLong: the time is up.
        UsageError: there are no such alarms here: on Windows, and outside the main thread.
    """
    check_alarms()

    def alarm(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_alarms() -> None:
    """Raise `UsageError` where `within` cannot work."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        raise UsageError(
            "a limit of seconds for each turn needs a Unix system and the main thread", do="leave --turn-seconds out"
        )
