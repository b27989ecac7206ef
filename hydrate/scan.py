"""Scanning a table that lies plain in a file, in this process and one helper, chunk by chunk, results in file order.

The helper is a fresh interpreter that runs `scanner.py`: a thread would share Python's lock with whoever uses the results,
and forking is not safe in a program with threads. Chunks are shared out one at a time, so neither process waits for the
other. Where no helper can be started, or it goes away, this process does all the work.
"""

from __future__ import annotations

import marshal
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from hydrate import scanner
from hydrate.scanner import Item, Scanner, Search, scan_chunk
from hydrate.streams import FileRange

Chunk = tuple[int, int]
Progress = Callable[[int, int], None]
CHUNK = 8 << 20
HELPER_PAYS = 256 << 20
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
    pays = size >= helper_pays and (os.cpu_count() or 1) > 1
    helper = _Helper.start(where, search) if pays else None
    mine = Scanner(search)
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
    """The second process: chunks go in, batches come out. `gone` once it does not answer any more."""

    def __init__(self, process: subprocess.Popen[bytes], opening: bytes) -> None:
        self._process, self._opening = process, opening
        self._ready = False
        self._answers: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self.given: deque[Chunk] = deque()
        self.gone = False
        threading.Thread(target=self._listen, daemon=True).start()

    @classmethod
    def start(cls, where: FileRange, search: Search) -> _Helper | None:
        """Start the process; None where this machine does not allow it."""
        what = (search.key, list(search.wanted), search.keys_only)
        opening = marshal.dumps((what, os.fsencode(where.path.absolute()), (where.start, where.end)))
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", scanner.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError, TypeError):
            return None
        return cls(process, opening)

    def feed(self, chunks: deque[Chunk]) -> None:
        """Hand over chunks, as many as keep the process busy, once it is ready."""
        while self._ready and not self.gone and chunks and len(self.given) < _AHEAD:
            self.given.append(chunks.popleft())
            self._send(b"%d %d\n" % self.given[-1])

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
        """Stop the process."""
        self._process.kill()
        self._process.wait()

    def _send(self, data: bytes) -> None:
        try:
            cast(BinaryIO, self._process.stdin).write(data)
            cast(BinaryIO, self._process.stdin).flush()
        except OSError:
            self.gone = True

    def _listen(self) -> None:
        read = cast(BinaryIO, self._process.stdout).read
        self._send(self._opening)
        self._ready = read(1) == scanner.READY
        answer = scanner.unpack(read) if self._ready else None
        while answer is not None:
            self._answers.put(answer)
            answer = scanner.unpack(read)
        self.gone = self.gone or not self._ready
        self._answers.put(None)
