"""A release folder: a plain dataset repository that needs no code of ours to look at."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.errors import BundleError, StorageError, UsageError
from trace_dataset import schema
from trace_dataset.release import tables
from trace_dataset.release.card import datasheet, describe, release_card
from trace_dataset.release.croissant import write_croissant
from trace_dataset.release.json_schema import write_json_schema
from trace_dataset.release.manifest import MANIFEST, Manifest, content_digest, file_sha256, versions
from trace_dataset.schema import POI, SPLITS, Dialogue, Review


@dataclass(frozen=True)
class Release:
    """An opened release folder; rows are read when asked for.

    `report` is there when the release has just been written: the build report with the rows of Table 3 (`card.describe`).
    """

    folder: Path
    manifest: Manifest
    report: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def dialogues(self, split: str) -> list[Dialogue]:
        """Return the dialogues of one split, with placeholders."""
        return [schema.dialogue_from_row(row) for row in tables.read_rows(self.path("dialogues", split))]

    def pois(self) -> list[POI]:
        """Return the places."""
        return [schema.poi_from_row(row) for row in tables.read_rows(self.path("pois"))]

    def reviews(self) -> list[Review]:
        """Return the review ids with lengths and hashes; `text` is None."""
        return [schema.review_from_row(row) for row in tables.read_rows(self.path("reviews"))]

    def path(self, config: str, split: str = "train") -> Path:
        """Return the parquet file of a config and split."""
        return self.folder / (f"dialogues/{split}.parquet" if config == "dialogues" else f"{config}.parquet")

    def verify(self) -> None:
        """Compare every file with the manifest's SHA256; raises one `BundleError` that names all that differ."""
        wrong = []
        for name, wanted in self.manifest.files.items():
            path = self.folder / name
            if not path.is_file():
                wrong.append(f"{name} is missing")
            elif file_sha256(path) != wanted:
                wrong.append(f"{name} differs from its SHA256 in {MANIFEST}")
        if wrong:
            raise BundleError(
                f"the release {self.folder} is damaged: {'; '.join(wrong)}", do="build or download it again"
            )


def open_release(folder: str | os.PathLike[str], verify: bool = True) -> Release:
    """Open a release folder and, unless told otherwise, check every file against the manifest."""
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise BundleError(
            f"there is no release folder at {path}", do="give the folder that `trace-dataset build` wrote"
        )
    release = Release(path, Manifest.read(path))
    if verify:
        release.verify()
    return release


def write_release(
    folder: str | os.PathLike[str],
    dialogues: Sequence[Dialogue],
    pois: Sequence[POI],
    reviews: Sequence[Review],
    split_of: Mapping[str, str],
    *,
    bundle_fingerprint: str,
    seed: int,
    parameters: Mapping[str, Any],
    generator: str = "trace-template",
    writer: Mapping[str, Any] | None = None,
    report: Mapping[str, Any] | None = None,
) -> Release:
    """Write a release folder; it appears whole, by one rename, or not at all.

    Args:
        dialogues: in release form (placeholders).
        reviews: their text, if present, is not written.
        generator: `trace-template` or `trace-lm`.
        writer: what a language model was asked and what came of it, as JSON values.
        report: the build report, with the knowledge base's under `kb`: for the card, and why it differs from the paper.

    Raises:
        UsageError: the folder exists and is not empty.
        StorageError: the disk is full or read-only.
    """
    target = vacant(folder)
    manifest = Manifest(
        content_digest=content_digest(dialogues, pois, reviews, split_of),
        bundle_fingerprint=bundle_fingerprint,
        seed=seed,
        parameters=dict(parameters),
        generator=generator,
        writer=dict(writer or {}),
        versions=versions(),
        counts={
            "dialogues": len(dialogues),
            "pois": len(pois),
            "reviews": len(reviews),
            "turns": sum(len(item.turns) for item in dialogues),
            "quotes": sum(len(turn.quotes) for item in dialogues for turn in item.turns),
        },
        splits={split: sum(1 for item in dialogues if split_of[item.dialogue_id] == split) for split in SPLITS},
    )
    described = describe(report or {}, dialogues, pois, reviews)
    with whole_folder(target) as part:
        for split in SPLITS:
            rows = [
                schema.dialogue_row(item)
                for item in sorted(dialogues, key=lambda item: item.dialogue_id)
                if split_of[item.dialogue_id] == split
            ]
            tables.write_table(part / "dialogues" / f"{split}.parquet", rows, "dialogues")
        tables.write_table(
            part / "pois.parquet",
            [schema.poi_row(item) for item in sorted(pois, key=lambda item: item.business_id)],
            "pois",
        )
        tables.write_table(
            part / "reviews.parquet",
            [{**schema.review_row(item), "text": None} for item in sorted(reviews, key=lambda item: item.review_id)],
            "reviews",
        )
        write_json_schema(part / "schema.json")
        (part / "README.md").write_text(release_card(manifest, described), encoding="utf-8")
        (part / "DATASHEET.md").write_text(datasheet(manifest, described), encoding="utf-8")
        write_croissant(part, manifest)
        manifest.files = {
            path.relative_to(part).as_posix(): file_sha256(path) for path in sorted(part.rglob("*")) if path.is_file()
        }
        manifest.write(part)
    return Release(target, manifest, described)


def vacant(folder: str | os.PathLike[str]) -> Path:
    """Return a folder that may be written to: one that does not exist or is empty; raises `UsageError` for any other."""
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already", do="choose another folder or remove this one first")
    return target


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside `target` that takes its place when the block ends without an error."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise StorageError(
            f"cannot write beside {target}: {error.strerror}", do="choose a folder on a disk that can be written to"
        ) from error
    try:
        yield part
        if target.is_dir():
            target.rmdir()  # empty, or this raises
        part.chmod(0o755)
        part.rename(target)
    except OSError as error:
        raise StorageError(
            f"writing {target} failed: {error.strerror or error}", do="free some space, or choose another disk"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
