"""`trace-dataset new-baseline NAME`: a folder that runs as it is, to be changed into an idea of one's own."""

from __future__ import annotations

import importlib.util
import keyword
import re
from argparse import Namespace
from pathlib import Path

from hydrate.errors import StorageError, UsageError
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.installed import hub_names, render


def new_baseline(options: Namespace) -> int:
    """Write the folder, and print what to do next."""
    folder = write_baseline(options.name, Path(options.into))
    shown = folder if folder.is_absolute() else f"./{folder}"
    print(f"{folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    print(f"try it:  trace-dataset run {shown} tfidf --yelp yelp-sample --limit 60")
    print(f"test it: python -m pytest -q {folder}")
    return 0


def write_baseline(name: str, into: Path = Path()) -> Path:
    """Write the folder of a new baseline and return it; nothing that is there is touched.

    Args:
        name: of the folder and its module: small letters, digits and underscores.
        into: where the folder goes.

    Raises:
        UsageError: the name cannot be a module's or is taken, or there is such a folder.
        StorageError: it cannot be written there.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,60}", name) or keyword.iskeyword(name):
        raise UsageError(f"{name!r} cannot be a baseline's name", do="use small letters, digits and _, such as my_idea")
    if name in hub_names("baselines") or name in CONTROLS:
        raise UsageError(f"there is a baseline called {name!r} already", do="choose another name")
    if _is_module(name):  # a Space and pytest put the folder on the path, where its module would hide that one
        raise UsageError(f"there is a Python module of the name {name!r}", do="choose another name")
    folder = into / name
    words = name.split("_")
    values = {
        "name": name,
        "title": " ".join(words).strip().capitalize(),
        "class_name": "".join(word.capitalize() for word in words),
    }
    files = {
        f"{name}.py": render("new_baseline.py.jinja", **values),
        "README.md": render("new_baseline.md.jinja", **values),
        f"test_{name}.py": render("new_baseline_test.py.jinja", **values),
    }
    try:
        folder.mkdir(parents=True)
        for file_name, text in files.items():
            (folder / file_name).write_text(text, encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{folder} exists already", do="choose another name, or --into another folder") from None
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror}", do="choose another folder with --into"
        ) from error
    return folder


def _is_module(name: str) -> bool:
    found = importlib.util.find_spec(name)
    return found is not None and found.origin is not None  # without an origin it is any folder of that name
