"""`trace-dataset report`: everything that stored results say, in one folder."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import orjson

from hydrate.errors import UsageError
from trace_dataset.analysis.catalogue import COMPARABLE, COMPARED
from trace_dataset.analysis.corpus import row_names
from trace_dataset.analysis.report import write_report
from trace_dataset.analysis.tables import competencies
from trace_dataset.cli.progress import StageBars
from trace_dataset.cli.runs import open_source
from trace_dataset.evaluation.bootstrap import RESAMPLES
from trace_dataset.evaluation.entailed import with_entailment
from trace_dataset.evaluation.results import Results, estimate_all
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.score import score_run, stored_scores, versions
from trace_dataset.licence import NOTICE
from trace_dataset.release import Benchmark

FEWEST_RESAMPLES = 100


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Add the options of `report` to a parser."""
    verb.add_argument("folder", nargs="+", help="run folders; without --yelp they must have been scored")
    verb.add_argument("--out", default="report", help="folder to write (default: %(default)s)")
    verb.add_argument("--full", action="store_true", help="print every column instead of the three competencies")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.add_argument(
        "--no-text", action="store_true", help="leave dialogues and map out, for a report that can be shared"
    )
    verb.add_argument(
        "--workers", type=int, default=1, help="processes that score what is not scored (default: %(default)s)"
    )
    verb.add_argument("--viewer", type=int, default=40, help="dialogues to read in the page (default: %(default)s)")
    verb.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="of the bootstrap, %(default)s by default; at least 100"
    )
    verb.add_argument(
        "--metrics", nargs="+", choices=COMPARABLE, default=list(COMPARED), help="that pairs are compared on"
    )


def report(options: Namespace) -> int:
    """Write the report and print its main table."""
    if options.resamples < FEWEST_RESAMPLES or options.viewer < 0:
        raise UsageError("--resamples below 100, or --viewer below 0", do="leave them out to have the usual numbers")
    runs = [RunFolder.open(folder) for folder in options.folder]
    benchmark = open_source(options) if options.yelp is not None else None
    results = scored(runs, benchmark, options.workers)
    bars = StageBars()
    written = write_report(
        runs,
        results,
        Path(options.out),
        None if options.no_text else benchmark,
        dialogues=options.viewer,
        resamples=options.resamples,
        metrics=options.metrics,
        progress=bars,
    )
    bars.close()
    if options.json:
        names = row_names(results)
        found = [
            {name: asdict(value) for name, value in each.items()} for each in estimate_all(results, options.resamples)
        ]
        print(
            orjson.dumps([{"run": name, "scores": scores} for name, scores in zip(names, found, strict=True)]).decode()
        )
        return 0
    for corpus in written.by_pool.values():
        print(competencies(corpus, options.full).text())
        print()
    for table in written.tables:
        if table.name == "orderings":
            print(f"{table.title}\n\n{table.text()}\n")
    print(
        f"written: {written.folder}: report.html, report.md, {len(written.tables)} tables, {len(written.files)} files"
    )
    if written.licensed:
        print(NOTICE)
    return 0


def scored(runs: Sequence[RunFolder], benchmark: Benchmark | None, workers: int = 1) -> list[Results]:
    """Return the scores of runs; those over this benchmark are scored where they are not yet.

    Raises:
        UsageError: a run has no scores of this version, and there is no benchmark to score it with.
    """
    digest = benchmark.release.manifest.content_digest if benchmark is not None else None
    if digest is not None and all(run.settings["content_digest"] != digest for run in runs):
        raise UsageError(
            "these runs were made on another benchmark than --yelp and --release give",
            do="name the bundle, release, seed and size that the runs were made with, or leave --yelp out",
        )
    found = []
    for run in runs:
        if benchmark is not None and run.settings["content_digest"] == digest:
            found.append(with_entailment(score_run(run, benchmark, workers), run))
            continue
        stored = stored_scores(run)
        if stored is None:
            run.responses()  # an unfinished run is told as such
        if stored is None or stored.versions != versions():
            raise UsageError(
                f"{run.folder} has no scores of this version",
                do=f"run `trace-dataset score {run.folder} --yelp …` first",
            )
        found.append(with_entailment(stored, run))
    return found
