"""Files and folders that appear whole, by one rename, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydrate.errors import StorageError, UsageError


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give the name of a temporary file that takes the place of `target` when the block ends without an error.

    Raises:
        OSError: the disk refused; `target` is as it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        _to_disk(part)
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `target`, which must not exist or be empty, when the block ends well.

    Raises:
        OSError: the disk refused; there is no new `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield part
        for file in part.rglob("*"):
            if file.is_file():
                _to_disk(file)
        part.chmod(0o755)
        if target.is_dir():
            target.rmdir()
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextmanager
def storing(target: Path) -> Iterator[None]:
    """Turn what the disk refuses into one `StorageError`."""
    try:
        yield
    except OSError as error:
        if isinstance(error, ValueError):
            raise
        raise StorageError(
            f"{target} cannot be written: {error.strerror or error}",
            do="free some space, or choose a folder that can be written to",
        ) from error


def refuse_existing(target: Path) -> None:
    """Raise `UsageError` for an output that would take the place of something."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already", do="choose another name, or remove it first")


def _to_disk(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
