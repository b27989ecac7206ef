"""Ten minutes from an empty folder to a Space: every command of `baselines/README.md`, as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT, TOKEN, Person
from .standin import Hub

BLOCK = re.compile(r"```(bash|python)\n(.*?)```", flags=re.S)


def section() -> list[tuple[str, str]]:
    """Return the code blocks of the walk, in order."""
    text = (ROOT / "baselines" / "README.md").read_text(encoding="utf-8")
    walk = re.search(r"^## Ten minutes.*?(?=^## )", text, flags=re.S | re.M)
    assert walk is not None
    return BLOCK.findall(walk.group())


def checkout(folder: Path) -> Path:
    """Copy the files that git knows, so that an installation leaves nothing in this tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


def shell(command: str, person: Person, cwd: Path, clone: Path) -> str:
    """Run a block as a reader would type it, in the environment that the first block makes."""
    environment = {key: value for key, value in person.environment.items() if key != "PYTHONPATH"}
    environment |= {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = command.replace("CLONE", str(clone)).replace("python3 -m venv", f"{sys.executable} -m venv")
    if (cwd / ".venv").is_dir():
        command = f". .venv/bin/activate\n{command}"
    done = subprocess.run(
        ["bash", "-ec", command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    print(f"$ {command}\n{done.stdout}")
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_tutorial_from_an_empty_folder_to_the_leaderboard(hub: Hub, tmp_path: Path):
    clone, here = checkout(tmp_path / "clone"), tmp_path / "here"
    here.mkdir()
    author = Person(hub, tmp_path / "author", TOKEN)
    blocks = section()
    [last] = [text for kind, text in blocks if kind == "python" and "load_baseline" in text]
    shown = []
    for kind, text in blocks:
        if kind == "bash":
            shown.append(shell(text, author, here, clone))
        elif text is not last:
            (here / "my_idea" / "my_idea.py").write_text(text, encoding="utf-8")
    told = "\n".join(shown)
    assert "RejRec" in told
    assert "dry run: nothing was sent" in told
    commit = hub.store.history("spaces", "me/my-idea")[0]
    assert f"at commit {commit}" in told
    assert hub.commits("spaces", "me/my-idea") == 1

    # somebody else: a new environment that has what the Space asks for, no token and no cache
    there = tmp_path / "there"
    there.mkdir()
    (there / "requirements.txt").write_bytes(hub.store.read("spaces", "me/my-idea", "requirements.txt"))
    other = Person(hub, tmp_path / "other")
    shell("python3 -m venv .venv && . .venv/bin/activate && pip install -q -r requirements.txt", other, there, clone)
    code = f"{last}\nimport json\nprint(json.dumps([type(baseline).__name__, baseline.origin]))\n"
    (there / "use.py").write_text(code, encoding="utf-8")
    assert json.loads(shell("python use.py", other, there, clone).splitlines()[-1]) == [
        "MyIdea",
        f"me/my-idea@{commit}",
    ]
    run = (
        "trace-dataset run me/my-idea --trust-remote-code --yelp ../here/yelp-sample --split test --limit 4 --out runs"
    )
    shell(run, other, there, clone)
    settings = json.loads(next((there / "runs").glob("*/run.json")).read_text())["settings"]
    assert settings["origin"] == f"me/my-idea@{commit}"

    # the maintainer scores the author's responses again, and the row stands on the leaderboard
    board = "trace-dataset push leaderboard runs/my_idea-closed-test runs/tfidf-closed-test org/trace-leaderboard"
    shell(f"{board} --yelp yelp-sample", author, here, clone)
    table = json.loads(hub.store.read("spaces", "org/trace-leaderboard", "leaderboard.json"))
    mine, tfidf = (row["scores"]["rejection_recovery"]["value"] for row in table["rows"])
    assert [row["system"] for row in table["rows"]] == ["my_idea", "tfidf"]
    assert mine > tfidf
    assert TOKEN not in told
    assert os.environ.get("HF_TOKEN") != TOKEN
