"""Where the collections (metrics, baselines, cards) stand, in a wheel or in a checkout, and a digest of the code itself."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError


def hub_path(kind: str, name: str = "") -> Path:
    """Return the folder of a collection (`metrics`, `baselines`, `cards`) or of one of its members.

    Works from a wheel (the collection is carried inside the package) and from a checkout (it stands beside it).
    Raises `UsageError` for a member that does not exist; the message lists those that do.
    """
    here = Path(__file__).resolve().parent
    collection = next(
        (base / kind for base in (here / "_hub", here.parent) if (base / kind).is_dir()), here / "_hub" / kind
    )
    if name and not (collection / name / f"{name}.py").is_file():
        raise UsageError(f"there is no {kind[:-1]} called {name!r}", do=f"use one of: {', '.join(hub_names(kind))}")
    return collection / name


def hub_names(kind: str) -> list[str]:
    """Return the names of a collection's members, sorted: the folders that hold a module of their name."""
    return sorted(path.stem for path in hub_path(kind).glob("*/*.py") if path.stem == path.parent.name)


def render(template: str, **values: Any) -> str:
    """Return a template of `cards/` filled in; a value that it names and is not given is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(hub_path("cards"))),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["n"] = lambda number: f"{number:,}"
    return environment.get_template(template).render(**values)


@functools.cache
def code_digest() -> str:
    """Return a digest of every source file that decides what a built dataset contains; part of the cache key."""
    here = Path(__file__).resolve().parent
    rooms = ("kb", "dialogues", "scoring", "release", "sample")
    single = ("builder.py", "schema.py", "splits.py", "streams.py", "pools.py")
    files = [path for room in rooms for path in (here / room).rglob("*") if path.suffix in (".py", ".json")]
    files += [here / name for name in single] + list((here.parent / "hydrate").glob("*.py"))
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
