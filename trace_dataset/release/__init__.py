"""A release: dialogues with placeholders, places and review ids as parquet, with a manifest; never a word of review text."""

from trace_dataset.release.benchmark import Benchmark, open_benchmark, open_local
from trace_dataset.release.build import build_release
from trace_dataset.release.folder import Release, open_release, write_release
from trace_dataset.release.generator import Generator
from trace_dataset.release.manifest import content_digest
from trace_dataset.release.source import Source

__all__ = [
    "Benchmark",
    "Generator",
    "Release",
    "Source",
    "build_release",
    "content_digest",
    "open_benchmark",
    "open_local",
    "open_release",
    "write_release",
]
