"""Scanning a table that lies plain in a file, in this process and a helper, chunk by chunk, results in file order.

The helper is a fork of this process: a thread would share Python's lock with whoever uses the results, and a fresh
interpreter takes as long to start as a gigabyte takes to scan. A fork of a program with threads may hang; so the helper is
given work only after it has scanned a sample, and where it cannot be started, does not get that far, or goes away, this
process does all the work.
"""

from __future__ import annotations

import gc
import io
import os
import queue
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from hydrate.scanner import SAMPLE, Item, Scanner, Search, pack, scan_chunk, unpack
from hydrate.streams import FileRange

Chunk = tuple[int, int]
Progress = Callable[[int, int], None]
CHUNK = 8 << 20
HELPER_PAYS = 64 << 20
_READY = b"R"
_AHEAD = 2
_HELD = 12


def scan_range(
    where: FileRange,
    search: Search,
    progress: Progress | None = None,
    *,
    chunk: int = CHUNK,
    helper_pays: int = HELPER_PAYS,
) -> Iterator[list[Item]]:
    """Yield what a search finds in a range of a file, in file order.

    Args:
        progress: called with bytes done and bytes in all.
        chunk: bytes that one process takes at a time.
        helper_pays: size from which on a second process is started.

    Raises:
        EOFError: the file is shorter than its range says.
    """
    size = where.end - where.start
    table = (where.start, where.end)
    chunks = deque((start, min(start + chunk, where.end)) for start in range(where.start, where.end, chunk))
    order, held = deque(chunks), dict[Chunk, list[Item]]()
    mine = Scanner(search)
    helper = _Helper.start(where, mine) if size >= helper_pays and (os.cpu_count() or 1) > 1 else None
    try:
        with where.path.open("rb", buffering=0) as file:
            while order:
                if helper:
                    helper.feed(chunks)
                    held.update(helper.answers(wait=not chunks or len(held) > _HELD))
                    if helper.gone:
                        chunks.extendleft(reversed(helper.given))
                        helper.close()
                        helper = None
                if order[0] not in held and chunks:
                    taken = chunks.popleft()
                    held[taken] = scan_chunk(mine, file, taken, table)
                if order[0] in held:
                    done = order.popleft()
                    yield held.pop(done)
                    if progress:
                        progress(done[1] - where.start, size)
    finally:
        if helper:
            helper.close()


class _Helper:
    """The second process: chunks go in, items come out. `gone` once it does not answer any more."""

    def __init__(self, process: int, source: BinaryIO, target: BinaryIO) -> None:
        self._process, self._source, self._target = process, source, target
        self._handle = _handle_of(process)
        self._ready = False
        self._answers: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.given: deque[Chunk] = deque()
        self.gone = False

    @classmethod
    def start(cls, where: FileRange, scanner: Scanner) -> _Helper | None:
        """Fork; None where this machine does not allow it."""
        if sys.platform != "linux":
            return None
        try:
            (read_here, write_there), (read_there, write_here) = os.pipe(), os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # about threads; see the head of this file
                process = os.fork()
        except OSError:
            return None
        if not process:
            with suppress(BaseException):
                os.close(read_here)
                os.close(write_here)
                gc.disable()  # what is made here is sent off, and the process ends
                with os.fdopen(read_there, "rb") as source, os.fdopen(write_there, "wb") as target:
                    _serve(where, scanner, source, target)
            os._exit(0)
        os.close(read_there)
        os.close(write_there)
        return cls(process, os.fdopen(read_here, "rb"), os.fdopen(write_here, "wb"))

    def feed(self, chunks: deque[Chunk]) -> None:
        """Hand over chunks, as many as keep the process busy, once it is ready."""
        while self._ready and not self.gone and chunks and len(self.given) < _AHEAD:
            self.given.append(chunks.popleft())
            try:
                self._target.write(b"%d %d\n" % self.given[-1])
                self._target.flush()
            except OSError:
                self.gone = True

    def answers(self, wait: bool) -> dict[Chunk, list[Item]]:
        """Return what has been answered by now; with `wait`, at least one where any is due."""
        found: dict[Chunk, list[Item]] = {}
        while self.given and not self.gone and (not self._answers.empty() or (wait and not found)):
            answer = self._answers.get()
            if answer is None:
                self.gone = True
            else:
                found[self.given.popleft()] = answer
        return found

    def close(self) -> None:
        """Stop the process. A program that collects its children itself may have been faster."""
        with suppress(ProcessLookupError):
            if self._handle is None:
                os.kill(self._process, signal.SIGKILL)
            else:  # cannot hit another process that was given the same number since
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        if self._handle is not None:
            os.close(self._handle)
        self._listener.join()
        self._source.close()
        with suppress(OSError):
            self._target.close()

    def _listen(self) -> None:
        self._ready = self._source.read(1) == _READY
        answer = unpack(self._source.read) if self._ready else None
        while answer is not None:
            self._answers.put(answer)
            answer = unpack(self._source.read)
        self._answers.put(None)


def _handle_of(process: int) -> int | None:
    """Return a handle on a process, where the kernel has such."""
    try:
        return os.pidfd_open(process)
    except (OSError, AttributeError):
        return None


def _serve(where: FileRange, scanner: Scanner, source: BinaryIO, target: BinaryIO) -> None:
    """Show that scanning works here, then scan chunk after chunk until there are no more."""
    for items in scanner.scan(io.BytesIO(SAMPLE).readinto):
        pack(items)
    target.write(_READY)
    target.flush()
    with where.path.open("rb", buffering=0) as file:
        for line in iter(source.readline, b""):
            start, end = map(int, line.split())
            target.write(pack(scan_chunk(scanner, file, (start, end), (where.start, where.end))))
            target.flush()
