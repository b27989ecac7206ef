"""What would be published, complete before anything is sent: the same object is shown by a dry run and uploaded by a push."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

import trace_dataset
from hydrate.errors import LicensedTextError, UsageError
from trace_dataset.hub.cards import check_card
from trace_dataset.hub.files import PublishedFile, collect, refuse_secrets, sizes
from trace_dataset.hub.guard import Guard, unpacked
from trace_dataset.licence import licensed_files
from trace_dataset.release.local import Progress
from trace_dataset.remote import check_repo_id

MARKER = "trace.json"  # in every repository that this publisher made: what it is, and the SHA256 of its files
MARKER_FORMAT = 1


@dataclass(frozen=True)
class Publication:
    """Files that were validated and cleared, and where they go.

    Attributes:
        kind: `dataset`, `metric`, `baseline` or `leaderboard`.
        repo_id: `owner/name`.
        files: by their path in the repository.
        checks: what was validated, one line each.
        left_out: what of the folder does not go up.
    """

    kind: str
    repo_id: str
    files: Mapping[str, PublishedFile] = field(repr=False)
    checks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def repo_type(self) -> str:
        """What the Hub calls it."""
        return "dataset" if self.kind == "dataset" else "space"

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(file.size for file in self.files.values())

    def __str__(self) -> str:
        lines = [
            f"{self.repo_type} {self.repo_id} ({self.kind}): {len(self.files)} files, {self.size:,} bytes",
            sizes(self.files),
        ]
        lines += [f"  checked: {line}" for line in self.checks]
        if self.left_out:
            lines.append(f"  left out: {', '.join(self.left_out)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        return {
            "kind": self.kind,
            "repo_id": self.repo_id,
            "repo_type": self.repo_type,
            "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in self.files.values()],
            "checks": list(self.checks),
            "left_out": list(self.left_out),
        }


@dataclass(frozen=True)
class Push:
    """What a push did, or would have done.

    Attributes:
        commit: the repository's commit now; None after a dry run.
        changed: whether a commit was made.
    """

    publication: Publication
    commit: str | None = None
    url: str | None = None
    changed: bool = False

    def __str__(self) -> str:
        if self.commit is None:
            return f"{self.publication}\ndry run: nothing was sent"
        what = "pushed" if self.changed else "nothing to do, the repository holds exactly this:"
        return f"{self.publication}\n{what} {self.url} at commit {self.commit}"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON values."""
        return {**self.publication.to_json(), "commit": self.commit, "url": self.url, "changed": self.changed}


def assemble(
    kind: str,
    repo_id: str,
    name: str,
    files: Iterable[PublishedFile],
    *,
    guard: Guard,
    checks: Iterable[str] = (),
    left_out: Iterable[str] = (),
    token: str | None = None,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> Publication:
    """Return a publication whose files passed every check that needs no network, with the marker file added.

    Raises:
        UsageError: a name is not allowed, a secret stands in a file, or the card lacks required metadata.
        LicensedTextError: review text stands in a file.
    """
    check_repo_id(repo_id)
    by_path = {file.path: file for file in files}
    refuse_secrets(unpacked(by_path.values()), token or stored_token())
    if "README.md" not in by_path:
        raise UsageError(f"{repo_id} would have no card", do="add a README.md")
    check_card(by_path["README.md"].read().decode("utf-8"), kind, by_path)
    cleared = guard.clear(by_path.values(), progress)
    by_path[MARKER] = _marker(kind, name, by_path, about or {})
    return Publication(
        kind,
        repo_id,
        dict(sorted(by_path.items())),
        ("structure, names, sizes, secrets", "card metadata", *checks, f"leak guard: {cleared}"),
        tuple(left_out),
    )


def stored_token() -> str | None:
    """Return the token of the stored login or of HF_TOKEN."""
    from huggingface_hub import get_token

    found: str | None = get_token()
    return found


def folder_files(folder: Path) -> tuple[dict[str, PublishedFile], tuple[str, ...]]:
    """Return the files of a folder that may go up, and what is left out.

    Secrets, and reports that are marked as holding licensed text, are refused before anything is rendered or run.
    """
    files, left_out = collect(folder)
    marked = [path.relative_to(folder).as_posix() for path in licensed_files(folder)]
    if marked:
        raise LicensedTextError(
            f"{len(marked)} files are marked as holding licensed text, first {marked[0]}",
            do="take the report out, or write it again with `trace-dataset report … --no-text`; nothing was published",
        )
    refuse_secrets(files.values(), stored_token())
    return files, left_out


def _marker(kind: str, name: str, files: Mapping[str, PublishedFile], about: Mapping[str, Any]) -> PublishedFile:
    body = {
        "format": MARKER_FORMAT,
        "kind": kind,
        "name": name,
        "trace_dataset": trace_dataset.__version__,
        **about,
        "files": {path: file.sha256 for path, file in sorted(files.items())},
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return PublishedFile(MARKER, orjson.dumps(body, option=options))
