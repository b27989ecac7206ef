"""A release as a dataset repository: placeholders only, and of the places only their ids unless a person says otherwise."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from pathlib import Path

from hydrate.errors import UsageError
from trace_dataset.hub.files import PublishedFile
from trace_dataset.hub.guard import guard_for
from trace_dataset.hub.publication import Publication, Push, assemble, folder_files
from trace_dataset.hub.upload import Options, push
from trace_dataset.release import Release, open_release
from trace_dataset.release.local import Progress
from trace_dataset.release.manifest import MANIFEST
from trace_dataset.release.places import without_details

POIS = ("ids", "full")
DOCUMENTS = ("README.md", "DATASHEET.md")
ROW_OF_IDS = (
    "| names, addresses, coordinates, categories and attributes of places (not here) | "
    "`pois.parquet` holds ids, cities and types; with a bundle the rest comes back, and is checked |"
)
SENTENCE_OF_IDS = "`pois.parquet` holds ids, cities and types alone; with a bundle the rest comes back, and is checked."


def push_release(
    folder: str | Path,
    repo_id: str,
    *,
    pois: str = "ids",
    yelp_path: str | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Push:
    """Publish a release folder as a dataset, for `load_dataset("trace", release=repo_id, yelp_path=…)`.

    Args:
        folder: what `build_release` or `trace-dataset build` wrote.
        repo_id: `owner/name`.
        pois: `ids` publishes of the places only id, city and type, and a loader fills in the rest from the bundle; `full`
            publishes names, addresses and attributes too, which the bundle's licence may not allow.
        yelp_path: the bundle whose reviews must not stand in the files; None takes the cache.
        dry_run: validate everything and return what would go up, and send nothing.
        private, revision, token, replace: see `trace_dataset.hub.upload.Options`.

    Raises:
        BundleError: the release is damaged.
        UsageError: the card or the name is wrong, or a file of the folder may not be published.
        LicensedTextError: review text stands in it, or there is nothing to look for it with.
        HubError: the Hub refused or could not be reached.

    Example:
        >>> print(push_release("trace-release", "org/trace", dry_run=True))  # doctest: +SKIP
    """
    with tempfile.TemporaryDirectory() as scratch:
        publication = prepare_release(
            folder, repo_id, Path(scratch), pois=pois, yelp_path=yelp_path, token=token, progress=progress
        )
        return push(publication, Options(dry_run, private, revision, token, replace))


def prepare_release(
    folder: str | Path,
    repo_id: str,
    scratch: Path,
    *,
    pois: str = "ids",
    yelp_path: str | None = None,
    token: str | None = None,
    progress: Progress | None = None,
) -> Publication:
    """Return what `push_release` would publish, validated; files that had to be written anew stand in `scratch`."""
    if pois not in POIS:
        raise UsageError(f"pois={pois!r} does not exist", do="use ids or full")
    release = open_release(folder)
    there, left_out = folder_files(release.folder)
    guard = guard_for(release, yelp_path, progress)
    told = "full, with names, addresses and attributes"
    if pois == "ids":
        release, told = without_details(release, scratch / "release"), "ids, cities and types only"
    named = {MANIFEST, *release.manifest.files}
    files = {name: PublishedFile(name, release.folder / name) for name in named}
    files |= _documents(release, repo_id, pois)
    return assemble(
        "dataset",
        repo_id,
        "trace",
        files.values(),
        guard=guard,
        checks=("every file has the SHA256 of the manifest", f"places: {told}"),
        left_out=(*left_out, *sorted(set(there) - named)),
        token=token,
        progress=progress,
        about={"content_digest": release.manifest.content_digest},
    )


def _documents(release: Release, repo_id: str, pois: str) -> dict[str, PublishedFile]:
    """Return card and datasheet as they read where they are published, and the manifest that names them."""
    texts = {
        name: (release.folder / name).read_text(encoding="utf-8")
        for name in DOCUMENTS
        if name in release.manifest.files
    }
    made = {}
    for name, text in texts.items():
        text = text.replace('release="path/to/this/folder"', f'release="{repo_id}"')
        if pois == "ids":
            text = re.sub(r"^\| names, addresses, .*$", ROW_OF_IDS, text, flags=re.M)
            text = re.sub(r"`pois\.parquet` holds names,.*?publisher knows better\.", SENTENCE_OF_IDS, text, flags=re.S)
        made[name] = PublishedFile(name, text.encode())
    manifest = dataclasses.replace(
        release.manifest, files={**release.manifest.files, **{name: file.sha256 for name, file in made.items()}}
    )
    return {**made, MANIFEST: PublishedFile(MANIFEST, manifest.to_bytes())}
