"""One digest everywhere: any Python, any hash seed, any number of workers give the same benchmark, byte for byte.

Other interpreters are looked for on the path (`python3.11` to `python3.13`) and in `TRACE_PYTHONS`, a list of interpreters
with the dependencies installed, separated by colons. Those that are missing, or lack a dependency, are skipped by name.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trace_dataset.release import build_release

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
CODE = """
import json, sys
from pathlib import Path
from trace_dataset.release import build_release
if __name__ == "__main__":
    manifest = build_release(sys.argv[1], sys.argv[2], n_dialogues=240, workers=int(sys.argv[3])).manifest
    print(json.dumps([manifest.content_digest, manifest.files, manifest.versions]))
"""
PROBE = (
    "import sys, datasets, pyarrow, numpy, rapidfuzz, orjson, isal, filelock, jinja2;"
    "print('%d.%d' % sys.version_info[:2], pyarrow.__version__)"
)


@pytest.fixture(scope="module")
def release(sample_bundle, tmp_path_factory):
    return build_release(sample_bundle, tmp_path_factory.mktemp("digest") / "release", n_dialogues=240)


@functools.cache
def interpreters() -> dict[str, tuple[str, str]]:
    """Return version to (interpreter, version of pyarrow) of those that can run a build."""
    found = {}
    named = [name for name in os.environ.get("TRACE_PYTHONS", "").split(":") if name]
    for path in [sys.executable, *named, *(shutil.which(f"python{version}") for version in PYTHONS)]:
        if path is None:
            continue
        done = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            version, arrow = done.stdout.split()
            found.setdefault(version, (path, arrow))
    return found


def build(
    python: str, bundle: Path, out: Path, workers: int = 1, hash_seed: str = "0"
) -> tuple[str, dict[str, str], dict[str, str]]:
    """Build in a process of its own, by a script, as a user would."""
    script = out.parent / f"{out.name}.py"
    script.write_text(CODE)
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [python, str(script), str(bundle), str(out), str(workers)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    digest, files, versions = json.loads(done.stdout.splitlines()[-1])
    return digest, files, versions


def same_files(release, files: dict[str, str], names: set[str] | None = None) -> None:
    assert set(files) == set(release.manifest.files)
    assert [name for name in names or files if files[name] != release.manifest.files[name]] == []


@pytest.mark.parametrize("version", PYTHONS)
def test_any_python_gives_the_same_digest(release, sample_bundle, tmp_path, version):
    found = interpreters().get(version)
    if found is None:
        pytest.skip(f"no Python {version} with the dependencies; name one in TRACE_PYTHONS")
    if found[0] == sys.executable:
        pytest.skip(f"this is Python {version}: the release to compare with was built by it")
    digest, files, versions = build(found[0], sample_bundle, tmp_path / "release")
    assert versions["python"].startswith(version)
    assert digest == release.manifest.content_digest
    same = {"schema.json"} if found[1] != release.manifest.versions["pyarrow"] else set(files) - {"DATASHEET.md"}
    if (
        files["DATASHEET.md"] != release.manifest.files["DATASHEET.md"]
    ):  # it names the version of trace-dataset, if installed
        assert versions["trace-dataset"] != release.manifest.versions["trace-dataset"]
    same_files(release, files, same)


@pytest.mark.parametrize(("hash_seed", "workers"), [("1", 1), ("4242", 2)])
def test_hash_seed_and_workers_change_no_byte(release, sample_bundle, tmp_path, hash_seed, workers):
    digest, files, _ = build(sys.executable, sample_bundle, tmp_path / "release", workers, hash_seed)
    assert digest == release.manifest.content_digest
    same_files(release, files)
