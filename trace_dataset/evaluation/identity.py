"""What a run depends on, as values that its fingerprint is taken of: the baseline's code and parameters, and our own code."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import orjson

from hydrate.errors import TraceError, UsageError
from trace_dataset.baseline import Baseline
from trace_dataset.installed import code_digest, hub_path

ANSWERING = ("answers", "contexts", "job", "limits", "mentions", "responses", "run_folder", "stored")  # of evaluation


def baseline_digest(baseline: Baseline) -> str:
    """Return a digest of a baseline's code: every module and data file of its folder, or its functions where it has none.

    An installed baseline may build on the others, so theirs count as well.
    """
    try:
        path = Path(inspect.getfile(type(baseline))).resolve()
        own_folder = path.parent.name == path.stem
        collection = hub_path("baselines").resolve()
        if path.parent.parent == collection:
            return _files(collection.glob("*/*.py"))
        return (
            _files(item for item in path.parent.rglob("*") if item.suffix in (".py", ".json"))
            if own_folder
            else _files([path])
        )
    except (TypeError, OSError):  # defined in a notebook or at a prompt: there is no file
        total = hashlib.sha256()
        for kind in type(baseline).__mro__:
            for name, value in sorted(vars(kind).items()):
                if isinstance(value, FunctionType) and kind.__module__ == type(baseline).__module__:
                    total.update(name.encode() + _code(value.__code__))
        return total.hexdigest()[:16]


def parameters_of(baseline: Baseline) -> dict[str, Any]:
    """Return a baseline's parameters as they will be read back; raises `UsageError` where they are no JSON values by name."""
    try:
        found = orjson.loads(orjson.dumps(baseline.parameters))
    except (KeyboardInterrupt, TraceError):
        raise
    except Exception as error:  # a stranger's code, or values that JSON does not know
        fault = f"{type(error).__name__}: {error}"
    else:
        if isinstance(found, dict):
            return found
        fault = f"it is of type {type(found).__name__}"
    raise UsageError(
        f"the parameters of the baseline {baseline.name} cannot be stored: {fault}",
        do="let `parameters` be a dict of names and numbers, texts, true or false, and lists of them",
    )


@functools.cache
def run_version() -> str:
    """Return a digest of our own code that decides what is asked and how answers are stored.

    How stored answers become columns, intervals and reports is not part of it: that may be mended while a run that was paid
    for is half done. The metrics themselves (`trace_dataset/scoring`) are, since the builder and the stored texts rest on them.
    """
    here = Path(__file__).resolve().parents[1]
    rooms = [
        path for room in ("retrieval", "lm") for path in (here / room).glob("*") if path.suffix in (".py", ".json")
    ]
    single = [here / name for name in ("baseline.py", "lm_baseline.py", "turns.py", "leaks.py")]
    single += [here / "evaluation" / f"{name}.py" for name in ANSWERING]
    return hashlib.sha256((code_digest() + _files([*rooms, *single])).encode()).hexdigest()[:16]


def _code(code: CodeType) -> bytes:
    """Return what a function does, without where it stands."""
    constants = [_constant(value) for value in code.co_consts]
    return b"\0".join([code.co_code, *constants, *(name.encode() for name in code.co_names)])


def _constant(value: object) -> bytes:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset):  # of `x in {"a", "b"}`: in another order each time Python starts
        return b"\0".join(sorted(map(_constant, value)))
    return repr(value).encode()


def _files(paths: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]
