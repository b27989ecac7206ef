"""A release on the Hub: its files at one commit, compared with the manifest before anything is read from them."""

from __future__ import annotations

import logging
from pathlib import Path

from hydrate.errors import BundleError, UsageError
from trace_dataset.release.folder import open_release
from trace_dataset.remote import REPO_ID, fetch

logger = logging.getLogger(__name__)


def find_release(release: str, revision: str | None = None, token: str | None = None) -> Path:
    """Return a release's folder: the one of that name, or else a verified copy of the dataset `owner/name` from the Hub.

    `owner/name@revision` names a revision too, where only one word can be given.

    A copy in the cache that differs from its manifest is downloaded once more.

    Raises:
        UsageError: a revision was given for a folder.
        BundleError: there is no such folder, or what the Hub gives differs from its manifest; the message names the files.
        HubError: the dataset or the revision is not there.
    """
    folder = Path(release).expanduser()
    name, at, named = release.partition("@")
    if at and revision is None and not folder.is_dir() and REPO_ID.fullmatch(name):
        release, revision = name, named
    if folder.is_dir() or not REPO_ID.fullmatch(release):
        if revision is not None:
            raise UsageError(
                f"revision={revision!r} goes with a release on the Hub, and {release!r} is none",
                do='give release="owner/name", or leave revision out',
            )
        return folder
    found = fetch(release, "dataset", revision, token=token)
    try:
        open_release(found.folder)
    except BundleError:
        found = fetch(release, "dataset", found.commit, token=token, again=True)
        open_release(found.folder)
    logger.info("release %s", found)
    return found.folder
