"""A release: dialogues with placeholders, places and review ids as parquet, with a manifest; never a word of review text."""

from trace_dataset.release.folder import Release, open_release, write_release
from trace_dataset.release.local import Benchmark, Source, build_release, open_benchmark, open_local
from trace_dataset.release.manifest import content_digest

__all__ = [
    "Benchmark",
    "Release",
    "Source",
    "build_release",
    "content_digest",
    "open_benchmark",
    "open_local",
    "open_release",
    "write_release",
]
