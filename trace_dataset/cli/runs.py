"""Verbs about runs: run and score."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import orjson

from hydrate.errors import UsageError
from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.cli.progress import RunBar, StageBars
from trace_dataset.evaluation.controls import CONTROLS, control
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.runner import run_baseline
from trace_dataset.evaluation.score import score_run
from trace_dataset.release import Benchmark, Source, open_benchmark
from trace_dataset.release.local import HOW_TO_GET_TEXT


def run(options: Namespace) -> int:
    """Run baselines one after the other."""
    for name in options.baseline:  # a misspelt name is told before anything is built
        if name not in CONTROLS:
            load_baseline(name)
    benchmark = open_source(options)
    none_answered = False
    for name in options.baseline:
        folder = Path(options.out) / f"{Path(name).name}-{options.pool}{'-' + options.split if options.split else ''}"
        finished = run_one(named_baseline(name, benchmark), benchmark, folder, options)
        answers = finished.responses()
        errors = [answer.error for answer in answers if answer.error]
        first = f", first: {errors[0]}" if errors else ""
        print(f"{finished.folder}: {finished.settings['dialogues']:,} dialogues, {len(errors):,} failed turns{first}")
        none_answered = none_answered or len(errors) == len(answers)
    return 1 if none_answered else 0


def score(options: Namespace) -> int:
    """Score runs and print every estimate."""
    for result in _results(options):
        estimates = result.estimates()
        if options.json:
            print(
                orjson.dumps(
                    {
                        "settings": dict(result.settings),
                        "scores": {name: asdict(value) for name, value in estimates.items()},
                    }
                ).decode()
            )
            continue
        print(f"{result.name} ({result.settings['dialogues']:,} dialogues, pool {result.settings['pool']})")
        for name, value in estimates.items():
            print(f"  {name:<28} {value!s:<24} n {value.n:,}, undefined {value.n_null:,}")
    return 0


def run_one(baseline: Baseline, benchmark: Benchmark, folder: Path, options: Namespace) -> RunFolder:
    """Run one baseline with a bar."""
    bar = RunBar(baseline.name, len(benchmark.split(options.split)[: options.limit]))
    try:
        return run_baseline(
            baseline,
            benchmark,
            folder,
            pool=options.pool,
            split=options.split,
            limit=options.limit,
            workers=options.workers,
            strict=options.strict,
            progress=bar,
        )
    finally:
        bar.close()


def named_baseline(name: str, benchmark: Benchmark) -> Baseline:
    """Return a control, an installed baseline or one from a folder."""
    return control(name, benchmark.dialogues) if name in CONTROLS else load_baseline(name)


def open_source(options: Namespace) -> Benchmark:
    """Return the benchmark that `--yelp` and `--release` name."""
    if options.yelp is None:
        raise UsageError("no Yelp bundle was named", do=HOW_TO_GET_TEXT.replace("yelp_path=…", "--yelp …"))
    bars = StageBars()
    source = Source(
        yelp_path=options.yelp,
        release=options.release,
        seed=options.seed,
        n_dialogues=options.dialogues,
        max_places=options.max_places,
        min_pois=options.min_pois,
        open_only=options.open_only,
        on_mismatch=options.on_mismatch,
    )
    benchmark = open_benchmark(source, bars)
    bars.close()
    return benchmark


def _results(options: Namespace) -> Sequence[Results]:
    runs = [RunFolder.open(folder) for folder in options.folder]
    benchmark = open_source(options)
    digests = {str(found.settings["content_digest"]) for found in runs}
    if digests != {benchmark.release.manifest.content_digest}:
        raise UsageError(
            "these runs were made on another benchmark than --yelp and --release give",
            do="name the bundle, release, seed and size that the runs were made with",
        )
    return [score_run(found, benchmark) for found in runs]
