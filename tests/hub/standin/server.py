"""The HTTP side of the stand-in: what `huggingface_hub`, `datasets` and `evaluate` ask for, and nothing more."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from .faults import Fault
from .store import TYPES, Entry, Store

ID = r"(?P<id>[\w.-]+/[\w.-]+)"
KIND = rf"(?P<kind>{'|'.join(TYPES)})"
PREFIX = r"(?:(?P<kind>datasets|spaces)/)?"


@dataclass(frozen=True)
class Token:
    """Who a token stands for, and what it may do."""

    user: str
    role: str = "write"
    orgs: tuple[str, ...] = ()

    def may_write(self, repo: str) -> bool:
        """Return whether the holder may write into a repository."""
        return self.role == "write" and repo.split("/")[0] in (self.user, *self.orgs)


@dataclass(frozen=True)
class Seen:
    """A request that came in."""

    method: str
    path: str
    status: int
    authorised: bool


class Answer(Exception):
    """Ends a request with a status, a body and headers."""

    def __init__(self, status: int, body: Any = b"", code: str = "", **headers: str) -> None:
        super().__init__(status)
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if code:
            self.headers["X-Error-Code"] = code


@dataclass
class Hub:
    """A running stand-in; use it as a context manager.

    Example:
        >>> with Hub(Path("hub"), {"hf_me": Token("me")}) as hub:  # doctest: +SKIP
        ...     HfApi(endpoint=hub.url, token="hf_me").whoami()["name"]
        'me'
    """

    root: Path
    tokens: dict[str, Token] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    log: list[Seen] = field(default_factory=list)

    def __enter__(self) -> Hub:
        self.store = Store(self.root)
        handler = type("Bound", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(self, match: str, status: int = 500, **options: Any) -> Fault:
        """Switch a fault on and return it; it counts what it struck."""
        fault = Fault(match, status, **options)
        self.faults.append(fault)
        return fault

    def requests(self, match: str) -> list[Seen]:
        """Return the requests so far that match a regular expression over "METHOD /path"."""
        return [item for item in self.log if re.search(match, f"{item.method} {item.path}")]

    def commits(self, kind: str, name: str, branch: str = "main") -> int:
        """Return how many commits were made in a repository after its first."""
        return len(self.store.history(kind, name, branch)) - 1 if self.store.exists(kind, name) else 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet; `Hub.log` has it all."""

    def _serve(self) -> None:
        self.url = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(self.url.query).items()}
        request = f"{self.command} {unquote(self.url.path)}"
        fault = next((item for item in self.hub.faults if item.takes(request)), None)
        if fault is not None and fault.drop == "during":
            self.rfile.read(min(64, int(self.headers.get("Content-Length") or 0)))
            self._close(0)
            return
        self.body = self._read()
        try:
            if fault is not None and not fault.drop:
                raise Answer(fault.status, fault.body, **fault.headers)
            with self.hub.store.lock:
                self._route()
            raise Answer(404, {"error": "no such endpoint"})
        except Answer as answer:
            if fault is not None and fault.drop == "after":
                self._close(answer.status)
                return
            self._send(answer)

    def _close(self, status: int) -> None:
        self._note(status)
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: Answer) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self._note(answer.status)
        self.send_response(answer.status)
        headers = {"Content-Type": "application/octet-stream" if isinstance(answer.body, bytes) else "application/json"}
        headers |= answer.headers
        headers.setdefault("Content-Length", str(len(body)))
        if answer.status >= 400 and isinstance(answer.body, dict) and "error" in answer.body:
            headers["X-Error-Message"] = str(answer.body["error"])
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _note(self, status: int) -> None:
        self.hub.log.append(Seen(self.command, unquote(self.url.path), status, self._token() is not None))

    def _token(self) -> Token | None:
        return self.hub.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))

    def _route(self) -> None:
        path = unquote(self.url.path)
        for method, pattern, action in ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command in method.split():
                named = match.groupdict()
                if "id" in named:
                    named["kind"] = named.get("kind") or "models"
                action(self, **named)

    # who, and what repositories there are

    def whoami(self) -> None:
        token = self._writer()
        orgs = [{"type": "org", "name": name} for name in token.orgs]
        access = {"displayName": "test", "role": token.role}
        raise Answer(200, {"type": "user", "name": token.user, "orgs": orgs, "auth": {"accessToken": access}})

    def create(self) -> None:
        wanted = json.loads(self.body)
        token = self._writer()
        name = f"{wanted.get('organization') or token.user}/{wanted['name']}"
        kind = f"{wanted.get('type') or 'model'}s"
        if not token.may_write(name):
            raise Answer(403, {"error": f"You don't have the rights to create a {kind[:-1]} under this namespace"})
        url = f"{self.hub.url}/{'' if kind == 'models' else kind + '/'}{name}"
        if self.hub.store.exists(kind, name):
            raise Answer(409, {"error": "You already created this repo", "url": url})
        if kind == "spaces" and wanted.get("sdk") not in ("gradio", "docker", "static", "streamlit"):
            raise Answer(400, {"error": "sdk is required"})
        private = wanted.get("private") or wanted.get("visibility") == "private"
        self.hub.store.create(kind, name, private=bool(private), sdk=wanted.get("sdk"))
        raise Answer(200, {"url": url, "name": name, "id": name})

    def listing(self, kind: str) -> None:
        author, wanted = self.query.get("author"), self.query.get("filter")
        found = [self._info(kind, name) for name in self.hub.store.names(kind)]
        raise Answer(
            200,
            [
                item
                for item in found
                if (author is None or item["author"] == author) and (wanted is None or wanted in item["tags"])
            ],
        )

    def info(self, kind: str, id: str, revision: str = "main") -> None:
        self._readable(kind, id)
        self._commit_of(kind, id, revision)
        raise Answer(200, self._info(kind, id, revision))

    def _info(self, kind: str, id: str, revision: str = "main") -> dict[str, Any]:
        sha = self._commit_of(kind, id, revision)
        files = self.hub.store.files(kind, id, sha)
        card = _front_matter(self.hub.store.read(kind, id, "README.md", sha)) if "README.md" in files else {}
        settings = self.hub.store.settings(kind, id)
        date = "2026-01-01T00:00:00.000Z"
        return {
            "_id": id,
            "id": id,
            "author": id.split("/")[0],
            "sha": sha,
            "private": settings["private"],
            "sdk": settings.get("sdk"),
            "tags": card.get("tags") or [],
            "cardData": card,
            "lastModified": date,
            "createdAt": date,
            "siblings": [{"rfilename": path} for path in sorted(files)],
            "likes": 0,
            "downloads": 0,
            "gated": False,
            "disabled": False,
        }

    def refs(self, kind: str, id: str) -> None:
        self._readable(kind, id)
        branches = self.hub.store.branches(kind, id)
        found = [{"name": name, "ref": f"refs/heads/{name}", "targetCommit": sha} for name, sha in branches.items()]
        raise Answer(200, {"branches": found, "converts": [], "tags": []})

    def history(self, kind: str, id: str, revision: str) -> None:
        self._readable(kind, id)
        commits = self.hub.store.history(kind, id, revision)
        raise Answer(
            200,
            [
                {"id": sha, "title": "", "message": "", "authors": [], "date": "2026-01-01T00:00:00.000Z"}
                for sha in commits
            ],
        )

    def branch(self, kind: str, id: str, revision: str) -> None:
        self._writable(kind, id)
        if revision in self.hub.store.branches(kind, id):
            raise Answer(409, {"error": "Reference already exists"})
        start = (json.loads(self.body or b"{}") or {}).get("startingPoint") or "main"
        self.hub.store.point(kind, id, revision, self._commit_of(kind, id, start))
        raise Answer(200, {})

    # reading

    def tree(self, kind: str, id: str, revision: str, folder: str = "") -> None:
        self._readable(kind, id)
        files = self.hub.store.files(kind, id, self._commit_of(kind, id, revision))
        under = f"{folder}/" if folder else ""
        inside = {path: item for path, item in files.items() if path.startswith(under)}
        if folder and not inside:
            raise Answer(404, {"error": f"{folder} does not exist"}, code="EntryNotFound")
        deep = self.query.get("recursive", "").lower() in ("true", "1")
        rows, folders = [], set()
        for path, item in sorted(inside.items()):
            parts = path.removeprefix(under).split("/")
            folders |= {
                under + "/".join(parts[:depth]) for depth in range(1, len(parts) if deep else min(2, len(parts)))
            }
            if deep or len(parts) == 1:
                rows.append({"type": "file", "path": path, "size": item.size, "oid": item.oid, **_lfs(item)})
        raise Answer(
            200, [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in sorted(folders)] + rows
        )

    def resolve(self, kind: str, id: str, revision: str, path: str) -> None:
        self._readable(kind, id)
        sha = self._commit_of(kind, id, revision)
        item = self.hub.store.files(kind, id, sha).get(path)
        if item is None:
            raise Answer(404, {"error": "Entry not found"}, code="EntryNotFound", X_Repo_Commit=sha)
        content = self.hub.store.blob(item.sha256)
        assert content is not None
        headers = {"X-Repo-Commit": sha, "ETag": f'"{item.lfs or item.oid}"', "Accept-Ranges": "bytes"}
        if item.lfs:
            headers |= {"X-Linked-Etag": f'"{item.lfs}"', "X-Linked-Size": str(item.size)}
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted and wanted[1]:
            first, last = int(wanted[1]), min(int(wanted[2] or item.size - 1), item.size - 1)
            if first >= item.size:
                raise Answer(416, b"", Content_Range=f"bytes */{item.size}")
            headers["Content-Range"] = f"bytes {first}-{last}/{item.size}"
            raise Answer(206, content[first : last + 1], **headers)
        if self.command == "HEAD":
            headers["Content-Length"] = str(item.size)
        raise Answer(200, content, **headers)

    # writing

    def validate(self) -> None:
        try:
            _front_matter(json.loads(self.body)["content"].encode(), strict=True)
        except ValueError as error:
            raise Answer(400, {"errors": [{"message": str(error)}], "warnings": []}) from None
        raise Answer(200, {"errors": [], "warnings": []})

    def preupload(self, kind: str, id: str, revision: str) -> None:
        self._writable(kind, id)
        there = self.hub.store.files(kind, id, self._commit_of(kind, id, revision))
        rows = []
        for file in json.loads(self.body)["files"]:
            mode = (
                "lfs"
                if file["path"].endswith((".parquet", ".whl", ".zip", ".png")) or file["size"] > 10_000_000
                else "regular"
            )
            known = there.get(file["path"])
            rows.append(
                {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": known.oid if known else None}
            )
            if known and known.lfs:
                rows[-1]["oid"] = known.lfs
        raise Answer(200, {"files": rows, "commitOid": self._commit_of(kind, id, revision)})

    def lfs_batch(self, kind: str, id: str) -> None:
        self._writable(kind, id)
        rows = []
        for item in json.loads(self.body)["objects"]:
            row = {"oid": item["oid"], "size": item["size"]}
            if self.hub.store.blob(item["oid"]) is None:
                row["actions"] = {"upload": {"href": f"{self.hub.url}/lfs/{item['oid']}", "header": {}}}
            rows.append(row)
        raise Answer(200, {"transfer": "basic", "objects": rows})

    def lfs_put(self, oid: str) -> None:
        if self.hub.store.add(self.body, lfs=True).sha256 != oid:
            raise Answer(400, {"error": "the content is not what its name says"})
        raise Answer(200)

    def commit(self, kind: str, id: str, revision: str) -> None:
        token = self._writable(kind, id)
        added: dict[str, Entry] = {}
        deleted: list[str] = []
        header: dict[str, Any] = {}
        for line in self.body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                header = value
            elif item["key"] == "file":
                added[value["path"]] = self.hub.store.add(base64.b64decode(value["content"]), lfs=False)
            elif item["key"] == "lfsFile":
                content = self.hub.store.blob(value["oid"])
                if content is None:
                    raise Answer(422, {"error": f"LFS object {value['oid']} was never uploaded"})
                added[value["path"]] = self.hub.store.add(content, lfs=True)
            else:
                deleted.append(value["path"])
        head = self._commit_of(kind, id, revision)
        if header.get("parentCommit") not in (None, head):
            raise Answer(412, {"error": "A commit has happened since. Please refresh and try again."})
        sha = self.hub.store.commit(kind, id, revision, header["summary"], added, deleted, token.user)
        url = f"{self.hub.url}/{'' if kind == 'models' else kind + '/'}{id}/commit/{sha}"
        raise Answer(
            200, {"success": True, "commitOid": sha, "commitUrl": url, "hookOutput": "", "pullRequestUrl": None}
        )

    # who may do what

    def _writer(self) -> Token:
        token = self._token()
        if token is None:
            raise Answer(401, {"error": "Invalid username or password."})
        return token

    def _readable(self, kind: str, id: str) -> None:
        token = self._token()
        hidden = self.hub.store.exists(kind, id) and self.hub.store.settings(kind, id)["private"]
        if not self.hub.store.exists(kind, id) or (
            hidden and (token is None or id.split("/")[0] not in (token.user, *token.orgs))
        ):
            raise Answer(401 if token is None else 404, {"error": "Repository not found"}, code="RepoNotFound")

    def _writable(self, kind: str, id: str) -> Token:
        token = self._writer()
        self._readable(kind, id)
        if not token.may_write(id):
            raise Answer(403, {"error": "Your token has no write access to this repository"})
        return token

    def _commit_of(self, kind: str, id: str, revision: str) -> str:
        sha = self.hub.store.resolve(kind, id, revision)
        if sha is None:
            raise Answer(404, {"error": f"Invalid rev id: {revision}"}, code="RevisionNotFound")
        return sha


def _lfs(item: Entry) -> dict[str, Any]:
    return {"lfs": {"oid": item.lfs, "size": item.size, "pointerSize": 130}} if item.lfs else {}


def _front_matter(content: bytes, strict: bool = False) -> dict[str, Any]:
    match = re.match(r"---\r?\n(.*?)\r?\n---(\r?\n|$)", content.decode(), flags=re.S)
    if match is None:
        return {}
    try:
        values = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        if strict:
            raise ValueError(f"the YAML does not parse: {type(error).__name__}") from None
        return {}
    if not isinstance(values, dict):
        raise ValueError("the YAML is no mapping")
    if (
        strict
        and "colorFrom" in values
        and values["colorFrom"] not in "red yellow green blue indigo purple pink gray".split()
    ):
        raise ValueError('"colorFrom" must be one of [red, yellow, green, blue, indigo, purple, pink, gray]')
    return values


ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("GET", "/api/whoami-v2", _Handler.whoami),
    ("POST", "/api/repos/create", _Handler.create),
    ("POST", "/api/validate-yaml", _Handler.validate),
    ("GET", rf"/api/{KIND}", _Handler.listing),
    ("GET", rf"/api/{KIND}/{ID}", _Handler.info),
    ("GET", rf"/api/{KIND}/{ID}/revision/(?P<revision>.+)", _Handler.info),
    ("GET", rf"/api/{KIND}/{ID}/refs", _Handler.refs),
    ("GET", rf"/api/{KIND}/{ID}/commits/(?P<revision>.+)", _Handler.history),
    ("POST", rf"/api/{KIND}/{ID}/branch/(?P<revision>.+)", _Handler.branch),
    ("GET", rf"/api/{KIND}/{ID}/tree/(?P<revision>[^/]+)", _Handler.tree),
    ("GET", rf"/api/{KIND}/{ID}/tree/(?P<revision>[^/]+)/(?P<folder>.+)", _Handler.tree),
    ("POST", rf"/api/{KIND}/{ID}/preupload/(?P<revision>.+)", _Handler.preupload),
    ("POST", rf"/api/{KIND}/{ID}/commit/(?P<revision>.+)", _Handler.commit),
    ("POST", rf"/{PREFIX}{ID}\.git/info/lfs/objects/batch", _Handler.lfs_batch),
    ("PUT", r"/lfs/(?P<oid>\w+)", _Handler.lfs_put),
    ("GET HEAD", rf"/{PREFIX}{ID}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", _Handler.resolve),
]
