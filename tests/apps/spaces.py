"""Spaces as the publisher lays them out, and processes that serve them and may reach nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trace_dataset.hub.metrics import lay_out, widgets
from trace_dataset.installed import hub_path, render

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ATTACK = '<img src=x onerror="window.hit=1"><script>window.hit=2</script> ${window.hit=3} {{7*7}} "quiet patio" [R1]'
STRANGERS = {
    "longest_name": "return sorted(turn.pool, key=lambda place: (-len(self.kb.pois[place].name), place))",
    "raises": 'raise RuntimeError("<script>document.title = 1</script> of no use")',
    "does_not_import": "return no such",
}


def metric_space(folder: Path, name: str) -> Path:
    """Write the Space of a metric: nothing in it needs this project."""
    source = hub_path("metrics", name)
    folder.mkdir(parents=True)
    for path, content in lay_out(name, source).items():
        (folder / path).write_bytes(content)
    shutil.copy(source / "README.md", folder)
    _rendered(folder, "metric", name=name, extra=(), gradio="6.31.0")
    return _with_widgets(folder)


def baseline_space(folder: Path, source: Path, requirement: str = "trace-dataset[app]") -> Path:
    """Write the Space of a baseline from its folder."""
    folder.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    _rendered(folder, "baseline", name=source.name, requirement=requirement, own=(), wheel=None)
    return folder


def leaderboard_space(folder: Path, data: Any) -> Path:
    """Write the Space of the leaderboard."""
    folder.mkdir(parents=True)
    (folder / "leaderboard.json").write_text(json.dumps(data))
    digest = hashlib.sha256((folder / "leaderboard.json").read_bytes()).hexdigest()
    (folder / "trace.json").write_text(json.dumps({"kind": "leaderboard", "files": {"leaderboard.json": digest}}))
    _rendered(folder, "leaderboard")
    return _with_widgets(folder)


def _rendered(folder: Path, kind: str, **values: Any) -> None:
    (folder / "app.py").write_text(render(f"{kind}_app.py.jinja", **values))
    (folder / "requirements.txt").write_text(render(f"{kind}_requirements.txt.jinja", **values))


def _with_widgets(folder: Path) -> Path:
    for path, text in widgets().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return folder


@dataclass
class Served:
    """A process that serves Spaces: their addresses by the folder's name, and the file of hosts it tried to reach."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]
    requests: Path

    def reached(self) -> list[str]:
        """Return the hosts that the process tried to reach."""
        return self.requests.read_text().split() if self.requests.exists() else []

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(20)


def environment(scratch: Path, *, ours: bool | None, **more: str) -> dict[str, str]:
    """Return the environment of a Space's process, with caches of its own and no way out.

    Args:
        ours: whether this checkout is put on the path; False forbids this project, None takes what is installed.
    """
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("TRACE_", "HF_", "GRADIO", "PYTHONPATH"))
    }
    path = [str(HERE / "guard"), *([str(ROOT)] if ours else [])]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path),
        "HF_HOME": str(scratch / "hf"),
        "HOME": str(scratch),
        "TRACE_TEST_REQUESTS": str(scratch / "requests.txt"),
        "TRACE_TEST_FORBIDDEN": "trace_dataset,hydrate" if ours is False else "",
        "TRACE_SPACE_PLACES": "192",
        "GRADIO_SERVER_NAME": "127.0.0.1",
        **more,
    }


def serve_many(scratch: Path, folders: list[Path], *, ours: bool) -> Served:
    """Serve several Spaces from one process."""
    arguments = [sys.executable, str(HERE / "many.py"), str(free_ports(len(folders))), *map(str, folders)]
    scratch.mkdir(parents=True, exist_ok=True)
    log = (scratch / "log.txt").open("w")
    process = subprocess.Popen(
        arguments,
        env=environment(scratch, ours=ours),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("READY "):
            found = {Path(folder).name: address for folder, address in json.loads(line[6:]).items()}
            return Served(process, found, scratch / "requests.txt")
    pytest.fail("the Spaces did not start:\n" + (scratch / "log.txt").read_text()[-3000:])


def serve_one(scratch: Path, folder: Path, python: str, *, ours: bool | None = False) -> Served:
    """Serve a Space as its owner would: `python app.py` in its folder."""
    port = free_ports(1)
    settings = environment(scratch, ours=ours, GRADIO_SERVER_PORT=str(port))
    log = (scratch / "log.txt").open("w")
    process = subprocess.Popen(
        [python, "app.py"], cwd=folder, env=settings, stdin=subprocess.PIPE, stdout=log, stderr=log, text=True
    )
    served = Served(process, {folder.name: f"http://127.0.0.1:{port}/"}, scratch / "requests.txt")
    for _ in range(600):
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return served
        time.sleep(0.1)
    served.stop()
    pytest.fail("the Space did not start:\n" + (scratch / "log.txt").read_text()[-3000:])


def free_ports(count: int) -> int:
    """Return the first of some ports in a row that nobody uses."""
    for start in range(20_000 + os.getpid() % 10_000, 60_000, max(count, 7)):
        taken = False
        for port in range(start, start + count):
            with socket.socket() as probe:
                taken = taken or probe.connect_ex(("127.0.0.1", port)) == 0
        if not taken:
            return start
    raise RuntimeError("no free ports")


def stranger(folder: Path, name: str, line: str) -> Path:
    """Write the folder of a baseline with one line of its own."""
    folder.mkdir()
    title = name.replace("_", " ").title()
    code = (
        f'"""{title}."""\n\nfrom trace_dataset import Baseline\n\n\nclass {title.replace(" ", "")}(Baseline):\n'
        f'    """{title}."""\n\n    def rank(self, turn):\n        {line}\n'
    )
    (folder / f"{name}.py").write_text(code)
    (folder / "README.md").write_text(f"# {title}\n\nA stranger's idea.\n")
    return folder
