"""Where this project remembers things on the user's machine, and how a file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache folder: `TRACE_CACHE` if set, else `trace-dataset` in the user's cache; it may not exist yet."""
    chosen = os.environ.get("TRACE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "trace-dataset"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that others see either what was there before or all of it; raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
