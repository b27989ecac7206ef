"""The wheel that a baseline's Space installs: this very package, packed so that the same code gives the same bytes."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path

import trace_dataset
from hydrate.errors import StorageError, UsageError
from trace_dataset.hub.files import PublishedFile
from trace_dataset.installed import hub_path

NAME = "trace-dataset"
SOURCES = ("hydrate", "trace_dataset", "metrics", "baselines", "cards")
FILES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE")
EPOCH = (2026, 1, 1, 0, 0, 0)
INSTALLERS = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")  # written by the installer, not by the wheel


@functools.cache
def own_wheel() -> PublishedFile:
    """Return the wheel of the package that is running: packed from what is installed, or built from the checkout.

    Raises:
        UsageError: an installed file differs from its record, or the checkout does not build.
    """
    root = Path(trace_dataset.__file__).resolve().parent.parent
    if (root / "setup.cfg").is_file() and hub_path("metrics").parent == root:
        return _normalised(_built(root))
    try:
        return _packed(distribution(NAME))
    except PackageNotFoundError:
        raise UsageError(
            "trace-dataset runs from files that are neither an installation nor a checkout, so there is no wheel to publish",
            do="install it with pip, or name a released version with from_index=… (--from-index)",
        ) from None


def _packed(found: Distribution) -> PublishedFile:
    """Pack the installed files, each checked against the record that the installer left."""
    members: dict[str, bytes] = {}
    for file in found.files or []:
        path = str(file).replace("\\", "/")
        if path.startswith("..") or "__pycache__" in path or path.endswith(".pyc"):
            continue
        if path.split("/")[0].endswith(".dist-info") and path.split("/")[-1] in INSTALLERS:
            continue
        content = Path(str(file.locate())).read_bytes()
        if file.hash is not None and _hash(content) != f"{file.hash.mode}={file.hash.value}":
            raise UsageError(f"the installed file {path} was changed", do="install trace-dataset again")
        members[path] = content
    return _wheel(members, found.version)


def _built(root: Path) -> bytes:
    """Build the wheel from a copy of the sources, so that a stale `build/` adds nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        source, out = Path(scratch) / "source", Path(scratch) / "out"
        source.mkdir()
        for name in FILES:
            shutil.copy2(root / name, source / name)
        for name in SOURCES:
            shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(out), str(source)]
        if _builds_wheels():
            command.insert(5, "--no-build-isolation")
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise StorageError(
                f"the wheel of this checkout could not be built: {done.stderr[-800:].strip()}",
                do="install setuptools here, or name a released version with from_index=… (--from-index)",
            )
        [path] = out.glob("*.whl")
        return path.read_bytes()


def _builds_wheels() -> bool:
    """Return whether this environment builds wheels without fetching anything: older setuptools need the package `wheel`."""
    try:
        release = version("setuptools").split(".")
    except PackageNotFoundError:
        return False
    return importlib.util.find_spec("wheel") is not None or [int(part) for part in release[:2]] >= [70, 1]


def _normalised(wheel: bytes) -> PublishedFile:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith(("/", "/RECORD"))}
    metadata = next(content for name, content in members.items() if name.endswith(".dist-info/METADATA")).decode()
    version = next(line.split(": ")[1] for line in metadata.splitlines() if line.startswith("Version: "))
    return _wheel(members, version)


def _wheel(members: dict[str, bytes], version: str) -> PublishedFile:
    """Return a wheel of these members: sorted, with one date, and a record of its own."""
    info = next(name.split("/")[0] for name in members if name.split("/")[0].endswith(".dist-info"))
    record = "".join(f"{name},{_hash(content)},{len(content)}\n" for name, content in sorted(members.items()))
    members = {**dict(sorted(members.items())), f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return PublishedFile(f"trace_dataset-{version}-py3-none-any.whl", target.getvalue())


def _hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
