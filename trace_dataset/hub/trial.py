"""Trials before a push: what is published is loaded and run once, in a process of its own that holds no token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trace_dataset
from hydrate.errors import UsageError

TIME_LIMIT = 600  # seconds

METRICS = """
import doctest, json, os, sys
sys.path = [entry for entry in sys.path if entry]
for name in ("trace_dataset", "hydrate"):
    sys.modules[name] = None
import evaluate
root, found = sys.argv[1], {}

class Library:
    def __getattr__(self, name):
        return getattr(evaluate, name)

    def load(self, path, *args, **kwargs):
        name = path.rstrip("/").split("/")[-1]
        here = os.path.join(root, name)
        return evaluate.load(here if os.path.isdir(here) else path, *args, **kwargs)

for name in sorted(os.listdir(root)):
    shown = []
    try:
        metric = Library().load(name)
        if metric.name != name:
            raise ValueError(f"the class in {name}.py must be named like the file, so that its snake case is {name}")
        test = doctest.DocTestParser().get_doctest(metric.inputs_description, {"evaluate": Library()}, name, None, 0)
        result = doctest.DocTestRunner(verbose=False).run(test, out=shown.append)
        fault = "".join(shown) if result.failed else None if result.attempted else "its inputs description has no example"
        found[name] = {"examples": result.attempted, "fault": fault}
    except Exception as error:
        found[name] = {"examples": 0, "fault": f"{type(error).__name__}: {error}"}
print("\\n" + json.dumps(found))
"""


def try_metrics(laid_out: Mapping[str, Mapping[str, bytes]]) -> dict[str, int]:
    """Load metrics in a process that has none of this project, run the examples of their docstrings, return how many ran.

    Raises:
        UsageError: a module does not load, or an example does not give what it says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for name, files in laid_out.items():
            folder = Path(scratch) / "spaces" / name
            folder.mkdir(parents=True)
            for path, content in files.items():
                (folder / path).write_bytes(content)
        found = run_apart(METRICS, [str(Path(scratch) / "spaces")], Path(scratch))
    for name, result in found.items():
        if result["fault"]:
            raise UsageError(
                f"the metric {name!r} does not run as published: {result['fault'][-1500:]}",
                do="mend it, then push again",
            )
    return {name: result["examples"] for name, result in found.items()}


def run_apart(code: str, arguments: Sequence[str], scratch: Path, **variables: str) -> Any:
    """Run code in a process without tokens and network, and return the JSON that its last line prints."""
    secret = ("TOKEN", "SECRET", "PASSWORD", "API_KEY")
    environment = {key: value for key, value in os.environ.items() if not any(word in key.upper() for word in secret)}
    environment |= {
        "HF_HOME": str(scratch / "hf"),
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        **variables,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=scratch,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"the trial was not done after {TIME_LIMIT} s", do="make the example smaller") from None
    if done.returncode:
        raise UsageError(f"the trial broke off: {done.stderr[-1500:].strip()}", do="mend it, then push again")
    return json.loads(done.stdout.strip().splitlines()[-1])


BASELINES = """
import json, os, sys
from pathlib import Path
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import evaluate_baseline
from trace_dataset.release import Source, open_benchmark
from trace_dataset.sample import write_sample
root, lm, benchmark, found = Path(sys.argv[1]), json.loads(sys.argv[2]), None, {}
for folder in sorted(root.iterdir()):
    try:
        baseline = load_baseline(str(folder))
        if baseline.uses_lm:
            if lm is None:
                told = "loads; not run, since it asks a language model and none was named (lm=…, --lm)"
                found[folder.name] = {"told": told, "uses_lm": True}
                continue
            baseline.lm = lm
        if benchmark is None:
            benchmark = open_benchmark(Source(yelp_path=str(write_sample("sample", places=240)), n_dialogues=240))
        results = evaluate_baseline(baseline, benchmark, limit=2, strict=True)
        told = f"loads and answers {len(results.turns['failed'])} turns of the sample"
        found[folder.name] = {"told": told, "uses_lm": bool(baseline.uses_lm)}
    except Exception as error:
        found[folder.name] = {"fault": f"{type(error).__name__}: {getattr(error, 'what', error)}"}
print("\\n" + json.dumps(found))
"""


@dataclass(frozen=True)
class BaselineTrial:
    """What was seen of a baseline, in words, and whether it asks a language model."""

    told: str
    uses_lm: bool


def try_baselines(folders: Mapping[str, Mapping[str, bytes]], lm: str | None = None) -> dict[str, BaselineTrial]:
    """Load baselines and let each answer two dialogues of the invented sample; return what was seen of each.

    Args:
        lm: the language model for those that ask one; None loads them and no more.

    Raises:
        UsageError: a baseline does not load, or a turn fails.
    """
    package = str(Path(trace_dataset.__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory() as scratch:
        for name, files in folders.items():
            for path, content in files.items():
                target = Path(scratch) / "folders" / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        arguments = [str(Path(scratch) / "folders"), json.dumps(lm)]
        found = run_apart(BASELINES, arguments, Path(scratch), PYTHONPATH=package)
    for name, result in found.items():
        if "fault" in result:
            raise UsageError(
                f"the baseline {name!r} does not run: {result['fault'][-1500:]}", do="mend it, then push again"
            )
    return {name: BaselineTrial(**result) for name, result in found.items()}
