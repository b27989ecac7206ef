"""`trace-dataset demo`: the whole way from a bundle to a leaderboard, on the built-in sample."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path

import trace_dataset
from trace_dataset.analysis.figures import competency_bars
from trace_dataset.analysis.tables import competency_table
from trace_dataset.cli.runs import run_one
from trace_dataset.evaluation.evaluate import as_benchmark, named_baseline
from trace_dataset.evaluation.score import score_run
from trace_dataset.sample import write_sample

SYSTEMS = ("popularity", "tfidf", "random", "random_unseen", "parrot", "oracle")


def demo(options: Namespace) -> int:
    """Write the sample, load it, run two baselines and the controls, and print the three-competency table."""
    started = time.monotonic()
    out = Path(options.out)
    bundle = out / "yelp-sample"
    if not bundle.exists():
        _say(f"writing an invented bundle of {options.places} places to {bundle}")
        write_sample(bundle, places=options.places)
    import datasets

    _say(f'datasets.load_dataset("trace", yelp_path="{bundle}")')
    dataset = datasets.load_dataset("trace", yelp_path=str(bundle))
    print(dataset)
    print(next(iter(dataset.values())).info.description)
    benchmark, _ = as_benchmark(dataset)
    results = []
    for name in SYSTEMS:
        settings = Namespace(pool="closed", split=None, limit=None, workers=1, ray=None, strict=True, turn_seconds=None)
        folder = out / "runs" / f"{benchmark.release.manifest.content_digest[:12]}-{name}"
        results.append(score_run(run_one(named_baseline(name, benchmark), benchmark, folder, settings), benchmark))
    print()
    print(competency_table(results).text())
    picture = competency_bars(results, out / "competencies.png")
    print(f"\npicture: {picture}   ({time.monotonic() - started:.0f} s, trace-dataset {trace_dataset.__version__})")
    return 0


def _say(text: str) -> None:
    print(f"> {text}", file=sys.stderr)
