"""Where a benchmark comes from, and the key under which what is made of it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import hydrate
from hydrate.errors import UsageError
from trace_dataset.installed import code_digest
from trace_dataset.release.folder import Release, open_release
from trace_dataset.release.generator import TEMPLATE, Generator
from trace_dataset.release.published import find_release
from trace_dataset.streams import digest

ON_MISMATCH = ("error", "placeholder", "drop")
HOW_TO_GET_TEXT = (
    "name your copy of the Yelp Open Dataset with yelp_path=… (get it at https://www.yelp.com/dataset), or a release "
    'folder with release=…; to try without either: load_dataset("trace", "sample")'
)


@dataclass(frozen=True)
class Source:
    """Where a benchmark comes from: a bundle, or a release with a bundle; the parameters of a build, and who writes it.

    `release` is a folder, or `owner/name` on the Hub where there is no such folder; `revision` is a commit, tag or branch
    there.
    """

    yelp_path: str | None = None
    release: str | None = None
    revision: str | None = None
    seed: int = 42
    n_dialogues: int | None = None
    max_places: int = 100
    min_pois: int | None = None
    open_only: bool = False
    on_mismatch: str = "error"
    generator: Generator = TEMPLATE

    def __post_init__(self) -> None:
        """Refuse an option of the wrong kind before anything is read; raises `UsageError`."""
        for name in ("yelp_path", "release", "revision"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise UsageError(
                    f"{name}={value!r} is no {'revision' if name == 'revision' else 'path'}", do=HOW_TO_GET_TEXT
                )
        if self.revision is not None and self.release is None:
            raise UsageError(f"revision={self.revision!r} goes with a release, and none was named", do=HOW_TO_GET_TEXT)
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
        names = ("n_dialogues", "max_places", "min_pois", "open_only")
        return {name: getattr(self, name) for name in names} | self.generator.parameters()

    @cached_property
    def bundle(self) -> Any:
        """The opened bundle; raises `BundleError` where there is none."""
        if self.yelp_path is None:
            raise UsageError("no Yelp bundle was named", do=HOW_TO_GET_TEXT)
        return hydrate.open_bundle(Path(self.yelp_path).expanduser())

    @cached_property
    def release_folder(self) -> Path:
        """The release's folder: the one that was named, or a copy of the one on the Hub, checked against its manifest."""
        return find_release(self.release or "", self.revision)

    def opened(self, verify: bool = True) -> Release:
        """Open the release, and unless told otherwise check every file of it."""
        return open_release(self.release_folder, verify)

    def key(self) -> str:
        """Return the content key: equal for equal content, whatever path it is reached by."""
        origin = self.opened(verify=False).manifest.content_digest if self.release else "built"
        fingerprint = self.bundle.fingerprint().digest if self.yelp_path else "placeholders"
        return digest(
            code_digest(), origin, fingerprint, sorted(self.parameters().items()), self.seed, self.on_mismatch
        ).hex()[:32]
