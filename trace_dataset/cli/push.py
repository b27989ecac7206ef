"""`trace-dataset push`: what is published, where, and what was checked before."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from trace_dataset import hub
from trace_dataset.cli.progress import StageBars

Pushed = Callable[[Namespace, dict[str, Any]], Sequence[hub.Push]]


def run(options: Namespace) -> int:
    """Push, or show what a push would send."""
    bars = StageBars()
    common = {
        "yelp_path": options.yelp,
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


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Add one sub-command a kind of thing that can be published."""
    kinds = verb.add_subparsers(dest="kind", required=True, metavar="KIND")
    one = _kind(
        kinds, "dataset", _dataset, "a release folder", "trace-dataset push dataset trace-release org/trace --dry-run"
    )
    one.add_argument("what", help="the folder that `trace-dataset build` wrote")
    one.add_argument("repo", help="owner/name")
    one.add_argument(
        "--pois",
        choices=("ids", "full"),
        default="ids",
        help="ids, cities and types of places alone, or names, addresses and attributes too (default: %(default)s)",
    )
    one = _kind(kinds, "metric", _metric, "an evaluate module", "trace-dataset push metric cgs trace/cgs --dry-run")
    one.add_argument("what", help="name of an installed metric, or the path of a folder")
    one.add_argument("repo", help="owner/name; the name must be the metric's")
    every = _kind(kinds, "metrics", _metrics, "all installed metrics", "trace-dataset push metrics trace")
    every.add_argument("owner", help="account or organisation")
    one = _kind(kinds, "baseline", _baseline, "a baseline", "trace-dataset push baseline ./my_idea me/my-idea")
    one.add_argument("what", help="name of an installed baseline, or the path of a folder")
    one.add_argument("repo", help="owner/name")
    one.add_argument("--results", metavar="RUN", help="a run folder that was scored: its scores go into the card")
    every = _kind(kinds, "baselines", _baselines, "all installed baselines", "trace-dataset push baselines trace")
    every.add_argument("owner", help="account or organisation")
    for parser in (one, every):
        parser.add_argument(
            "--from-index", metavar="VERSION", help="require a released version, not the wheel that is running"
        )
        parser.add_argument("--lm", help="language model to try it with, if it asks one")


def _kind(
    kinds: argparse._SubParsersAction[argparse.ArgumentParser], name: str, push: Pushed, text: str, example: str
) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=text, description=f"Publish {text} on the Hub.", epilog=f"example: {example}")
    parser.set_defaults(push=push)
    parser.add_argument(
        "--dry-run", action="store_true", help="show every file, its size and what the checks found; send nothing"
    )
    parser.add_argument("--private", action="store_true", help="make a new repository private")
    parser.add_argument("--revision", metavar="BRANCH", help="a branch, made if missing (default: main)")
    parser.add_argument("--token", help="default: HF_TOKEN or the login of `hf auth login`")
    parser.add_argument(
        "--replace", action="store_true", help="put the files in place of whatever the repository holds"
    )
    parser.add_argument(
        "--yelp", help="the bundle to look for leaked text with; default: what was loaded from one before"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _dataset(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return [hub.push_release(options.what, options.repo, pois=options.pois, **common)]


def _metric(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return [hub.push_metric(options.what, options.repo, **common)]


def _metrics(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return hub.push_metrics(options.owner, **common)


def _baseline(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    extra = {"from_index": options.from_index, "lm": options.lm, "results": options.results}
    return [hub.push_baseline(options.what, options.repo, **extra, **common)]


def _baselines(options: Namespace, common: dict[str, Any]) -> list[hub.Push]:
    return hub.push_baselines(options.owner, from_index=options.from_index, lm=options.lm, **common)
