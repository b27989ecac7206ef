"""One bar a stage on standard error, with rate and time left."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm


class StageBars:
    """A progress function for stages: call it with a stage, how much is done and how much there is."""

    def __init__(self) -> None:
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


class RunBar:
    """A bar over the dialogues of a run, with the failures so far."""

    def __init__(self, name: str, total: int) -> None:
        self._bar = tqdm(total=total, desc=name, unit=" dialogues", file=sys.stderr, mininterval=0.2)

    def __call__(self, done: int, total: int, failed: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)
        if failed:
            self._bar.set_postfix(failed=failed)

    def close(self) -> None:
        """Finish the bar."""
        self._bar.close()
