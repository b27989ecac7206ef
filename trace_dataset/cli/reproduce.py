"""`trace-dataset reproduce TABLE`: the runs that it needs, started or resumed, and our table beside the paper's."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydrate.errors import TraceError, UsageError
from trace_dataset.analysis.orderings import orderings_table
from trace_dataset.analysis.reproduce import (
    ASKING,
    READ,
    WRITTEN,
    Plan,
    PlannedRun,
    beside,
    cost,
    plan,
    plans,
)
from trace_dataset.baseline import load_baseline
from trace_dataset.cli.report import FEWEST_RESAMPLES, scored
from trace_dataset.cli.runs import open_source
from trace_dataset.evaluation.bootstrap import RESAMPLES
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder, write_whole
from trace_dataset.lm import LmSettings
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.release import Benchmark
from trace_dataset.retrieval.embeddings import default_encoder

Start = Callable[[Sequence[str]], int]
PASSED_ON = (
    "yelp",
    "release",
    "on_mismatch",
    "seed",
    "dialogues",
    "max_places",
    "min_pois",
    "lm",
    "api_base",
    "budget_usd",
    "workers",
)


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Add the options of `reproduce` to a parser."""
    verb.add_argument("table", help=f"one of {', '.join(plans())}")
    verb.add_argument("--out", default="reproduce", help="folder of runs and tables (default: %(default)s)")
    verb.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="no more than the first N dialogues: to try it, not the locked configuration",
    )
    verb.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
    verb.add_argument("--resamples", type=int, default=RESAMPLES, help="of the bootstrap (default: %(default)s)")
    group = verb.add_argument_group("systems that ask a language model; without --lm they are left out")
    group.add_argument("--lm", metavar="NAME", help="local, openai/NAME, anthropic/NAME, …")
    group.add_argument("--api-base", metavar="URL", help="an endpoint with OpenAI's interface")
    group.add_argument("--lm-prices", type=float, nargs=2, metavar=("READ", "WRITTEN"), help="USD for a million tokens")
    group.add_argument("--budget-usd", type=float, metavar="X", help="stop when so much is spent")
    group.add_argument(
        "--yes", action="store_true", help="start a paid model; without it the cost is told and nothing runs"
    )


def reproduce(options: Namespace, start: Start) -> int:
    """Make the runs, and print and write the table beside the paper's.

    Args:
        start: runs a command line of `trace-dataset`; given by the parser, whose `run` verb makes the runs.
    """
    _check(options)
    wanted = plan(options.table) if options.limit is None else plan(options.table).shortened(options.limit)
    benchmark = open_source(options)
    _tell_cost(wanted, benchmark, options)
    systems, missing = _available(wanted, options)
    folders: list[Path] = []
    for planned in _possible(wanted, systems, missing):
        out = Path(options.out) / ("runs" if planned.limit is None else f"runs-{planned.limit}")
        names = [*systems, *CONTROLS] if planned.retriever is None else _with_retriever(planned.retriever, systems)
        arguments = ["run", *names, "--pool", planned.pool, "--out", str(out), *_passed_on(options, names)]
        given = {"--limit": planned.limit, "--retriever": planned.retriever}
        status = start([*arguments, *(str(part) for pair in given.items() if pair[1] is not None for part in pair)])
        if status == 2 or status == 130:
            return status
        folders += _finished(out, names, planned, benchmark, options)
    runs = [RunFolder.open(folder) for folder in folders]
    results: list[Results] = scored(runs, benchmark, options.workers)
    tables = [beside(wanted, results, missing, options.resamples)]
    pools = {pool: [item for item in results if item.settings["pool"] == pool] for pool in ("closed", "open")}
    verdicts = orderings_table(pools["closed"], pools["open"], options.resamples)
    if verdicts is not None:
        tables.append(replace(verdicts, name=f"{wanted.name}-orderings"))
    for table in tables:
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex()), (".csv", table.csv())):
            write_whole(Path(options.out) / f"{table.name}{suffix}", text.encode())
        print(f"{table.title}\n\n{table.text()}\n")
    files = ", ".join(f"{table.name}.md, .tex, .csv" for table in tables)
    print(
        f"written to {options.out}: {files}; {len(runs)} runs in {', '.join(sorted({str(run.folder.parent) for run in runs}))}"
    )
    return 0


def _check(options: Namespace) -> None:
    if options.resamples < FEWEST_RESAMPLES:
        raise UsageError(f"--resamples {options.resamples} are too few", do=f"give {FEWEST_RESAMPLES} or more")
    if options.lm is not None and not options.lm.strip():
        raise UsageError("--lm names no model", do="give local, openai/NAME, …; was a variable not set?")
    if options.lm is None and (options.api_base or options.lm_prices or options.budget_usd is not None or options.yes):
        raise UsageError("--api-base, --lm-prices, --budget-usd and --yes belong to --lm", do="give --lm NAME as well")


def _tell_cost(wanted: Plan, benchmark: Benchmark, options: Namespace) -> None:
    """Print what the systems that ask a model would cost, and stop before a paid one that nobody said yes to."""
    asking = [name for name in wanted.systems if name in ASKING]
    if not asking or options.lm is None:
        return
    turns = sum(turn.role == "system" for item in benchmark.dialogues for turn in item.turns)
    price = (0.0, 0.0) if options.lm == "local" else _price(options)
    asked, usd = cost(wanted, len(benchmark.dialogues), turns, price)
    shown = "price unknown: give --lm-prices READ WRITTEN" if usd is None else f"about {usd:,.2f} USD"
    questions = f"about {asked:,} questions of {READ:,} tokens read and {WRITTEN} written"
    print(f"{', '.join(asking)} with {options.lm}: {questions}, {shown}", file=sys.stderr)
    if options.lm != "local" and not options.yes:
        raise UsageError(
            "nothing was started", do="say --yes to start it, with --budget-usd X for a limit, or leave --lm out"
        )


def _price(options: Namespace) -> tuple[float, float] | None:
    """Return USD for a million tokens of a model, as given or as LiteLLM's own table has it; None where neither knows."""
    if options.lm_prices:
        return float(options.lm_prices[0]), float(options.lm_prices[1])
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it looks prices up on the network
    try:
        import litellm
    except ImportError:
        return None
    known: Any = litellm.model_cost.get(options.lm) or litellm.model_cost.get(options.lm.partition("/")[2])
    if not known or "input_cost_per_token" not in known:
        return None
    return 1e6 * known["input_cost_per_token"], 1e6 * known["output_cost_per_token"]


def _available(wanted: Plan, options: Namespace) -> tuple[list[str], dict[str, str]]:
    """Return the systems that can be run here, and why the others cannot."""
    systems, missing = [], {}
    for name in wanted.systems:
        if name in ASKING and options.lm is None:
            missing[name] = "it asks a language model: give --lm"
            continue
        try:
            baseline = load_baseline(name)
            if name not in ASKING:
                _ = baseline.parameters  # names the extra where it is missing
        except TraceError as error:
            missing[name] = _in_one_line(error)
            continue
        systems.append(name)
    return systems, missing


def _passed_on(options: Namespace, names: Sequence[str]) -> list[str]:
    """Return the options that the `run` verb takes as they are."""
    arguments: list[str] = []
    for name in PASSED_ON:
        value = getattr(options, name, None)
        if value is not None and not (name in ("lm", "api_base", "budget_usd") and not set(names) & set(ASKING)):
            arguments += [f"--{name.replace('_', '-')}", str(value)]
    if options.open_only:
        arguments.append("--open-only")
    if options.lm_prices and set(names) & set(ASKING):
        arguments += ["--lm-prices", *map(str, options.lm_prices)]
    return arguments


def _in_one_line(error: TraceError) -> str:
    """Return an error and its advice for a note."""
    return "; ".join(part.strip() for part in str(error).splitlines())


def _possible(wanted: Plan, systems: Sequence[str], missing: dict[str, str]) -> list[PlannedRun]:
    """Return the runs that can be made here; what a retriever lacks is told before a model is paid, not after."""
    found = []
    for planned in wanted.runs:
        names = systems if planned.retriever is None else _with_retriever(planned.retriever, systems)
        if planned.retriever is not None and names:
            try:
                default_encoder()
            except TraceError as error:
                missing[f"{', '.join(names)} with the {planned.retriever} retriever"] = _in_one_line(error)
                continue
        if names or planned.retriever is None:
            found.append(planned)
    return found


def _with_retriever(retriever: str, systems: Sequence[str]) -> list[str]:
    return [name for name in systems if retriever in load_baseline(name).retrievers]


def _finished(
    out: Path, names: Sequence[str], planned: PlannedRun, benchmark: Benchmark, options: Namespace
) -> list[Path]:
    """Return the folders of the runs just made, whatever they are called; those of another model stay out."""
    digest = benchmark.release.manifest.content_digest
    asked = None if options.lm is None else LmSettings(options.lm, options.api_base).signature["name"]
    found = []
    for path in sorted(out.glob("*/run.json")):
        run = RunFolder.open(path.parent)
        same = run.settings["content_digest"] == digest and run.settings["pool"] == planned.pool
        retriever = run.settings["parameters"].get("retriever")
        usual = planned.retriever is None and retriever not in RETRIEVERS[1:]
        model = (run.settings["parameters"].get("lm") or {}).get("name")
        same = same and (model is None or model == asked)
        if same and run.settings["baseline"] in names and (usual or retriever == planned.retriever):
            found.append(path.parent)
    return found
