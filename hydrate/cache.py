"""Where this project remembers things on the user's machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache folder: `TRACE_CACHE` if set, else `trace-dataset` in the user's cache; it may not exist yet."""
    chosen = os.environ.get("TRACE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "trace-dataset"
