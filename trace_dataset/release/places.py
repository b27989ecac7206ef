"""Places with and without their details: names, addresses and attributes are the bundle's, and may not be published."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from hydrate.errors import HydrationError
from trace_dataset.kb import read_places
from trace_dataset.release import tables
from trace_dataset.release.croissant import CROISSANT, write_croissant
from trace_dataset.release.folder import Release
from trace_dataset.release.manifest import MANIFEST, content_digest, file_sha256
from trace_dataset.schema import POI, SPLITS, poi_row

OTHER_BUNDLE = (
    "use the edition of the bundle that the release names (bundle fingerprint), or build anew without release=…"
)
IDS_ONLY = {"pois": "ids"}  # in the manifest's parameters: places have id, city and type alone


def without_details(release: Release, folder: Path) -> Release:
    """Write a copy of a release whose places have only id, city and type; the content digest stays that of the whole."""
    shutil.copytree(release.folder, folder, ignore=shutil.ignore_patterns(MANIFEST, "pois.parquet", CROISSANT))
    manifest = dataclasses.replace(
        release.manifest, parameters={**release.manifest.parameters, **IDS_ONLY}, files=dict(release.manifest.files)
    )
    bare = [_bare(poi) for poi in release.pois()]
    tables.write_table(folder / "pois.parquet", [poi_row(poi) for poi in bare], "pois")
    write_croissant(folder, manifest)
    for name in ("pois.parquet", CROISSANT):
        if name in manifest.files:
            manifest.files[name] = file_sha256(folder / name)
    manifest.write(folder)
    return Release(folder, manifest)


def has_details(release: Release) -> bool:
    """Return whether a release's places have names and the rest."""
    return release.manifest.parameters.get("pois") != IDS_ONLY["pois"]


def with_details(release: Release, bundle: Any, folder: Path) -> Release:
    """Write a copy of a release whose places are filled in from the bundle, and check the whole by its content digest.

    Raises:
        HydrationError: the bundle's places are not those that the release was made from.
    """
    known = {poi.business_id: poi for poi in release.pois()}
    found = read_places(bundle, {key: poi.city for key, poi in known.items()})
    dialogues, split_of = [], {}
    for split in SPLITS:
        for dialogue in release.dialogues(split):
            dialogues.append(dialogue)
            split_of[dialogue.dialogue_id] = split
    if set(found) != set(known):
        missing = sorted(set(known) - set(found))
        raise HydrationError(
            f"{len(missing):,} places of the release are not in the bundle, first {missing[0]}", do=OTHER_BUNDLE
        )
    if content_digest(dialogues, found.values(), release.reviews(), split_of) != release.manifest.content_digest:
        raise HydrationError(
            "the places of this bundle are not those that the release was made from: the content digest differs",
            do=OTHER_BUNDLE,
        )
    shutil.copytree(release.folder, folder, ignore=shutil.ignore_patterns(MANIFEST, "pois.parquet", ".*", "trace.json"))
    tables.write_table(folder / "pois.parquet", [poi_row(found[key]) for key in sorted(found)], "pois")
    parameters = {key: value for key, value in release.manifest.parameters.items() if key != "pois"}
    files = {**release.manifest.files, "pois.parquet": file_sha256(folder / "pois.parquet")}
    manifest = dataclasses.replace(release.manifest, parameters=parameters, files=files)
    manifest.write(folder)
    return Release(folder, manifest)


def _bare(poi: POI) -> POI:
    return POI(poi.business_id, "", "", poi.city, "", poi.poi_type, None, None, (), 0.0, 0, None)
