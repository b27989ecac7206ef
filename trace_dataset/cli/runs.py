"""Verbs about runs: run and score."""

from __future__ import annotations

import contextlib
import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import UsageError
from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.cli.progress import RunBar, StageBars, usage_text
from trace_dataset.evaluation.controls import CONTROLS, control
from trace_dataset.evaluation.engines import Tally
from trace_dataset.evaluation.identity import parameters_of
from trace_dataset.evaluation.own_responses import read_responses, responses_schema, unknown
from trace_dataset.evaluation.own_scores import score_against, score_alone
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.runner import run_baseline
from trace_dataset.evaluation.score import score_run
from trace_dataset.lm import Budget, LanguageModel, LmSettings
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.release import Benchmark, Source, open_benchmark
from trace_dataset.release.local import HOW_TO_GET_TEXT


def run(options: Namespace) -> int:
    """Run baselines one after the other."""
    settings = lm_settings(options)
    loaded = load_all(options, settings)
    benchmark = open_source(options)
    lines, none_answered = [], False
    with contextlib.ExitStack() as stack:
        # one open model for all: one meter, one budget, one local server
        lm = stack.enter_context(settings.open()) if settings is not None else None
        for name in list(loaded):
            baseline = loaded.pop(name) or control(name, benchmark.dialogues)
            if baseline.uses_lm:
                baseline.lm = lm
            folder = Path(options.out) / run_name(name, options, lm if baseline.uses_lm else None, baseline.retriever)
            finished = run_one(baseline, benchmark, folder, options)
            lines.append(outcome(finished))
            none_answered = none_answered or lines[-1]["failed"] == lines[-1]["turns"]
            if not options.json:
                print(outcome_text(lines[-1]), flush=True)
    if options.json:
        print(orjson.dumps(lines, option=orjson.OPT_INDENT_2).decode())
    return 1 if none_answered else 0


def lm_settings(options: Namespace) -> LmSettings | None:
    """Return which model `--lm` and the options beside it name; None without `--lm`."""
    budget = Budget(options.budget_usd, options.budget_tokens)
    if options.lm is None:
        if options.api_base or options.lm_option or options.lm_prices or options.lm_timeout or budget != Budget():
            raise UsageError(
                "--api-base, --lm-prices, --lm-timeout, --lm-option and budgets belong to --lm",
                do="give --lm NAME as well",
            )
        return None
    pairs = [item.partition("=") for item in options.lm_option]
    wrong = [name for name, equals, _ in pairs if not equals or not name.isidentifier()]
    if wrong:
        raise UsageError(f"--lm-option {wrong[0]!r} is not NAME=VALUE", do="write e.g. --lm-option temperature=0")
    values = {name: _plain(value) for name, _, value in pairs}
    found = LmSettings(options.lm, options.api_base, budget=budget, options=values)
    if options.lm_prices:
        found = replace(found, prices=(options.lm_prices[0], options.lm_prices[1]))
    return found if options.lm_timeout is None else replace(found, timeout=options.lm_timeout)


def load_all(options: Namespace, settings: LmSettings | None) -> dict[str, Baseline | None]:
    """Return the baselines by name, None for a control; a mistake is told before anything is built."""
    loaded: dict[str, Baseline | None] = {}
    for name in options.baseline:
        if name in CONTROLS:
            loaded[name] = None
            continue
        baseline = load_baseline(name, options.trust_remote_code, revision=options.revision)
        if baseline.uses_lm:
            baseline.lm = settings
        if options.retriever in baseline.retrievers:
            baseline.retriever = options.retriever
        parameters_of(baseline)  # names the extra, or --lm, where it is missing
        loaded[name] = baseline
    if options.revision and not any(baseline is not None and baseline.origin for baseline in loaded.values()):
        raise UsageError(f"none of {', '.join(loaded)} comes from the Hub", do="leave --revision out")
    if settings is not None and not any(baseline is not None and baseline.uses_lm for baseline in loaded.values()):
        raise UsageError(f"none of {', '.join(loaded)} asks a language model", do="leave --lm out")
    if options.retriever and not any(baseline is not None and baseline.retrievers for baseline in loaded.values()):
        raise UsageError(f"none of {', '.join(loaded)} has a retriever to choose", do="leave --retriever out")
    return loaded


def run_name(name: str, options: Namespace, lm: LanguageModel | None, retriever: str = RETRIEVERS[0]) -> str:
    """Return the folder's name of a run, e.g. `tfidf-open-test`, `dst-closed-local-smollm2-135m`, `dst-dense-open-…`."""
    parts = [Path(name).resolve().name if "/" in name else name]
    parts += [retriever] if retriever in RETRIEVERS[1:] else []
    parts += [options.pool]
    parts += [options.split] if options.split else []
    parts += [re.sub(r"[^A-Za-z0-9._]+", "-", lm.name).strip("-")] if lm is not None else []
    return "-".join(parts)


def outcome(finished: RunFolder) -> dict[str, Any]:
    """Return what a finished run came to."""
    answers = finished.responses()
    errors = [answer.error for answer in answers if answer.error]
    tally = Tally()
    tally.count(answers)
    return {
        "folder": str(finished.folder),
        "baseline": finished.settings["baseline"],
        "dialogues": finished.settings["dialogues"],
        "turns": len(answers),
        "failed": len(errors),
        "first_failure": errors[0] if errors else None,
        "usage": dict(tally.usage),
    }


def outcome_text(found: dict[str, Any]) -> str:
    """Return one line about a finished run."""
    first = f", first: {found['first_failure']}" if found["failed"] else ""
    usage = f"; {usage_text(found['usage'])}" if found["usage"] else ""
    return f"{found['folder']}: {found['dialogues']:,} dialogues, {found['failed']:,} failed turns{first}{usage}"


def score(options: Namespace) -> int:
    """Score runs, or files of responses, and print every estimate."""
    if options.schema:
        print(orjson.dumps(responses_schema(), option=orjson.OPT_INDENT_2).decode())
        return 0
    if not options.folder:
        raise UsageError("there is nothing to score", do="give run folders, or a file of JSON lines")
    files = [name for name in options.folder if Path(name).is_file()]
    if files and len(files) < len(options.folder):
        raise UsageError("run folders and files of responses are scored apart", do="give one kind at a time")
    if files:
        return score_files(files, options)
    for result in _results(options):
        estimates = result.estimates()
        if options.json:
            scores = {name: asdict(value) for name, value in estimates.items()}
            print(orjson.dumps({"settings": dict(result.settings), "scores": scores}).decode())
            continue
        print(f"{result.name} ({result.settings['dialogues']:,} dialogues, pool {result.settings['pool']})")
        _print_estimates(estimates)
    return 0


def score_files(files: Sequence[str], options: Namespace) -> int:
    """Score responses of one's own: against a benchmark with `--yelp`, else by what their columns allow."""
    read = {name: read_responses(Path(name)) for name in files}  # a mistake is told before anything is built
    benchmark = None if options.yelp is None else open_source(options)
    for name, rows in read.items():
        found = score_alone(rows, name) if benchmark is None else score_against(rows, benchmark, name)
        strange = unknown(rows)
        if options.json:
            values = {
                "file": name,
                "scores": {key: asdict(value) for key, value in found.estimates.items()},
                "missing": dict(found.missing),
                "notes": list(found.notes),
                "unknown_columns": strange,
            }
            print(orjson.dumps(values).decode())
            continue
        print(f"{name}: {'; '.join(found.notes)}")
        if strange:
            print(f"  columns that mean nothing here: {', '.join(strange)} (trace-dataset score --schema)")
        _print_estimates(found.estimates)
        print("not computed, and what it takes:")
        for key, needs in found.missing.items():
            print(f"  {key:<28} {needs}")
    return 0


def _print_estimates(estimates: Mapping[str, Estimate]) -> None:
    for name, value in estimates.items():
        print(f"  {name:<28} {value!s:<24} n {value.n:,}, undefined {value.n_null:,}")


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
            ray=options.ray,
            strict=options.strict,
            turn_seconds=options.turn_seconds,
            progress=bar,
        )
    finally:
        bar.close()


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
    return [score_run(found, benchmark, options.workers) for found in runs]


def _plain(value: str) -> Any:
    """Return an option's value as JSON reads it, or as the text that it is."""
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
