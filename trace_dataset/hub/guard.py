"""The leak guard before a push: what reviews there are to compare with, and what was found in the files."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import hydrate
from hydrate.errors import BundleError, LicensedTextError, UsageError
from trace_dataset.hub.files import PublishedFile
from trace_dataset.leaks import RunFinder
from trace_dataset.release import Release, Source
from trace_dataset.release.leak_check import Leak, find_leaks, refuse_leaks
from trace_dataset.release.local import LocalBuild, Progress, builds_folder, prepare

DATA = (".parquet", ".json", ".jsonl")
OWN_TEXT = "trace_dataset/sample/"  # the invented sentences that sample bundles are made of
DATA_QUOTE, PROSE_QUOTE, NO_QUOTE = 3, 12, 10**6  # tokens of a quoted span that is compared


@dataclass(frozen=True)
class Guard:
    """Review texts on this machine, and where they come from."""

    texts: Mapping[str, str] = field(repr=False)
    origin: str
    cleared: set[str] = field(default_factory=set, repr=False)  # SHA256 of files in which nothing was found

    @cached_property
    def finder(self) -> RunFinder:
        """Finds runs of the texts; its index is made once."""
        return RunFinder(self.texts)

    def clear(self, files: Iterable[PublishedFile], progress: Progress | None = None) -> str:
        """Return what was compared, in one line; raises `LicensedTextError` where review text stands in a file.

        Every file is searched for runs of eight words of a review. Data files are also held to the rule for quotes (three
        words at 0.80); in the code and prose of a folder a quote has twelve words or more, since shorter strings are like
        some review by chance. A wheel is looked into, for runs.
        """
        given = list(files)
        kept = unpacked(file for file in given if file.sha256 not in self.cleared)
        leaks: list[Leak] = []
        for shortest in (DATA_QUOTE, PROSE_QUOTE, NO_QUOTE):
            with tempfile.TemporaryDirectory() as scratch:
                for file in kept:
                    if _shortest_quote(file) == shortest:
                        _place(file, Path(scratch))
                show = (
                    None if progress is None else lambda done, total: progress("looking for review text", done, total)
                )
                leaks += find_leaks(Path(scratch), self.finder, show, shortest)
        refuse_leaks(leaks)
        self.cleared.update(file.sha256 for file in given)
        return f"no text of {len(self.texts):,} reviews ({self.origin}) stands in {len(given):,} files"


def guard_for(release: Release | None, yelp_path: str | None, progress: Progress | None = None) -> Guard:
    """Return the texts to compare with: those of a release, or of every benchmark in this machine's cache.

    Args:
        release: what is to be published, for a dataset; None for code.
        yelp_path: a bundle; None looks in the cache of `load_dataset("trace", …)` alone.

    Raises:
        LicensedTextError: there is neither a bundle nor a cache, so nothing can be cleared.
    """
    if release is None:
        return _from_cache(yelp_path, progress)
    wanted = {review.review_id for review in release.reviews()}
    if yelp_path is None:
        for build in local_builds():
            if build.release.manifest.content_digest == release.manifest.content_digest and wanted <= set(build.texts):
                return Guard({key: build.texts[key] for key in wanted}, f"the cache, {build.folder.name[:12]}")
        raise _nothing()
    bundle = hydrate.open_bundle(Path(yelp_path).expanduser())
    show = None if progress is None else lambda done, total: progress("reading reviews", done, total)
    texts = {record.review_id: record.text for record in bundle.reviews(review_ids=wanted, progress=show)}
    missing = len(wanted - set(texts))
    if missing:
        raise BundleError(
            f"{missing:,} of the release's {len(wanted):,} reviews are not in {yelp_path}, so it cannot be cleared",
            do="name the bundle that the release was made from",
        )
    return Guard(texts, f"bundle {bundle.fingerprint().digest[:12]}")


def local_builds() -> list[LocalBuild]:
    """Return the benchmarks in the cache that hold review text."""
    return [LocalBuild(path.parent) for path in sorted(builds_folder().glob("*/texts.parquet"))]


def unpacked(files: Iterable[PublishedFile]) -> list[PublishedFile]:
    """Return the files with each wheel replaced by what is in it, but for the invented sentences of the sample."""
    found: list[PublishedFile] = []
    for file in files:
        found += _members(file) if file.path.endswith(".whl") else [file]
    return found


def _shortest_quote(file: PublishedFile) -> int:
    if ".whl/" in file.path:
        return NO_QUOTE
    return DATA_QUOTE if file.path.endswith(DATA) else PROSE_QUOTE


def _place(file: PublishedFile, folder: Path) -> None:
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(file.source, Path):
        target.symlink_to(file.source.resolve())
    else:
        target.write_bytes(file.source)


def _from_cache(yelp_path: str | None, progress: Progress | None) -> Guard:
    builds = local_builds()
    if yelp_path is not None:
        source = Source(yelp_path=yelp_path)
        digest = source.bundle.fingerprint().digest
        builds = [item for item in builds if item.release.manifest.bundle_fingerprint == digest] or [
            prepare(source, progress)
        ]
    if not builds:
        raise _nothing()
    texts: dict[str, str] = {}
    for build in builds:
        texts.update(build.texts)
    bundles = sorted({build.release.manifest.bundle_fingerprint[:12] for build in builds})
    return Guard(texts, f"bundle{'s' if len(bundles) > 1 else ''} {', '.join(bundles)}")


def _nothing() -> LicensedTextError:
    return LicensedTextError(
        "there is neither a bundle nor a loaded benchmark to look for review text with, so nothing can be cleared",
        do='name your bundle with yelp_path=… (--yelp), or load it once: load_dataset("trace", yelp_path=…)',
    )


def _members(wheel: PublishedFile) -> list[PublishedFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel.read())) as archive:
            return [
                PublishedFile(f"{wheel.path}/{name}", archive.read(name))
                for name in archive.namelist()
                if not name.endswith("/") and not name.startswith(OWN_TEXT)
            ]
    except zipfile.BadZipFile:
        raise UsageError(f"{wheel.path} is no wheel", do="remove it; the publisher adds its own") from None
