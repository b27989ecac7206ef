"""The one place that talks to the Hugging Face Hub: names, patience, plain errors, and files at a pinned commit.

`huggingface_hub` is imported when something is asked of the Hub, not before. No message from here holds a token.
"""

from __future__ import annotations

import errno
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import sleep
from typing import Any, TypeVar

from hydrate.errors import StorageError, TraceError, UsageError

logger = logging.getLogger(__name__)

Value = TypeVar("Value")
PAUSES = (1.0, 2.0, 4.0, 8.0)  # seconds between tries
LONGEST_WAIT = 300.0  # seconds; a server that asks for more is an error
TRANSIENT = (408, 429, 500, 502, 503, 504)
REPO_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")  # what may be one; the Hub library knows the rest
TOKEN = re.compile(r"\b(?:hf|api_org)_[A-Za-z0-9_]{4,}|(?<=[Bb]earer )\S+")
LOGIN = "log in with `hf auth login`, set HF_TOKEN, or pass token=… (--token)"
LOCAL = {errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.ENOENT}


class HubError(TraceError):
    """The Hugging Face Hub could not be reached, or refused. `status` is the HTTP status, None where there was no answer."""

    status: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """Files of a repository at one commit, in the Hub library's cache."""

    repo_id: str
    commit: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.repo_id}@{self.commit}"


def check_repo_id(repo_id: str) -> str:
    """Return a repository's name, `owner/name`; raises `UsageError` for one that the Hub would not take."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    do = "use owner/name of letters, digits, '-', '_' and '.', such as me/my-idea"
    if not isinstance(repo_id, str) or repo_id.count("/") != 1 or not all(repo_id.split("/")):
        raise UsageError(f"{repo_id!r} is not the name of a repository", do=do)
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        reason = str(error).split(":")[0].rstrip(".")
        raise UsageError(f"{repo_id!r} is not a name that the Hub allows: {reason}", do=do) from None
    return repo_id


def fetch(
    repo_id: str,
    kind: str,
    revision: str | None = None,
    *,
    token: str | None = None,
    only: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    again: bool = False,
) -> Snapshot:
    """Download a repository's files and return them with the commit they belong to.

    A branch or tag is resolved once, so that all files are of one commit. Without a network the newest copy in the cache
    serves.

    Args:
        kind: `dataset` or `space`.
        only, without: patterns of paths to take, and to leave out.
        again: download what the cache holds already.

    Raises:
        HubError: the repository, the revision or the network is not there.
    """
    check_repo_id(repo_id)
    from huggingface_hub import snapshot_download

    def download() -> str:
        return str(
            snapshot_download(
                repo_id,
                repo_type=kind,
                revision=revision,
                token=token,
                force_download=again,
                allow_patterns=None if only is None else list(only),
                ignore_patterns=None if without is None else list(without),
            )
        )

    what = f"loading the {kind} {repo_id}" + (f" at {revision}" if revision else "")
    folder = Path(patiently(download, what, token))
    return Snapshot(repo_id, folder.name, folder)


def patiently(call: Callable[[], Value], what: str, token: str | None = None) -> Value:
    """Return what a call to the Hub gives; failures that pass are tried again, others become one `HubError`.

    `Retry-After` is obeyed up to five minutes.
    """
    for pause in (*PAUSES, None):
        try:
            return call()
        except TraceError:
            raise
        except failures() as error:
            pause_or_raise(error, what, pause, token)
    raise AssertionError("the last try returns or raises")


def pause_or_raise(error: Exception, what: str, pause: float | None, token: str | None = None) -> None:
    """Wait before the next try, or raise what the user is told.

    Args:
        pause: to take where the server asks for none; None allows no further try.
    """
    if isinstance(error, RuntimeError) and len(_chain(error)) == 1:
        raise error  # not about the Hub
    if getattr(error, "errno", None) in LOCAL:
        raise StorageError(f"{what} failed on this machine: {error}", do="free some space, or set HF_HOME") from error
    wait = _wait(error, pause)
    if wait is None:
        raise plain_error(error, what, token) from None
    logger.info("%s: %s, next try in %.0f s", what, _status(error) or "no answer", wait)
    sleep(wait)


def failures() -> tuple[type[Exception], ...]:
    """Return what a call to the Hub may end in: an answer that says no, a broken connection, an upload that failed."""
    from huggingface_hub.errors import HfHubHTTPError

    http_error: Any = HfHubHTTPError.__mro__[1]  # of httpx or of httpx2, by the library's version
    return (http_error, OSError, RuntimeError)


def plain_error(error: BaseException, what: str, token: str | None = None) -> HubError:
    """Return what happened as a `HubError` that says what to do and holds no token."""
    status = _status(error)
    said = next((str(item.server_message) for item in _chain(error) if getattr(item, "server_message", None)), "")
    names = {type(item).__name__ for item in _chain(error)}
    if names & {"LocalTokenNotFoundError"} or (status == 401 and "RepositoryNotFoundError" not in names):
        reason, do = "the Hub does not know who you are (no token, or an invalid one)", LOGIN
    elif names & {"RepositoryNotFoundError"} or (status == 404 and not names & {"RevisionNotFoundError"}):
        reason, do = (
            "there is no such repository, or your token may not see it",
            "check the name; for a private one, " + LOGIN,
        )
    elif names & {"RevisionNotFoundError"}:
        reason, do = "there is no such revision", "give a branch, a tag or a commit of the repository"
    elif status == 403:
        reason, do = "your token may not do this", "use a token with write access to that account or organisation"
    elif status == 402:
        reason, do = "the account's plan does not allow it", "make the repository public, or change the plan"
    elif status == 412:
        reason, do = "somebody else has committed to the repository meanwhile", "look at their commit, then push again"
    elif status == 413:
        reason, do = "the upload is larger than the Hub takes", "make the files smaller"
    elif status == 429:
        wait = _retry_after(error)
        reason = "the Hub asks for a pause" + (f" of {wait:.0f} s" if wait else "") + " (too many requests)"
        do = "wait, then run the same command again"
    elif status is not None:
        reason, do = f"the Hub answered {status}", "see https://status.huggingface.co, then run the same command again"
    else:
        reason, do = (
            "the Hub cannot be reached",
            "check the network, HF_ENDPOINT and HF_HUB_OFFLINE, then run the same command again",
        )
    found = HubError(f"{what} failed: {reason}{f' ({without_tokens(said, token)})' if said else ''}", do=do)
    found.status = status
    return found


def without_tokens(text: str, token: str | None = None) -> str:
    """Return a text in which nothing that looks like a token of the Hub is left, nor the one given."""
    if token:
        text = text.replace(token, "[token]")
    return TOKEN.sub("[token]", text)


def _chain(error: BaseException | None) -> list[Any]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _status(error: BaseException) -> int | None:
    for item in _chain(error):
        status = getattr(getattr(item, "response", None), "status_code", None)
        if status is not None:
            return int(status)
    return None


def _wait(error: BaseException, pause: float | None) -> float | None:
    """Return how many seconds to wait before the next try, None where there is to be none."""
    status = _status(error)
    if pause is None or (status is not None and status not in TRANSIENT):
        return None
    if status is None and any(type(item).__name__ == "OfflineModeIsEnabled" for item in _chain(error)):
        return None
    asked = _retry_after(error)
    if asked is None:
        return pause
    return None if asked > LONGEST_WAIT else asked


def _retry_after(error: BaseException) -> float | None:
    for item in _chain(error):
        value = getattr(getattr(item, "response", None), "headers", {}).get("Retry-After")
        if value is None:
            continue
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            continue
    return None
