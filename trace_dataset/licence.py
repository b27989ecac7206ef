"""The mark of a file that holds licensed review text, so that nothing publishes it by accident.

A report with hydrated text carries the mark twice: a file beside it, and a tag in the page itself, which survives when the
page is moved or renamed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

MARKER_FILE = "LICENSED-TEXT.json"
META_TAG = '<meta name="trace-licensed-text" content="true">'
NOTICE = (
    "This report holds text of Yelp reviews. Yelp's terms let you use it for academic, non-commercial work and forbid passing "
    "it on: do not publish it. Write the report again with --no-text for a copy that can be shared."
)
_LOOK = 4096  # bytes at the beginning of a page within which the tag stands


def write_marker(folder: Path, files: list[str], bundle_fingerprint: str) -> Path:
    """Mark a folder whose `files` hold review text; return the path of the mark."""
    content: dict[str, Any] = {
        "licensed_text": True,
        "source": "Yelp Open Dataset",
        "bundle_fingerprint": bundle_fingerprint,
        "files": files,
        "notice": NOTICE,
    }
    path = folder / MARKER_FILE
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    return path


def licensed_files(folder: Path) -> list[Path]:
    """Return the files of a folder, at any depth, that are marked as holding licensed text; sorted.

    Example:
        >>> licensed_files(Path("metrics"))
        []
    """
    return sorted(path for path in folder.rglob("*") if path.is_file() and _marked(path))


def _marked(path: Path) -> bool:
    if path.name == MARKER_FILE:
        return True
    if path.suffix.lower() not in (".html", ".htm"):
        return False
    with path.open("rb") as stream:
        return b'name="trace-licensed-text"' in stream.read(_LOOK)
