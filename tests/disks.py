"""A small disk and a read-only one, for tests of what happens when a write is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def tmpfs(folder: Path, size: str = "1m") -> Iterator[Path]:
    """Mount a tmpfs of a size; the test is skipped, with the reason, where this process may not mount."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    """Remount a tmpfs read-only."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def fill(folder: Path, leave: int) -> None:
    """Fill a disk until about `leave` bytes are left, or further if some are left already."""
    free = os.statvfs(folder)
    with (folder / "filler").open("ab") as file:
        file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - leave))
