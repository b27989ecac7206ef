"""Reading ahead: a thread inflates the next blocks while this one looks through the last."""

from __future__ import annotations

import io
import queue
import threading
from typing import Any

BLOCK = 1 << 20
_WAITING = 3


class Ahead(io.RawIOBase):
    """A stream read by a thread, a few blocks ahead, from the first large read on. What it raises is raised here.

    The thread ends with the stream, or when this is closed.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._blocks: queue.Queue[bytes | Exception] = queue.Queue(_WAITING)
        self._current = memoryview(b"")
        self._thread: threading.Thread | None = None
        self._over = self._stopped = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._thread is None:
            if len(buffer) < BLOCK // 4:  # someone has a look at the first bytes: no thread for that
                return int(self._inner.readinto(buffer))
            self._thread = threading.Thread(target=self._read, daemon=True)
            self._thread.start()
        if not self._current and not self._over:
            block = self._blocks.get()
            if isinstance(block, Exception):
                self._over = True
                raise block
            self._over = not block
            self._current = memoryview(block)
        count = min(len(buffer), len(self._current))
        buffer[:count] = self._current[:count]
        self._current = self._current[count:]
        return count

    def _read(self) -> None:
        block: bytes | Exception = b" "
        while block and not isinstance(block, Exception) and not self._stopped:
            try:
                block = self._inner.read(BLOCK)
            except Exception as error:  # handed on to whoever reads
                block = error
            self._blocks.put(block)

    def close(self) -> None:
        self._stopped = True
        while self._thread is not None and self._thread.is_alive():
            while not self._blocks.empty():
                self._blocks.get()
            self._thread.join(0.01)
        self._inner.close()
        super().close()
