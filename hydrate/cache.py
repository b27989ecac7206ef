"""Paths on the user's machine, and where this project remembers things there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError


def local_path(given: Any) -> Path:
    """Return a path that a user gave, `~` filled in; raises `UsageError` for what can be none."""
    try:
        if "\0" not in os.fsdecode(given) and os.fsencode(given):
            return Path(os.fsdecode(given)).expanduser()
    except (TypeError, ValueError, RuntimeError):
        pass
    raise UsageError(f"{given!r} is no path", do="give the path of a file or folder; was a variable not set?")


def cache_dir() -> Path:
    """Return the cache folder: `TRACE_CACHE` if set, else `trace-dataset` in the user's cache; it may not exist yet."""
    chosen = os.environ.get("TRACE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "trace-dataset"
