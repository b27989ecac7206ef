"""Local builds: what the cache holds of a benchmark, made once and shared by everyone on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

import hydrate
from hydrate.errors import HydrationError, StorageError
from trace_dataset import schema
from trace_dataset.release.build import Progress, build_from
from trace_dataset.release.folder import Release, open_release, whole_folder
from trace_dataset.release.places import has_details, with_details
from trace_dataset.release.source import HOW_TO_GET_TEXT, Source
from trace_dataset.schema import SPLITS

__all__ = ["HOW_TO_GET_TEXT", "LocalBuild", "Progress", "Source", "builds_folder", "prepare"]


@dataclass(frozen=True)
class LocalBuild:
    """A folder in the cache: `release/` (placeholders), `texts.parquet` (review text; stays here), `hydration.json`."""

    folder: Path

    @property
    def release(self) -> Release:
        """The release part; files were verified when they were written."""
        return open_release(self.folder / "release", verify=False)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Review id to the benchmark's text of it; empty where there is no bundle."""
        path = self.folder / "texts.parquet"
        if not path.exists():
            return {}
        table = pq.read_table(path)
        return dict(zip(table["review_id"].to_pylist(), table["text"].to_pylist(), strict=True))

    @property
    def hydration(self) -> dict[str, Any]:
        """The hydration report, as JSON values."""
        values: dict[str, Any] = orjson.loads((self.folder / "hydration.json").read_bytes())
        return values


def builds_folder() -> Path:
    """Return where local builds are kept: beside the Arrow files of `datasets`, so that one setting moves both."""
    import datasets

    return Path(datasets.config.HF_DATASETS_CACHE) / "trace_builds"


def prepare(source: Source, progress: Progress | None = None, cache: Path | None = None) -> LocalBuild:
    """Return the local build of a source, making it first where the cache has none.

    Two processes at once: one builds, the other waits and uses the result. A killed build leaves nothing that is taken
    for a whole one.
    """
    home = cache or builds_folder()
    target = home / source.key()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(str(target) + ".lock"):
            if not target.is_dir():
                _fill(source, target, progress)
    except PermissionError as error:
        raise _cannot_write(home, error) from error
    except OSError as error:
        if isinstance(error, ValueError):  # a TraceError keeps its own words
            raise
        raise _cannot_write(home, error) from error
    return LocalBuild(target)


def _fill(source: Source, target: Path, progress: Progress | None) -> None:
    with whole_folder(target) as part:
        if source.release:
            release = source.opened()
            texts = _texts_of(release, source, progress)
            if source.yelp_path and not has_details(release):
                release = with_details(release, source.bundle, part / "release")
            else:
                _copy(release, part / "release")
        else:
            release, kb = build_from(source, part / "release", progress, journal=Path(f"{target}.journal.jsonl"))
            texts = {key: review.text for key, review in kb.reviews.items() if review.text is not None}
        if source.yelp_path:
            table = pa.table(
                {"review_id": list(texts), "text": list(texts.values())},
                schema=pa.schema([("review_id", pa.string()), ("text", pa.large_string())]),
            )
            pq.write_table(table, part / "texts.parquet", compression="zstd")
        report = _verify_quotes(release, texts, source)
        (part / "hydration.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))


def _texts_of(release: Release, source: Source, progress: Progress | None) -> dict[str, str]:
    if source.yelp_path is None:
        return {}
    wanted = {review.review_id: review for review in release.reviews()}
    report = None if progress is None else lambda done, total: progress("finding the reviews", done, total)
    return {
        record.review_id: record.text[: wanted[record.review_id].n_chars]
        for record in source.bundle.reviews(review_ids=set(wanted), progress=report)
    }


def _verify_quotes(release: Release, texts: Mapping[str, str], source: Source) -> dict[str, Any]:
    """Hydrate everything once before anything is handed out, so that an error counts all cases and not the first."""
    if source.yelp_path is None:
        return {"status": {}, "note": "placeholders only: no bundle was given"}
    rows = [schema.dialogue_row(item) for split in SPLITS for item in release.dialogues(split)]
    hashes = {review.review_id: (review.n_chars, review.sha256) for review in release.reviews()}
    try:
        _, report = hydrate.hydrate(rows, texts, on_mismatch=source.on_mismatch, review_sha256=hashes)
    except HydrationError as error:
        built_from, given = release.manifest.bundle_fingerprint, source.bundle.fingerprint().digest
        if built_from == given:
            raise
        raise HydrationError(
            f"{error.what}\n  the release was made from bundle {built_from[:12]}, yours is {given[:12]}", do=error.do
        ) from error
    values: dict[str, Any] = orjson.loads(report.to_json())
    return values


def _copy(release: Release, target: Path) -> None:
    for name in [*release.manifest.files, "manifest.json"]:
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_bytes((release.folder / name).read_bytes())


def _cannot_write(home: Path, error: OSError) -> StorageError:
    return StorageError(
        f"the cache {home} cannot be written: {error.strerror or error}",
        do="free some space there, or set HF_HOME to a folder that can be written to",
    )
