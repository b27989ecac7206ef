"""Builds and hydrated texts on the user's own machine, kept in the cache under a key of everything they depend on."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock

import hydrate
from hydrate.errors import HydrationError, StorageError, UsageError
from trace_dataset import schema
from trace_dataset.dialogues import build_dialogues, default_dialogue_count
from trace_dataset.installed import code_digest
from trace_dataset.kb import KnowledgeBase, build_knowledge_base, collect_evidence
from trace_dataset.leaks import RunFinder
from trace_dataset.release.folder import Release, open_release, vacant, whole_folder, write_release
from trace_dataset.schema import SPLITS, Dialogue, Review
from trace_dataset.splits import assign_splits
from trace_dataset.streams import digest

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]  # stage, done, total
MOST_WORKERS, MANY_DIALOGUES = 4, 2_000
ON_MISMATCH = ("error", "placeholder", "drop")


@dataclass(frozen=True)
class Source:
    """Where a benchmark comes from: a bundle, or a release with a bundle; and the parameters of a build."""

    yelp_path: str | None = None
    release: str | None = None
    seed: int = 42
    n_dialogues: int | None = None
    max_places: int = 100
    min_pois: int | None = None
    open_only: bool = False
    on_mismatch: str = "error"

    def __post_init__(self) -> None:
        """Refuse an option of the wrong kind before anything is read; raises `UsageError`."""
        for name in ("yelp_path", "release"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise UsageError(f"{name}={value!r} is no path", do=HOW_TO_GET_TEXT)
        numbers = {"seed": None, "n_dialogues": 1, "max_places": 1, "min_pois": 1}
        for name, least in numbers.items():
            value = getattr(self, name)
            if value is None and name in ("n_dialogues", "min_pois"):
                continue
            if type(value) is not int or (least is not None and value < least):
                raise UsageError(
                    f"{name}={value!r} is not a whole number{'' if least is None else f' of {least} or more'}",
                    do=f"give a number, such as {name}={max(100, least or 0)}",
                )
        if self.on_mismatch not in ON_MISMATCH:
            raise UsageError(f"on_mismatch={self.on_mismatch!r} does not exist", do="use error, placeholder or drop")

    def parameters(self) -> dict[str, Any]:
        """Return what decides a build besides the bundle."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("yelp_path", "release", "on_mismatch", "seed")
        }

    @cached_property
    def bundle(self) -> Any:
        """The opened bundle; raises `BundleError` where there is none."""
        if self.yelp_path is None:
            raise UsageError("no Yelp bundle was named", do=HOW_TO_GET_TEXT)
        return hydrate.open_bundle(Path(self.yelp_path).expanduser())

    def key(self) -> str:
        """Return the content key: equal for equal content, whatever path it is reached by."""
        origin = open_release(self.release, verify=False).manifest.content_digest if self.release else "built"
        fingerprint = self.bundle.fingerprint().digest if self.yelp_path else "placeholders"
        return digest(
            code_digest(), origin, fingerprint, sorted(self.parameters().items()), self.seed, self.on_mismatch
        ).hex()[:32]


HOW_TO_GET_TEXT = (
    "name your copy of the Yelp Open Dataset with yelp_path=… (get it at https://www.yelp.com/dataset), or a release "
    'folder with release=…; to try without either: load_dataset("trace", "sample")'
)


@dataclass
class Benchmark:
    """A benchmark ready to run: hydrated dialogues, their splits, and the knowledge base that systems may read."""

    dialogues: list[Dialogue]
    split_of: Mapping[str, str]
    kb: KnowledgeBase
    release: Release
    hydration: Mapping[str, Any]
    texts: Mapping[str, str] = field(repr=False, default_factory=dict)

    @cached_property
    def finder(self) -> RunFinder:
        """Finds review text in other texts; its index is made once and shared by all runs."""
        return RunFinder(self.texts)

    def split(self, name: str | None) -> list[Dialogue]:
        """Return the dialogues of a split, or all of them for None."""
        if name is not None and name not in SPLITS:
            raise UsageError(f"there is no split called {name!r}", do=f"use one of: {', '.join(SPLITS)}")
        return [item for item in self.dialogues if name is None or self.split_of[item.dialogue_id] == name]


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


def build_release(
    yelp_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    n_dialogues: int | None = None,
    seed: int = 42,
    max_places: int = 100,
    min_pois: int | None = None,
    open_only: bool = False,
    workers: int | None = 1,
    progress: Progress | None = None,
) -> Release:
    """Build a benchmark from a Yelp bundle and write it as a release folder.

    Args:
        yelp_path: a folder, `.tar`, `.tgz`, `.zip`, or Yelp's zip.
        out: the folder to write; must not exist or be empty.
        n_dialogues: how many; None gives the paper's ratio, 25 for every 6 places, at most 10,000.
        max_places: most places in a cell of city and type.
        min_pois: a cell with fewer usable places is an error rather than a note in the report.
        workers: processes that write dialogues; the bytes are the same for any number. None takes one a core, at most
            four, where there are 2,000 dialogues or more. With more than one, a script needs the usual
            `if __name__ == "__main__":`.

    Raises:
        BundleError: the bundle is missing, damaged, or too small for a benchmark.
        StorageError: the disk is full or read-only.

    Example:
        >>> build_release("~/Yelp-JSON.zip", "trace-release")  # doctest: +SKIP
    """
    source = Source(
        yelp_path=os.fspath(yelp_path),
        n_dialogues=n_dialogues,
        seed=seed,
        max_places=max_places,
        min_pois=min_pois,
        open_only=open_only,
    )
    release, _ = _build(source, vacant(out), progress, workers)
    return release


def open_benchmark(source: Source, progress: Progress | None = None) -> Benchmark:
    """Build or open the benchmark that a source describes, hydrate it, and return it whole."""
    return open_local(prepare(source, progress).folder, source.on_mismatch)


def open_local(folder: Path, on_mismatch: str = "error") -> Benchmark:
    """Return the benchmark of a folder in the cache; raises `StorageError` where it is gone."""
    build = LocalBuild(folder)
    if not (folder / "hydration.json").is_file():
        raise StorageError(
            f"the local build {folder} is gone", do="load the dataset again with download_mode='force_redownload'"
        )
    release, texts = build.release, build.texts
    dialogues, split_of = [], {}
    for split in SPLITS:
        for dialogue in hydrated(release.dialogues(split), texts, on_mismatch) if texts else release.dialogues(split):
            dialogues.append(dialogue)
            split_of[dialogue.dialogue_id] = split
    reviews = [
        Review(item.review_id, item.business_id, item.n_chars, item.sha256, texts[item.review_id])
        for item in release.reviews()
        if item.review_id in texts
    ]
    kb = KnowledgeBase.from_tables(release.pois(), reviews)
    return Benchmark(dialogues, split_of, kb, release, build.hydration, texts)


def builds_folder() -> Path:
    """Return where local builds are kept: beside the Arrow files of `datasets`, so that one setting moves both."""
    import datasets

    return Path(datasets.config.HF_DATASETS_CACHE) / "trace_builds"


def hydrated(dialogues: list[Dialogue], texts: Mapping[str, str], on_mismatch: str) -> list[Dialogue]:
    """Return dialogues with their quotes filled in from the texts."""
    rows, _ = hydrate.hydrate([schema.dialogue_row(item) for item in dialogues], texts, on_mismatch=on_mismatch)
    return [schema.dialogue_from_row(row) for row in rows]


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
            release = open_release(source.release)
            texts = _texts_of(release, source, progress)
            _copy(release, part / "release")
        else:
            release, kb = _build(source, part / "release", progress)
            texts = {key: review.text for key, review in kb.reviews.items() if review.text is not None}
        if source.yelp_path:
            table = pa.table(
                {"review_id": list(texts), "text": list(texts.values())},
                schema=pa.schema([("review_id", pa.string()), ("text", pa.large_string())]),
            )
            pq.write_table(table, part / "texts.parquet", compression="zstd")
        report = _verify_quotes(release, texts, source)
        (part / "hydration.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))


def _build(
    source: Source, out: Path, progress: Progress | None, workers: int | None = 1
) -> tuple[Release, KnowledgeBase]:
    def stage(name: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, total: progress(name, done, total)

    fingerprint = source.bundle.fingerprint(progress=stage("checking the bundle"))
    kb, kb_report = build_knowledge_base(
        source.bundle,
        seed=source.seed,
        max_places=source.max_places,
        open_only=source.open_only,
        min_pois=source.min_pois,
        progress=stage("reading places and reviews"),
    )
    evidence = collect_evidence(kb)
    count = default_dialogue_count(len(kb.pois)) if source.n_dialogues is None else source.n_dialogues
    if workers is None:  # a process costs a second or two to start
        workers = min(os.cpu_count() or 1, MOST_WORKERS) if count >= MANY_DIALOGUES else 1
    dialogues, report = build_dialogues(
        kb, evidence, n_dialogues=count, seed=source.seed, workers=workers, progress=stage("writing dialogues")
    )
    split_of = assign_splits(((item.dialogue_id, (item.city, item.poi_type)) for item in dialogues), source.seed)
    empty = [split for split in SPLITS if split not in split_of.values()]
    if empty:
        raise UsageError(
            f"{len(dialogues)} dialogues leave the split {empty[0]!r} without any",
            do="ask for more with n_dialogues=… (10 for each city and type is enough)",
        )
    release = write_release(
        out,
        dialogues,
        list(kb.pois.values()),
        list(kb.reviews.values()),
        split_of,
        bundle_fingerprint=fingerprint.digest,
        seed=source.seed,
        parameters={**source.parameters(), "n_dialogues": count},
        report={**report.to_json(), "kb": kb_report.to_json()},
    )
    return release, kb


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
