"""SIGKILL, and several processes at once: what is left behind is never taken for a whole output, and the next run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hydrate
from hydrate import hydrate_path
from hydrate.tables import read_rows
from tests.hydrate import releases
from tests.hydrate.helpers import tables, write_bundle

ROOT = Path(__file__).parents[2]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return releases.write_release(tmp_path / "release")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "bundle", "zip+tgz")


def killed(program: str, *arguments: Path) -> None:
    """Run a program that kills itself."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    run = subprocess.run(command, cwd=ROOT, timeout=60, check=False, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr


@pytest.mark.parametrize("point", ["write_rows", "copyfile", "_to_disk", "replace", "chmod"])
def test_killed_at_any_point_there_is_no_half_output_and_the_next_run_finishes(
    point: str, release: Path, bundle: Path, tmp_path: Path
) -> None:
    program = f"""
import os, shutil, signal, sys, pathlib, hydrate.paths, hydrate.writing
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
owner = {{"write_rows": hydrate.paths, "copyfile": shutil, "_to_disk": hydrate.writing}}.get({point!r}, pathlib.Path)
setattr(owner, "rename" if {point!r} == "replace" else {point!r}, die)
hydrate.hydrate_path(sys.argv[1], sys.argv[2], sys.argv[3])
"""
    killed(program, release, bundle, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert hydrate_path(release, bundle, tmp_path / "out").ok


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_killed_while_it_scans(share: float, release: Path, tmp_path: Path) -> None:
    big = write_bundle(tmp_path / "big", "folder", tables(6000))
    program = f"""
import functools, os, signal, sys, hydrate, hydrate.bundle
scan, fork = hydrate.bundle.scan_range, os.fork
def noting():
    process = fork()
    if process:
        open(sys.argv[4], "w").write(str(process))
    return process
def die(done, total):
    if done > {share} * total:
        os.kill(os.getpid(), signal.SIGKILL)
os.fork = noting
hydrate.bundle.scan_range = functools.partial(scan, chunk=20_000, helper_pays=0)
hydrate.hydrate_path(sys.argv[1], sys.argv[2], sys.argv[3], progress=die)
"""
    killed(program, release, big, tmp_path / "out", tmp_path / "helper")
    assert not (tmp_path / "out").exists()
    assert ends(int((tmp_path / "helper").read_text())), "the helper outlives the process that started it"
    assert hydrate_path(release, big, tmp_path / "out").ok


def ends(process: int, within: float = 20) -> bool:
    """Return whether a process is gone, or only waits to be collected, within some seconds."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("handle", [True, False])
@pytest.mark.parametrize("habit", ["ignores", "collects", "kills"])
def test_a_program_with_its_own_way_with_children(habit: str, handle: bool, release: Path, tmp_path: Path) -> None:
    big = write_bundle(tmp_path / "big", "folder", tables(3000))
    program = f"""
import functools, os, signal, sys, time, hydrate, hydrate.bundle, hydrate.scan
def collect(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
fork = os.fork
def forking():
    process = fork()
    if process and {habit!r} == "kills":
        os.kill(process, signal.SIGKILL)
        time.sleep(0.2)
    return process
os.fork = forking
signal.signal(signal.SIGCHLD, signal.SIG_IGN if {habit!r} == "ignores" else collect)
if not {handle}:
    hydrate.scan._handle_of = lambda process: None
hydrate.bundle.scan_range = functools.partial(hydrate.bundle.scan_range, chunk=20_000, helper_pays=0)
assert hydrate.hydrate_path(*sys.argv[1:]).counts["verified"] == 20
"""
    command = [sys.executable, "-c", program, str(release), str(big)]
    subprocess.run(command, cwd=ROOT, timeout=60, check=True)


@pytest.mark.parametrize("point", ["write_text", "_to_disk", "replace"])
def test_killed_while_it_remembers_a_fingerprint(point: str, bundle: Path, tmp_path: Path) -> None:
    program = f"""
import os, signal, sys, pathlib, hydrate.writing
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(hydrate.writing if {point!r} == "_to_disk" else pathlib.Path, {point!r}, die)
hydrate.open_bundle(sys.argv[1]).fingerprint()
"""
    killed(program, bundle)
    assert not list((tmp_path / "cache").rglob("*.json"))
    assert hydrate.open_bundle(bundle).fingerprint().tables["review"].rows == 50


def test_what_a_killed_run_leaves_is_kept_from_being_published(release: Path, bundle: Path, tmp_path: Path) -> None:
    program = """
import os, signal, sys, hydrate.writing
hydrate.writing._to_disk = lambda file: os.kill(os.getpid(), signal.SIGKILL)
hydrate.hydrate_path(*sys.argv[1:])
"""
    killed(program, release, bundle, tmp_path / "out")
    (left,) = tmp_path.glob(".out.*")
    assert (left / ".gitignore").read_text().endswith("\n*\n")


def test_two_processes_that_write_one_output(release: Path, bundle: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "hydrate",
        str(release),
        "--bundle",
        str(bundle),
        "--out",
        str(tmp_path / "out"),
        "--quiet",
    ]
    runs = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ})
        for _ in range(2)
    ]
    errors = [run.communicate(timeout=60)[1].decode() for run in runs]
    codes = sorted(run.returncode for run in runs)
    assert codes[0] == 0
    assert all(not error or error.startswith("error: ") for error in errors)
    assert len(read_rows(tmp_path / "out/dialogues/train.parquet")) == 14
