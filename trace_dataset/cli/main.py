"""The parser of `trace-dataset`, and what a user sees when something is wrong."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

import hydrate.__main__ as hydration
import trace_dataset
from hydrate.errors import TraceError, UsageError
from trace_dataset.cli import (
    bundles,
    demo,
    language_model,
    new_baseline,
    push,
    report,
    report_annotations,
    report_entailment,
    reproduce,
    runs,
)
from trace_dataset.cli.progress import StageBars
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.pools import POOLS
from trace_dataset.schema import SPLITS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign must not cost the work
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except TraceError as error:
        StageBars.end_line()
        if options.debug:
            raise
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        StageBars.end_line()
        print("stopped; the same command goes on where this one was", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the whole parser; the README's test walks it."""
    top = argparse.ArgumentParser(
        prog="trace-dataset", description="TRACE: can a conversational recommender be trusted?"
    )
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    top.add_argument("--version", action="version", version=f"trace-dataset {trace_dataset.__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")

    verb = _verb(
        verbs,
        "demo",
        demo.demo,
        "build, hydrate, run and score the built-in sample",
        "trace-dataset demo --out trace-demo",
    )
    verb.add_argument(
        "--out", default="trace-demo", help="folder for the sample, the runs and the picture (default: %(default)s)"
    )
    verb.add_argument("--places", type=int, default=240, help="places in the sample (default: %(default)s)")

    verb = _verb(
        verbs,
        "sample",
        bundles.sample,
        "write an invented bundle in Yelp's exact format",
        "trace-dataset sample yelp-sample --places 240 --seed 42",
    )
    verb.add_argument("folder", help="where to write it; must not exist or be empty")
    verb.add_argument(
        "--places", type=int, default=240, help="restaurants, hotels and attractions (default: %(default)s)"
    )
    verb.add_argument("--reviews-per-place", type=int, default=14, help="mean (default: %(default)s)")
    verb.add_argument("--seed", type=int, default=42, help="same seed, same bytes (default: %(default)s)")

    verb = _verb(
        verbs,
        "inspect",
        bundles.inspect,
        "say what a bundle holds and whether a benchmark can be built from it",
        "trace-dataset inspect ~/Yelp-JSON.zip",
    )
    verb.add_argument("bundle", help="a folder, .tar, .tgz, .zip, or Yelp's zip")
    verb.add_argument("--json", action="store_true", help="print JSON")

    verb = _verb(
        verbs,
        "build",
        bundles.build,
        "build dialogues from a bundle and write a release folder (placeholders only)",
        "trace-dataset build trace-release --yelp ~/Yelp-JSON.zip",
    )
    verb.add_argument("out", help="the release folder; must not exist or be empty")
    _source(verb, release=False)
    verb.add_argument(
        "--workers",
        type=int,
        help="processes, same result for any number; default: one a core for 2,000 dialogues or more",
    )
    verb.add_argument(
        "--check", action="store_true", help="check the benchmark's bounds, orders and shortcuts; exit 1 if one fails"
    )
    language_model.add_arguments(verb)

    verb = _verb(
        verbs,
        "run",
        runs.run,
        "run baselines and store their responses",
        "trace-dataset run tfidf popularity --yelp ~/Yelp-JSON.zip --out runs",
    )
    verb.add_argument("baseline", nargs="+", help="names, paths, or controls (random, random_unseen, parrot, oracle)")
    _source(verb)
    _running(verb)

    verb = _verb(
        verbs,
        "new-baseline",
        new_baseline.new_baseline,
        "write the folder of a baseline of your own, which runs as it is",
        "trace-dataset new-baseline my_idea",
    )
    verb.add_argument("name", help="of the folder and its module: small letters, digits and _")
    verb.add_argument("--into", default=".", help="where to put the folder (default: here)")

    verb = _verb(
        verbs,
        "hydrate",
        hydration.run,
        "fill the placeholders of a release or a file from your bundle, or only verify them",
        "trace-dataset hydrate trace-release --yelp ~/Yelp-JSON.zip --out trace-hydrated",
    )
    hydration.add_arguments(verb)

    verb = _verb(
        verbs,
        "check-leaks",
        bundles.check_leaks,
        "look for review text in a folder before it is published",
        "trace-dataset check-leaks trace-release --yelp ~/Yelp-JSON.zip",
    )
    verb.add_argument("folder", help="what would be published")
    verb.add_argument("--yelp", required=True, help="your Yelp bundle")
    verb.add_argument("--release", help="the release whose reviews are looked for; default: the folder itself")
    verb.add_argument("--json", action="store_true", help="print JSON")

    verb = _verb(
        verbs,
        "push",
        push.run,
        "publish a dataset, metrics, baselines or the leaderboard on the Hugging Face Hub",
        "trace-dataset push baseline ./my_idea me/my-idea --dry-run",
    )
    push.add_arguments(verb, _source)

    verb = _verb(
        verbs,
        "verify-submission",
        push.verify,
        "score a submission to the leaderboard again from its responses",
        "trace-dataset verify-submission runs/my_idea-closed --yelp ~/Yelp-JSON.zip",
    )
    verb.add_argument("folder", nargs="+", help="run folders as they were handed in")
    _source(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")

    verb = _verb(
        verbs,
        "score",
        runs.score,
        "score stored responses, or a file of your own system's",
        "trace-dataset score runs/tfidf-closed --yelp ~/Yelp-JSON.zip; trace-dataset score responses.jsonl",
    )
    verb.add_argument(
        "folder", nargs="*", help="run folders; or files of JSON lines, scored without --yelp by their own columns"
    )
    _source(verb)
    verb.add_argument(
        "--workers", type=int, default=1, help="processes for run folders; same scores (default: %(default)s)"
    )
    verb.add_argument("--schema", action="store_true", help="print the JSON Schema of a line of such a file")
    verb.add_argument("--json", action="store_true", help="print JSON")

    verb = _verb(
        verbs,
        "report",
        report.report,
        "write tables, figures and a page from scored runs",
        "trace-dataset report runs/tfidf-closed runs/popularity-closed --yelp ~/Yelp-JSON.zip --out report",
    )
    report.add_arguments(verb)
    _source(verb)

    verb = _verb(
        verbs,
        "agreement",
        report_annotations.agreement,
        "tabulate what annotators said: agreement, and metrics against people",
        "trace-dataset agreement annotations --runs runs/tfidf-closed --out agreement",
    )
    report_annotations.add_arguments(verb)

    verb = _verb(
        verbs,
        "entail",
        report_entailment.entail,
        "ask an entailment model about stored responses, for reports to read",
        "trace-dataset entail runs/tfidf-closed --yelp ~/Yelp-JSON.zip --limit 1000",
    )
    _source(verb)
    report_entailment.add_arguments(verb)

    verb = _verb(
        verbs,
        "reproduce",
        lambda options: reproduce.reproduce(options, main),
        "make a table of the paper again, and put ours beside it",
        "trace-dataset reproduce table-5 --yelp ~/Yelp-JSON.zip --release trace-release",
    )
    reproduce.add_arguments(verb)
    _source(verb)
    return top


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, function: object, text: str, example: str
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=f"example: {example}")
    verb.set_defaults(run=function)
    return verb


def _source(verb: argparse.ArgumentParser, release: bool = True) -> None:
    verb.add_argument("--yelp", help="your Yelp bundle", required=not release)
    if release:
        verb.add_argument("--release", help="a release folder to hydrate instead of building anew")
        verb.add_argument(
            "--on-mismatch",
            choices=("error", "placeholder", "drop"),
            default="error",
            help="quotes the bundle does not confirm (default: %(default)s)",
        )
    verb.add_argument("--seed", type=int, default=42, help="of the build (default: %(default)s)")
    verb.add_argument("--dialogues", type=int, help="how many; default 25 for every 6 places, at most 10,000")
    verb.add_argument(
        "--max-places", type=int, default=100, help="most places in a city and type (default: %(default)s)"
    )
    verb.add_argument("--min-pois", type=int, help="make a city and type with fewer usable places an error")
    verb.add_argument("--open-only", action="store_true", help="leave out places that have closed")


def _running(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--out", default="runs", help="folder of run folders (default: %(default)s)")
    verb.add_argument("--pool", choices=POOLS, default="closed", help="candidates (default: %(default)s, the eight)")
    verb.add_argument("--split", choices=SPLITS, help="default: all dialogues, as in the paper")
    verb.add_argument("--limit", type=int, help="only the first dialogues")
    verb.add_argument(
        "--workers", type=int, default=1, help="processes, or threads with --lm; same result (default: %(default)s)"
    )
    verb.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster's address, or `local`, instead of processes")
    verb.add_argument("--strict", action="store_true", help="stop at the first turn that fails")
    verb.add_argument("--turn-seconds", type=float, help="a turn that takes longer has failed (default: no limit)")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.add_argument("--trust-remote-code", action="store_true", help="run the code of a Space (user/name)")
    verb.add_argument("--revision", help="commit, tag or branch of that Space; best the commit that you have read")
    model = verb.add_argument_group("language model, for baselines that ask one")
    model.add_argument(
        "--lm", metavar="NAME", help="openai/NAME, anthropic/NAME, …, or `local`, served by the run itself"
    )
    model.add_argument(
        "--retriever", choices=RETRIEVERS, help="what chooses the 16 places it is shown of a wide pool (default: tfidf)"
    )
    model.add_argument("--api-base", metavar="URL", help="an endpoint with OpenAI's interface, with openai/NAME")
    model.add_argument(
        "--budget-usd", "--budget", type=float, metavar="USD", help="stop when this call of the command has spent it"
    )
    model.add_argument("--budget-tokens", type=int, metavar="N", help="the same in tokens, read and written")
    model.add_argument(
        "--lm-prices", type=float, nargs=2, metavar=("READ", "WRITTEN"), help="USD for a million tokens, if not known"
    )
    model.add_argument("--lm-timeout", type=float, metavar="S", help="seconds for one call; default: 120")
    model.add_argument(
        "--lm-option", action="append", default=[], metavar="NAME=VALUE", help="sent as it is, e.g. temperature=0"
    )
