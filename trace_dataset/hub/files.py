"""What of a folder may go up: no link out of it, nothing too large, no secret, no name that the Hub would refuse."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hydrate.errors import BundleError, UsageError
from trace_dataset.release.manifest import file_sha256

LARGEST = 5 * 10**9  # bytes; what the Hub stores as one part
LEFT_OUT = ("__pycache__", ".git", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store")
SECRET_NAMES = re.compile(
    r"\.env(\..*)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)(\.pub)?|.*\.(pem|p12|pfx|key)",
    flags=re.I,
)
SECRETS = {
    "a Hugging Face token": rb"\bhf_[A-Za-z0-9]{20,}|\bapi_org_[A-Za-z0-9]{20,}",
    "an API key": rb"\bsk-[A-Za-z0-9_-]{20,}|\bAIza[A-Za-z0-9_-]{35}|\bAKIA[A-Z0-9]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a GitHub token": rb"\bgh[opsu]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}",
    "a private key": rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "a password or key": rb"(?i)(?:api[_-]?key|secret|passw(?:or)?d|(?:auth|access)[_-]?token)[\"']?\s*[:=]\s*[\"']"
    rb"(?=[^\"'\s]*\d)(?=[^\"'\s]*[a-z])[^\"'\s]{16,}[\"']",
}
SHOWN = 5


@dataclass(frozen=True)
class PublishedFile:
    """A file as it would stand in the repository: its path there, and its bytes or where they are.

    `size` (bytes) and `sha256` are taken when it is made; an upload of anything else is refused.
    """

    path: str
    source: bytes | Path
    size: int = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.source, bytes):
            size, sha256 = len(self.source), hashlib.sha256(self.source).hexdigest()
        else:
            size, sha256 = self.source.stat().st_size, file_sha256(self.source)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "sha256", sha256)

    def read(self) -> bytes:
        """Return the bytes."""
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()

    def git_oid(self) -> str:
        """Return what git calls the bytes, to compare with a repository without downloading it."""
        content = self.read()
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def collect(folder: Path) -> tuple[dict[str, PublishedFile], tuple[str, ...]]:
    """Return a folder's files by their path in it, and what is left out (caches, version control).

    Raises:
        UsageError: a link leads out of the folder, a file is larger than 5 GB, or its name is one of secrets or not allowed.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise UsageError(f"there is no folder {folder}", do="give the folder that is to be published")
    found: dict[str, PublishedFile] = {}
    left_out = []
    for parent, folders, names in os.walk(root, followlinks=False):
        for name in sorted([*folders, *names]):
            path = Path(parent) / name
            inside = path.relative_to(root).as_posix()
            if name in LEFT_OUT or name.endswith((".pyc", ".egg-info")):
                left_out.append(inside)
                if name in folders:
                    folders.remove(name)
                continue
            _check_link(path, root, inside)
            if path.is_dir() and not path.is_symlink():
                continue
            if path.is_dir():
                raise UsageError(f"{inside} is a link to a folder", do="replace it by the files themselves")
            _check_name(inside)
            size = path.stat().st_size
            if size > LARGEST:
                raise UsageError(
                    f"{inside} has {size:,} bytes, more than the {LARGEST:,} of a file on the Hub", do="split it"
                )
            found[inside] = PublishedFile(inside, path)
    return dict(sorted(found.items())), tuple(sorted(left_out))


def refuse_secrets(files: Iterable[PublishedFile], own_token: str | None = None) -> None:
    """Raise one `UsageError` that names the files and lines where something looks like a token or a password.

    Args:
        own_token: the token in use; it must not stand in any file, whatever it looks like.
    """
    patterns = dict(SECRETS)
    if own_token:
        patterns = {"the token in use": re.escape(own_token.encode()), **patterns}
    hits = []
    for file in files:
        content = file.read()
        for what, pattern in patterns.items():
            match = re.search(pattern, content)
            if match is not None:
                line = content.count(b"\n", 0, match.start()) + 1
                hits.append(f"{what} in {file.path}, line {line}")
                break
    if hits:
        raise UsageError(
            f"what looks like a secret stands in {len(hits)} of the files: {'; '.join(hits[:SHOWN])}",
            do="take it out, and withdraw it where it was issued; nothing was published",
        )


def sizes(files: Mapping[str, PublishedFile]) -> str:
    """Return one line a file: size and path."""
    return "\n".join(f"  {file.size:>13,}  {file.path}" for file in files.values())


def _check_link(path: Path, root: Path, inside: str) -> None:
    if not path.is_symlink():
        return
    target = path.resolve()
    if not target.exists():
        raise BundleError(f"{inside} is a link to nothing", do="remove it")
    if not target.is_relative_to(root):
        raise UsageError(
            f"{inside} is a link that leads out of the folder", do="replace it by the file itself, if it may be public"
        )


def _check_name(inside: str) -> None:
    name = inside.rsplit("/", 1)[-1]
    if SECRET_NAMES.fullmatch(name):
        raise UsageError(f"{inside} is a file for secrets", do="move it out of the folder; nothing was published")
    if not inside.isprintable() or "\\" in inside or not inside.isascii():
        raise UsageError(f"the file name {inside!r} is not allowed", do="use letters, digits, '.', '-' and '_'")
