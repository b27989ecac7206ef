"""The `datasets` builder behind `load_dataset("trace", …)`, and the same call without the registered name."""

from __future__ import annotations

import errno
import inspect
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import datasets
from datasets.exceptions import DatasetGenerationError

import hydrate
from hydrate.errors import StorageError, TraceError, UsageError
from trace_dataset import schema
from trace_dataset.installed import code_digest
from trace_dataset.release import tables
from trace_dataset.release.folder import whole_folder
from trace_dataset.release.local import HOW_TO_GET_TEXT, LocalBuild, Source, prepare
from trace_dataset.sample import write_sample
from trace_dataset.schema import SPLITS
from trace_dataset.streams import digest

logger = logging.getLogger(__name__)

CONFIGS = {
    "dialogues": "dialogues with verified quotes; needs yelp_path",
    "pois": "the places of the knowledge base",
    "reviews": "the reviews that dialogues may cite, with text where a bundle is given",
    "sample": "dialogues over an invented sample, with placeholders: what a release looks like; needs no bundle",
}
SAMPLE_PLACES = 240
NO_DATA = {errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EPERM}


@dataclass
class TraceConfig(datasets.BuilderConfig):
    """Options of `load_dataset("trace", …)`; each is part of the cache key, the paths by their content.

    Attributes:
        yelp_path: the user's Yelp bundle: a folder, `.tar`, `.tgz`, `.zip`, or Yelp's zip that holds a tar.
        release: a release to hydrate instead of building dialogues anew: a folder, or `owner/name` on the Hub.
        revision: a commit, tag or branch of a release on the Hub.
        seed: of every random draw of a build.
        n_dialogues: None gives 25 for every 6 places, at most 10,000.
        max_places: most places in a cell of city and type.
        min_pois: make a cell with fewer usable places an error.
        open_only: leave out places that have closed.
        on_mismatch: `error`, `placeholder` or `drop`, for quotes that the bundle does not confirm.
    """

    yelp_path: str | os.PathLike[str] | None = None
    release: str | os.PathLike[str] | None = None
    revision: str | None = None
    seed: int = 42
    n_dialogues: int | None = None
    max_places: int = 100
    min_pois: int | None = None
    open_only: bool = False
    on_mismatch: str = "error"

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Any = None) -> str:
        """Name the cache folder by content: the same bundle by another path is the same, a changed one is not."""
        if self.name == "sample":
            return f"sample-{digest(code_digest(), SAMPLE_PLACES).hex()[:32]}"
        return f"{self.name}-{self.source().key()}"

    def source(self) -> Source:
        """Return what these options describe; raises `UsageError` where they name nothing to build from."""
        if self.yelp_path is None and self.release is None:
            raise UsageError('load_dataset("trace") was given neither yelp_path nor release', do=HOW_TO_GET_TEXT)
        values = {field.name: getattr(self, field.name) for field in fields(Source) if hasattr(self, field.name)}
        for name in ("yelp_path", "release"):
            if isinstance(values[name], os.PathLike):
                values[name] = os.fspath(values[name])
        return Source(**values)


OPTIONS = tuple(
    field.name
    for field in fields(TraceConfig)
    if field.name not in {field.name for field in fields(datasets.BuilderConfig)}
)


class TraceDataset(datasets.GeneratorBasedBuilder):
    """Builds TRACE from a bundle, or hydrates a release; see `TraceConfig` for the options."""

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = TraceConfig
    BUILDER_CONFIGS: ClassVar = [
        TraceConfig(name=name, description=text, version=datasets.Version("1.0.0")) for name, text in CONFIGS.items()
    ]
    DEFAULT_CONFIG_NAME = "dialogues"
    DEFAULT_WRITER_BATCH_SIZE = 250

    def __init__(self, *args: Any, data_files: Any = None, config_name: str | None = None, **options: Any) -> None:
        if config_name is not None and config_name not in CONFIGS:
            raise UsageError(f"there is no config called {config_name!r}", do=f"use one of: {', '.join(CONFIGS)}")
        library = set(inspect.signature(datasets.DatasetBuilder.__init__).parameters)
        unknown = sorted(set(options) - library - {field.name for field in fields(TraceConfig)})
        if unknown:
            do = f"use one of: {', '.join(OPTIONS)}"
            if unknown[0] in ("generator", "lm", "writer"):
                do = 'write a release with build_release(…, generator=…), then load_dataset("trace", release=…)'
            raise UsageError(f'load_dataset("trace") has no option {unknown[0]!r}', do=do)
        with _storage_errors(options.get("cache_dir")):
            super().__init__(*args, config_name=config_name, **options)

    def _info(self) -> datasets.DatasetInfo:
        table = "dialogues" if self.config.name == "sample" else self.config.name
        return datasets.DatasetInfo(
            features=schema.features(table),
            description=CONFIGS[self.config.name],
            homepage="https://arxiv.org/abs/2605.07677",
            license="cc-by-4.0 (authored content)",
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        build = self._prepare()
        self.info.description = describe(build)
        logger.info(self.info.description)
        single = self.config.name in ("pois", "reviews")
        found = []
        for split in ("train",) if single else SPLITS:
            path = build.release.path(self._table(), split)
            found.append(
                datasets.SplitGenerator(
                    name=split,
                    gen_kwargs={
                        "folder": str(build.folder),
                        "path": str(path),
                        "groups": list(range(tables.group_count(path))),
                    },
                )
            )
        return found

    def _generate_examples(self, folder: str, path: str, groups: list[int]) -> Iterator[tuple[Any, dict[str, Any]]]:
        texts = LocalBuild(Path(folder)).texts if self.config.name in ("dialogues", "reviews") else {}
        for group in groups:
            rows = list(tables.read_group(Path(path), group))
            if self.config.name == "reviews":
                for row in rows:
                    row["text"] = texts.get(row["review_id"])
            elif self.config.name == "dialogues" and texts:
                rows, _ = hydrate.hydrate(rows, texts, on_mismatch=self.config.on_mismatch)
            for index, row in enumerate(rows):
                yield (group, index), row

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """As in `datasets`, but a user's mistake or a full disk ends in its own `TraceError`."""
        with _storage_errors(self._cache_dir_root):
            super().download_and_prepare(*args, **kwargs)

    def as_dataset(self, *args: Any, **kwargs: Any) -> Any:
        """As in `datasets`, but an unknown split is a `UsageError` that lists those that exist."""
        with _split_errors(self):
            return super().as_dataset(*args, **kwargs)

    def as_streaming_dataset(self, *args: Any, **kwargs: Any) -> Any:
        """As in `datasets`, but an unknown split is a `UsageError` that lists those that exist."""
        with _split_errors(self), _storage_errors(self._cache_dir_root):
            return super().as_streaming_dataset(*args, **kwargs)

    def _table(self) -> str:
        return "dialogues" if self.config.name == "sample" else self.config.name

    def _prepare(self) -> LocalBuild:
        home = Path(self._cache_dir_root) / "trace_builds"
        if self.config.name != "sample":
            return prepare(self.config.source(), stage_bars(), home)
        bundle = home / f"sample-{self.config_id}"
        if not bundle.is_dir():
            with whole_folder(bundle) as part:
                write_sample(part, places=SAMPLE_PLACES)
        logger.warning(
            "placeholders of an invented sample; for text: `trace-dataset sample DIR`, then yelp_path=DIR; "
            "for the benchmark: yelp_path=<your copy of the Yelp Open Dataset>"
        )
        return prepare(Source(yelp_path=str(bundle)), stage_bars(), home)


def load_dataset(
    name: str | None = None,
    *,
    split: str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    download_mode: Any = None,
    keep_in_memory: bool = False,
    **options: Any,
) -> Any:
    """Return TRACE as `datasets` objects: the same as `datasets.load_dataset("trace", …)` by public calls alone.

    Args:
        name: a config: `dialogues` (default), `pois`, `reviews`, `sample`.
        split: `train`, `validation`, `test`, or a slice such as `test[:10]`; None gives all of them.
        streaming: yield rows without writing Arrow files.
        num_proc: processes that write the Arrow files.
        options: those of `TraceConfig`, `yelp_path` first of all.

    Raises:
        TraceError: the bundle or an option is wrong; the message says what to do.

    Example:
        >>> load_dataset("sample", split="test[:1]")[0]["city"]  # doctest: +SKIP
        'Tucson'
    """
    builder = TraceDataset(
        config_name=name,
        dataset_name="trace",
        hash=code_digest(),
        cache_dir=None if cache_dir is None else os.fspath(cache_dir),
        **{key: value for key, value in options.items() if value is not None},
    )
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(download_mode=download_mode, num_proc=num_proc)
    return builder.as_dataset(split=split, in_memory=keep_in_memory)


def describe(build: LocalBuild) -> str:
    """Return what a loaded dataset says of itself: where it came from and how its quotes fared."""
    manifest = build.release.manifest
    status = build.hydration.get("counts") or {}
    quotes = ", ".join(f"{count:,} {name}" for name, count in status.items() if count) or "placeholders only"
    return (
        f"TRACE: {manifest.counts['dialogues']:,} dialogues over {manifest.counts['pois']:,} places; quotes: {quotes}; "
        f"content digest {manifest.content_digest}; local build: {build.folder}"
    )


def stage_bars() -> Any:
    """Return a progress function that shows one bar a stage, unless the user has switched bars off in `datasets`."""
    from tqdm.auto import tqdm

    bars: dict[str, Any] = {}

    def show(stage: str, done: int, total: int) -> None:
        if not datasets.is_progress_bar_enabled():
            return
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            large = total > 1_000_000
            bars[stage] = tqdm(total=total, desc=f"TRACE: {stage}", unit="B" if large else "", unit_scale=large)
        bars[stage].update(done - bars[stage].n)
        if done >= total:
            bars[stage].close()

    return show


@contextmanager
def _storage_errors(cache_dir: str | os.PathLike[str] | None) -> Iterator[None]:
    """Turn a refused write into a `StorageError`, and unwrap the `TraceError` that `datasets` wraps."""
    try:
        yield
    except (DatasetGenerationError, OSError) as error:
        cause: BaseException = error
        while isinstance(cause, DatasetGenerationError) and cause.__cause__ is not None:
            cause = cause.__cause__
        if isinstance(cause, TraceError):
            raise cause from None
        if isinstance(cause, OSError) and cause.errno in NO_DATA:
            where = cause.filename or cache_dir or datasets.config.HF_DATASETS_CACHE
            raise StorageError(
                f"the cache cannot be written ({where}): {cause.strerror}",
                do="free some space there, or name another folder with cache_dir=… or HF_HOME",
            ) from error
        raise


@contextmanager
def _split_errors(builder: TraceDataset) -> Iterator[None]:
    """Turn the library's word for an unknown split into a `UsageError` that lists the splits."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, TraceError) or not re.match(r"(Unknown split|Bad split)", str(error)):
            raise
        there = ("train",) if builder.config.name in ("pois", "reviews") else SPLITS
        asked = re.search(r'split:? "?([^" ]+?)"?[.,]? ', f"{error} ")
        name = asked.group(1) if asked else "that"
        do = f"use one of: {', '.join(there)}"
        if "[" in name:
            raise UsageError(f"a slice such as {name!r} cannot be streamed", do=f"{do}; then .take(10)") from error
        raise UsageError(f"there is no split called {name!r}", do=do) from error
