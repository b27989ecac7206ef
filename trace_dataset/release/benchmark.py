"""A benchmark ready to run, from a bundle, a release, or a folder in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import hydrate
from hydrate.errors import StorageError, UsageError
from trace_dataset import schema
from trace_dataset.kb import KnowledgeBase
from trace_dataset.leaks import RunFinder
from trace_dataset.release.build import Progress
from trace_dataset.release.folder import Release
from trace_dataset.release.local import LocalBuild, prepare
from trace_dataset.release.source import Source
from trace_dataset.schema import SPLITS, Dialogue, Review


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


def hydrated(dialogues: list[Dialogue], texts: Mapping[str, str], on_mismatch: str) -> list[Dialogue]:
    """Return dialogues with their quotes filled in from the texts."""
    rows, _ = hydrate.hydrate([schema.dialogue_row(item) for item in dialogues], texts, on_mismatch=on_mismatch)
    return [schema.dialogue_from_row(row) for row in rows]
