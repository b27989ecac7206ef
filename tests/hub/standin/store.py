"""Repositories, commits and files of the stand-in, on disk as JSON and content-named blobs."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TYPES = ("models", "datasets", "spaces")
ZERO = "0" * 40


@dataclass(frozen=True)
class Entry:
    """A file of a commit. `oid` is what git calls its blob; `lfs` is the SHA256 where the file is stored as LFS."""

    oid: str
    sha256: str
    size: int
    lfs: str | None


class Store:
    """Everything the stand-in remembers. One lock: the tests need order, not speed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = threading.RLock()
        (root / "blobs").mkdir(parents=True, exist_ok=True)

    def exists(self, kind: str, name: str) -> bool:
        """Return whether there is a repository."""
        return (self._folder(kind, name) / "repo.json").is_file()

    def create(self, kind: str, name: str, **settings: Any) -> None:
        """Make a repository with the first commit that the Hub makes too: a `.gitattributes`."""
        folder = self._folder(kind, name)
        (folder / "commits").mkdir(parents=True)
        (folder / "repo.json").write_text(json.dumps(settings))
        rules = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n*.whl filter=lfs diff=lfs merge=lfs -text\n"
        self.commit(kind, name, "main", "initial commit", {".gitattributes": self.add(rules, lfs=False)}, [], "system")

    def settings(self, kind: str, name: str) -> dict[str, Any]:
        """Return what the repository was made with: `private`, `sdk`."""
        values: dict[str, Any] = json.loads((self._folder(kind, name) / "repo.json").read_text())
        return values

    def names(self, kind: str) -> list[str]:
        """Return the repositories of a kind."""
        return sorted(
            path.parent.relative_to(self.root / kind).as_posix() for path in (self.root / kind).glob("*/*/repo.json")
        )

    def add(self, content: bytes, lfs: bool) -> Entry:
        """Keep a content and return its entry."""
        digest = hashlib.sha256(content).hexdigest()
        (self.root / "blobs" / digest).write_bytes(content)
        stored = content
        if lfs:
            text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
            stored = text.encode()
        oid = hashlib.sha1(b"blob %d\0" % len(stored) + stored).hexdigest()
        return Entry(oid, digest, len(content), digest if lfs else None)

    def blob(self, digest: str) -> bytes | None:
        """Return a content by its SHA256."""
        path = self.root / "blobs" / digest
        return path.read_bytes() if path.is_file() else None

    def commit(
        self, kind: str, name: str, branch: str, title: str, added: dict[str, Entry], deleted: list[str], author: str
    ) -> str:
        """Write a commit on top of a branch and return its id."""
        parent = self.resolve(kind, name, branch)
        files = dict(self.files(kind, name, parent)) if parent else {}
        for path in deleted:
            files = {
                key: value for key, value in files.items() if key != path and not key.startswith(f"{path.rstrip('/')}/")
            }
        files.update(added)
        body = {
            "parent": parent,
            "title": title,
            "author": author,
            "files": {key: vars(item) for key, item in files.items()},
        }
        text = json.dumps(body, sort_keys=True)
        sha = hashlib.sha1(text.encode()).hexdigest()
        folder = self._folder(kind, name)
        (folder / "commits" / f"{sha}.json").write_text(text)
        self.point(kind, name, branch, sha)
        return sha

    def point(self, kind: str, name: str, branch: str, sha: str) -> None:
        """Let a branch point at a commit."""
        path = self._folder(kind, name) / "branches.json"
        branches = self.branches(kind, name)
        branches[branch] = sha
        path.write_text(json.dumps(branches))

    def branches(self, kind: str, name: str) -> dict[str, str]:
        """Return branch names with their commits."""
        path = self._folder(kind, name) / "branches.json"
        return json.loads(path.read_text()) if path.is_file() else {}

    def resolve(self, kind: str, name: str, revision: str) -> str | None:
        """Return the commit of a branch or of a commit id."""
        found = self.branches(kind, name).get(revision)
        if found is None and (self._folder(kind, name) / "commits" / f"{revision}.json").is_file():
            found = revision
        return found

    def files(self, kind: str, name: str, sha: str) -> dict[str, Entry]:
        """Return the files of a commit."""
        body = json.loads((self._folder(kind, name) / "commits" / f"{sha}.json").read_text())
        return {key: Entry(**value) for key, value in body["files"].items()}

    def history(self, kind: str, name: str, branch: str = "main") -> list[str]:
        """Return the commits of a branch, newest first."""
        found, sha = [], self.resolve(kind, name, branch)
        while sha:
            found.append(sha)
            sha = json.loads((self._folder(kind, name) / "commits" / f"{sha}.json").read_text())["parent"]
        return found

    def read(self, kind: str, name: str, path: str, revision: str = "main") -> bytes:
        """Return a file's bytes; for a test that looks at what was published."""
        sha = self.resolve(kind, name, revision)
        assert sha is not None
        content = self.blob(self.files(kind, name, sha)[path].sha256)
        assert content is not None
        return content

    def _folder(self, kind: str, name: str) -> Path:
        return self.root / kind / name
