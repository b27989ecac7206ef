"""One commit, or none: a publication goes up whole, and the same content twice makes no second commit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import UsageError
from trace_dataset.hub.publication import MARKER, Publication, Push, stored_token
from trace_dataset.remote import LOGIN, PAUSES, HubError, failures, patiently, pause_or_raise

FRESH = {".gitattributes", "README.md"}  # all that a repository made on the website holds


@dataclass(frozen=True)
class Options:
    """How to push.

    Attributes:
        private: make a new repository private; an existing public one is then refused.
        revision: a branch, made if missing; None is `main`.
        token: None takes HF_TOKEN or the stored login.
        replace: put the files in place of whatever a repository of the same name holds.
    """

    dry_run: bool = False
    private: bool = False
    revision: str | None = None
    token: str | None = None
    replace: bool = False


def push(publication: Publication, options: Options) -> Push:
    """Send a publication; a dry run sends nothing.

    Raises:
        UsageError: there is no token, or the repository holds something that this publisher did not put there.
        HubError: the Hub refused or could not be reached.
    """
    if options.dry_run:
        return Push(publication)
    token = options.token or stored_token()
    if not token:
        raise UsageError("there is no token of the Hugging Face Hub to push with", do=LOGIN)
    return _Pusher(publication, options, token).run()


class _Pusher:
    def __init__(self, publication: Publication, options: Options, token: str) -> None:
        from huggingface_hub import HfApi

        self.publication, self.options, self.token = publication, options, token
        self.api = HfApi(token=token)
        self.revision = options.revision or "main"
        self.where: dict[str, Any] = {"repo_id": publication.repo_id, "repo_type": publication.repo_type}
        self.what = f"pushing {publication.repo_id}"

    def run(self) -> Push:
        self._create()
        for pause in (*PAUSES, None):
            head = self._head()
            operations = self._operations(head)
            if not operations:  # nothing to do, or the answer to the last try was lost on the way
                return Push(self.publication, head, self._url(), pause != PAUSES[0])
            try:
                return Push(self.publication, self._commit(operations, head), self._url(), True)
            except failures() as error:
                failure = error
            try:
                pause_or_raise(failure, self.what, pause, self.token)
            except HubError as refused:
                if refused.status != 412 or self._operations(self._head()):
                    raise  # or else the commit that is in the way is our own, whose answer was lost
        raise AssertionError("the last try returns or raises")

    def _create(self) -> None:
        sdk = "gradio" if self.publication.repo_type == "space" else None
        private = True if self.options.private else None
        self._ask(lambda: self.api.create_repo(**self.where, private=private, exist_ok=True, space_sdk=sdk))
        info = self._ask(lambda: self.api.repo_info(**self.where))
        if self.options.private and not info.private:
            raise UsageError(
                f"{self.publication.repo_id} exists and is public",
                do="make it private on the Hub first, or leave --private out",
            )
        if self.options.revision:
            self._ask(lambda: self.api.create_branch(**self.where, branch=self.revision, exist_ok=True))

    def _head(self) -> str:
        return str(self._ask(lambda: self.api.repo_info(**self.where, revision=self.revision)).sha)

    def _operations(self, head: str) -> list[Any]:
        """Return what differs between the repository and the publication, and refuse to overwrite what is not ours."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete
        from huggingface_hub.hf_api import RepoFile

        listed = self._ask(lambda: list(self.api.list_repo_tree(**self.where, revision=head, recursive=True)))
        there = {item.path: item for item in listed if isinstance(item, RepoFile)}
        ours = self._ours(head) if MARKER in there else set()
        strangers = set(there) - FRESH - ours
        if strangers and not ours and not self.options.replace:
            raise UsageError(
                f"{self.publication.repo_id} exists and holds something else ({', '.join(sorted(strangers)[:3])})",
                do="choose another name, or pass replace=True (--replace) to put these files in its place",
            )
        gone = (ours | (strangers if self.options.replace else set())) & set(there) - set(self.publication.files)
        adds = []
        for path, file in self.publication.files.items():
            if path in there and _same(there[path], file):
                continue
            source = str(file.source) if isinstance(file.source, Path) else file.source
            add = CommitOperationAdd(path, source)
            if add.upload_info.sha256.hex() != file.sha256:
                raise UsageError(f"{path} changed while it was being published", do="push again")
            adds.append(add)
        return adds + [CommitOperationDelete(path) for path in sorted(gone)]

    def _ours(self, head: str) -> set[str]:
        """Return the paths that an earlier push put into the repository."""

        def read() -> bytes:
            return Path(self.api.hf_hub_download(**self.where, filename=MARKER, revision=head)).read_bytes()

        try:
            values = orjson.loads(self._ask(read))
            paths, kind = {MARKER, *values["files"]}, values["kind"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return set()
        if kind != self.publication.kind and not self.options.replace:
            raise UsageError(
                f"{self.publication.repo_id} holds a {kind}, not a {self.publication.kind}",
                do="choose another name, or pass replace=True (--replace)",
            )
        return paths

    def _commit(self, operations: list[Any], head: str) -> str:
        title = f"{self.publication.kind} {self.publication.repo_id.split('/')[1]}, {len(self.publication.files)} files"
        try:
            made = self.api.create_commit(
                **self.where, operations=operations, commit_message=title, revision=self.revision, parent_commit=head
            )
        except ValueError as error:
            if not str(error).startswith("Invalid metadata"):
                raise
            raise UsageError(
                f"the Hub refuses the card: {str(error).split(chr(10), 1)[-1]}", do="mend README.md"
            ) from None
        return str(made.oid)

    def _url(self) -> str:
        prefix = "datasets" if self.publication.repo_type == "dataset" else "spaces"
        return f"{self.api.endpoint}/{prefix}/{self.publication.repo_id}"

    def _ask(self, call: Any) -> Any:
        return patiently(call, self.what, self.token)


def _same(there: Any, file: Any) -> bool:
    if there.size != file.size:
        return False
    if there.lfs is not None:
        return bool(there.lfs.sha256 == file.sha256)
    return bool(there.blob_id == file.git_oid())
