"""One call from a baseline to results, and the metric modules by name."""

from __future__ import annotations

import functools
import logging
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.evaluation.controls import CONTROLS, control
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.runner import Progress, run_baseline
from trace_dataset.evaluation.score import score_run
from trace_dataset.installed import hub_path
from trace_dataset.release import Benchmark, open_local
from trace_dataset.remote import fetch
from trace_dataset.schema import SPLITS

logger = logging.getLogger(__name__)


def evaluate_baseline(
    baseline: Baseline | str,
    dataset: Any,
    *,
    pool: str | int = "closed",
    split: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    strict: bool = False,
    turn_seconds: float | None = None,
    lm: Any = None,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run a baseline and score it on everything that needs only responses and gold.

    Args:
        baseline: an instance, a name, a path, or a control (`random`, `random_unseen`, `parrot`, `oracle`).
        dataset: a `Benchmark`, or what `load_dataset("trace", yelp_path=…)` returned (a `DatasetDict`, or one split).
        pool: `closed` (8), 16, 32 or `open`.
        split: None runs all dialogues, as the paper does; a split of `datasets` runs that split.
        workers, ray, strict, turn_seconds, progress: see `run_baseline`.
        out: keep responses and scores here; None uses a temporary folder.
        lm: the language model of a baseline that asks one: `"local"`, `"openai/…"`, `"anthropic/…"`, `LmSettings`, a `dspy.LM`.

    Example:
        >>> evaluate_baseline("tfidf", ds["test"]).estimates()["recall_at_1"]  # doctest: +SKIP
    """
    benchmark, named_split = as_benchmark(dataset)
    split = split or named_split
    if isinstance(baseline, str):
        baseline = named_baseline(baseline, benchmark, lm)
    elif lm is not None and isinstance(baseline, Baseline):
        baseline.lm = lm
    if not isinstance(baseline, Baseline):
        raise UsageError(
            f"a {type(baseline).__name__} is no baseline", do="give a name, a path, or an instance of a Baseline class"
        )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(out) if out is not None else Path(scratch) / baseline.name
        run = run_baseline(
            baseline,
            benchmark,
            folder,
            pool=pool,
            split=split,
            limit=limit,
            workers=workers,
            ray=ray,
            strict=strict,
            turn_seconds=turn_seconds,
            progress=progress,
        )
        return score_run(run, benchmark)


def named_baseline(name: str, benchmark: Benchmark, lm: Any = None) -> Baseline:
    """Return a control, an installed baseline, or one from a folder."""
    return control(name, benchmark.dialogues) if name in CONTROLS else load_baseline(name, lm=lm)


def as_benchmark(dataset: Any) -> tuple[Benchmark, str | None]:
    """Return the benchmark behind a loaded dataset, and the name of its split if it is one whole split."""
    if isinstance(dataset, Benchmark):
        return dataset, None
    first = next(iter(dataset.values())) if isinstance(dataset, dict) and dataset else dataset
    folder = re.search(r"local build: (.+)$", getattr(getattr(first, "info", None), "description", "") or "")
    if folder is None:
        raise UsageError(
            f"a {type(dataset).__name__} is no TRACE dataset",
            do='give what load_dataset("trace", yelp_path=…) returned, or open_benchmark(Source(yelp_path=…))',
        )
    split = None if isinstance(dataset, dict) else str(first.split)
    if split is not None and not re.fullmatch(r"train|validation|test", split):
        raise UsageError(
            f"a slice such as {split!r} cannot be run", do="give a whole split, and limit=… to shorten the run"
        )
    benchmark = open_local(Path(folder.group(1)))
    parts = dataset if isinstance(dataset, dict) else {str(split): first}
    whole = set(parts) == set(SPLITS) or split is not None
    for name, rows in parts.items():
        known = sorted(item.dialogue_id for item in benchmark.split(name)) if name in SPLITS else []
        whole = whole and "dialogue_id" in rows.column_names and sorted(rows["dialogue_id"]) == known
    if not whole:
        raise UsageError(
            "this dataset was filtered, shortened or put together anew, so its rows are not a whole split",
            do="give what load_dataset returned, or one of its splits, and limit=… to shorten the run",
        )
    return benchmark, split


def load_metric(
    name: str,
    trust_remote_code: bool = False,
    revision: str | None = None,
    *,
    token: str | None = None,
    **options: Any,
) -> Any:
    """Return an evaluate module: an installed one by its bare name, one of a folder, or one from the Hub by `user/name`.

    `evaluate.load` runs code from the Hub without asking; this asks. What is run is one commit: it is logged, and stands as
    `origin` in every result.

    Args:
        revision: a branch, tag or commit of the Space; pin the commit that you have read.
        token: for a private Space; None takes HF_TOKEN or the stored login.
        options: for the module's constructor.

    Raises:
        UsageError: there is no such metric, or the Hub's code was not trusted.
        HubError: the Space or the revision is not there.

    Example:
        >>> load_metric("cgs").name
        'cgs'
    """
    import evaluate  # seconds, where torch is installed

    bare = name.removeprefix("trace/")
    if revision is None and "/" not in bare:
        return evaluate.load(str(hub_path("metrics", bare)), **options)
    if revision is None and Path(name).expanduser().is_dir():
        return evaluate.load(str(Path(name).expanduser().resolve()), **options)
    if not trust_remote_code:
        raise UsageError(
            f"the metric {name!r} would run code from the Hub on this machine",
            do="read the code there, then pass trust_remote_code=True, best with the revision you read",
        )
    found = fetch(name, "space", revision, token=token, without=["app.py", "widgets/*"])
    script = found.folder / f"{name.split('/')[-1]}.py"
    if not script.is_file():
        raise UsageError(f"the Space {name} holds no {script.name}, so it is no metric", do="check the name")
    logger.warning("running the code of %s, commit %s", name, found.commit)
    metric = evaluate.load(str(script), **options)
    compute = metric.compute

    @functools.wraps(compute)
    def with_origin(*args: Any, **kwargs: Any) -> dict[str, Any] | None:
        scores = compute(*args, **kwargs)
        return None if scores is None else {**scores, "origin": str(found)}

    metric.compute = with_origin
    return metric
