"""`trace-dataset push` and `verify-submission`: what is published, where, and what was checked before."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from hydrate.errors import UsageError
from trace_dataset import hub
from trace_dataset.cli.progress import StageBars
from trace_dataset.cli.runs import open_source
from trace_dataset.hub.leaderboard import row_of

Pushed = Callable[[Namespace, dict[str, Any]], Sequence[hub.Push]]
Adder = Callable[[argparse.ArgumentParser], None]
FLAGS = {
    "--dry-run": "show every file, its size and what the checks found; send nothing",
    "--private": "make a new repository private",
    "--replace": "put the files in place of whatever the repository holds",
    "--json": "print JSON",
}


def run(options: Namespace) -> int:
    """Push, or show what a push would send."""
    bars = StageBars()
    common = {
        "dry_run": options.dry_run,
        "private": options.private,
        "revision": options.revision,
        "token": options.token,
        "replace": options.replace,
        "progress": bars,
    }
    pushed = options.push(options, common)
    bars.close()
    if options.json:
        print(orjson.dumps([item.to_json() for item in pushed], option=orjson.OPT_INDENT_2).decode())
    else:
        print("\n\n".join(str(item) for item in pushed))
    return 0


def verify(options: Namespace) -> int:
    """Score submissions again from their responses, and print what came out."""
    benchmark = open_source(options)
    bars = StageBars()
    found = [hub.verify_submission(folder, benchmark, bars) for folder in options.folder]
    bars.close()
    if options.json:
        print(orjson.dumps([row_of(item) for item in found], option=orjson.OPT_INDENT_2).decode())
    else:
        print("\n".join(str(item) for item in found))
    return 0


def add_arguments(verb: argparse.ArgumentParser, source: Adder) -> None:
    """Add one sub-command a kind of thing that can be published.

    Args:
        source: adds the options that name a benchmark.
    """
    kinds = verb.add_subparsers(dest="kind", required=True, metavar="KIND")
    one = _kind(kinds, "dataset", _dataset, "a release folder", "dataset trace-release org/trace --dry-run")
    one.add_argument("what", help="the folder that `trace-dataset build` wrote")
    one.add_argument("repo", help="owner/name")
    one.add_argument(
        "--pois",
        choices=("ids", "full"),
        default="ids",
        help="ids, cities and types of places alone, or names, addresses and attributes too (default: %(default)s)",
    )
    one = _kind(kinds, "metric", _metric, "an evaluate module", "metric cgs trace/cgs --dry-run")
    one.add_argument("what", help="name of an installed metric, or the path of a folder")
    one.add_argument("repo", help="owner/name; the name must be the metric's")
    every = _kind(kinds, "metrics", _metrics, "all installed metrics", "metrics trace")
    every.add_argument("owner", help="account or organisation")

    one = _kind(kinds, "baseline", _baseline, "a baseline", "baseline ./my_idea me/my-idea")
    one.add_argument("what", help="name of an installed baseline, or the path of a folder")
    one.add_argument("repo", help="owner/name")
    one.add_argument("--results", metavar="RUN", help="a run folder that was scored: its scores go into the card")
    every = _kind(kinds, "baselines", _baselines, "all installed baselines", "baselines trace")
    every.add_argument("owner", help="account or organisation")
    for parser in (one, every):
        parser.add_argument("--from-index", metavar="VERSION", help="require a released version, not the running wheel")
        parser.add_argument("--lm", metavar="NAME", help="language model to try it with, if it asks one")
    for parser in kinds.choices.values():
        parser.add_argument("--yelp", help="the bundle to look for leaked text with; default: what was loaded before")

    board = _kind(kinds, "leaderboard", _leaderboard, "the leaderboard", "leaderboard runs/tfidf-closed org/board")
    board.add_argument("what", nargs="+", help="run folders; each is scored again from its responses")
    board.add_argument("repo", help="owner/name")
    board.add_argument("--family", action="append", default=[], metavar="SYSTEM=FAMILY", help="for the page's filter")
    source(board)


def _kind(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser], name: str, push: Pushed, text: str, example: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(
        name, help=text, description=f"Publish {text} on the Hub.", epilog=f"example: trace-dataset push {example}"
    )
    parser.set_defaults(push=push)
    for flag, meaning in FLAGS.items():
        parser.add_argument(flag, action="store_true", help=meaning)
    parser.add_argument("--revision", metavar="BRANCH", help="a branch, made if missing (default: main)")
    parser.add_argument("--token", help="default: HF_TOKEN or the login of `hf auth login`")
    return parser


def _dataset(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return [hub.push_release(options.what, options.repo, pois=options.pois, yelp_path=options.yelp, **common)]


def _metric(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return [hub.push_metric(options.what, options.repo, yelp_path=options.yelp, **common)]


def _metrics(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return hub.push_metrics(options.owner, yelp_path=options.yelp, **common)


def _baseline(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    extra = {"from_index": options.from_index, "lm": options.lm, "results": options.results, "yelp_path": options.yelp}
    return [hub.push_baseline(options.what, options.repo, **extra, **common)]


def _baselines(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    extra = {"from_index": options.from_index, "lm": options.lm, "yelp_path": options.yelp}
    return hub.push_baselines(options.owner, **extra, **common)


def _leaderboard(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    pairs = [item.partition("=") for item in options.family]
    if not all(system and family for system, _, family in pairs):
        raise UsageError("--family takes SYSTEM=FAMILY", do="for example --family my_idea=graph")
    families = {system: family for system, _, family in pairs}
    benchmark = open_source(options)
    return [hub.push_leaderboard(options.what, options.repo, benchmark=benchmark, families=families, **common)]
