"""What a release says of itself: what made it, from what, how much it holds, and the digests that prove it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import BundleError
from trace_dataset.schema import FORMAT_VERSION, POI, Dialogue, Review, dialogue_row, poi_row, review_row

MANIFEST = "manifest.json"


@dataclass
class Manifest:
    """The contents of `manifest.json`.

    Attributes:
        generator: `trace-template` or `trace-lm`: two kinds of set, never compared in one table (decisions, item 22).
        writer: what a language model was asked and what came of it (`WriterReport`); empty for the template.
        files: each file's path inside the release to its SHA256.
    """

    content_digest: str
    bundle_fingerprint: str
    seed: int
    parameters: dict[str, Any]
    counts: dict[str, int]
    splits: dict[str, int]
    generator: str = "trace-template"
    writer: dict[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION
    versions: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write `manifest.json` into a folder, last of its files."""
        (folder / MANIFEST).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return what stands in `manifest.json`."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(asdict(self), option=options)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read a release's manifest; raises `BundleError` where it is missing, damaged or of another format."""
        path = folder / MANIFEST
        try:
            values = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            raise BundleError(
                f"{folder} is no release: it holds no {MANIFEST}", do="give the folder that `trace-dataset build` wrote"
            ) from None
        except (OSError, orjson.JSONDecodeError) as error:
            raise BundleError(f"{path} cannot be read: {error}", do="build or download the release again") from None
        if not isinstance(values, dict) or values.get("format_version") != FORMAT_VERSION:
            found = values.get("format_version") if isinstance(values, dict) else None
            raise BundleError(
                f"{path} has format {found}; this version of trace-dataset reads format {FORMAT_VERSION}",
                do="install the version of trace-dataset that wrote it (see its `versions`)",
            )
        try:
            return cls(**values)
        except TypeError:
            raise BundleError(
                f"{path} lacks fields of a manifest, or has others", do="build or download the release again"
            ) from None


def versions() -> dict[str, str]:
    """Return the versions of everything that takes part in a build."""
    found = {"python": platform.python_version()}
    for name in ("trace-dataset", "datasets", "pyarrow", "numpy", "rapidfuzz"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def content_digest(
    dialogues: Iterable[Dialogue], pois: Iterable[POI], reviews: Iterable[Review], split_of: Mapping[str, str]
) -> str:
    """Return the SHA256 over the canonical records of a release, independent of the parquet writer.

    Two laboratories with equal digests hold the same benchmark. Review text takes no part: its hashes do.
    """
    total = hashlib.sha256()
    rows: list[dict[str, Any]] = [
        {**dialogue_row(item), "split": split_of[item.dialogue_id]}
        for item in sorted(dialogues, key=lambda item: item.dialogue_id)
    ]
    rows += [poi_row(item) for item in sorted(pois, key=lambda item: item.business_id)]
    rows += [{**review_row(item), "text": None} for item in sorted(reviews, key=lambda item: item.review_id)]
    for row in rows:
        total.update(orjson.dumps(row, option=orjson.OPT_SORT_KEYS) + b"\n")
    return total.hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
