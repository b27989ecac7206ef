"""The options of `trace-dataset build` that let a language model write, and what is said of its work."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.dialogues.lm_report import WriterReport
from trace_dataset.lm import Budget
from trace_dataset.release import Release

FLAGS = ("api_base", "journal", "budget_usd", "budget_tokens", "lm_prices", "lm_threads", "lm_timeout")


def add_arguments(verb: ArgumentParser) -> None:
    """Add `--lm` and what goes with it."""
    group = verb.add_argument_group(
        "a language model as the writer",
        "without --lm a grammar writes, for nothing; a key is read from OPENAI_API_KEY, ANTHROPIC_API_KEY, …",
    )
    group.add_argument("--lm", metavar="NAME", help="local, openai/NAME, anthropic/NAME, … as DSPy names them")
    group.add_argument("--api-base", metavar="URL", help="an endpoint with OpenAI's interface, with --lm openai/NAME")
    group.add_argument(
        "--journal", metavar="FILE", help="what was paid for, to go on from after a stop; default: OUT.journal.jsonl"
    )
    group.add_argument("--budget-usd", type=float, metavar="X", help="stop when so much is spent")
    group.add_argument("--budget-tokens", type=int, metavar="N", help="stop when so many are read and written")
    group.add_argument(
        "--lm-prices", type=float, nargs=2, metavar=("READ", "WRITTEN"), help="USD for a million tokens, if not known"
    )
    group.add_argument("--lm-threads", type=int, metavar="N", help="dialogues at a time; default: 8, local 1")
    group.add_argument("--lm-timeout", type=float, metavar="S", help="seconds for one call; default: 120")


def generator_options(options: Namespace) -> dict[str, Any]:
    """Return what `build_release` needs to know of the writer; raises `UsageError` for a flag without `--lm`."""
    given = {name: value for name in FLAGS if (value := getattr(options, name)) is not None}
    if options.lm is None:
        if given:
            raise UsageError(
                f"--{next(iter(given)).replace('_', '-')} needs --lm", do="name a language model with --lm"
            )
        return {}
    budget = None
    if options.budget_usd is not None or options.budget_tokens is not None:
        budget = Budget(options.budget_usd, options.budget_tokens)
    names = {"lm_prices": "prices", "lm_threads": "threads", "lm_timeout": "timeout"}
    extra = {name: given[flag] for flag, name in names.items() if flag in given}
    if "prices" in extra:
        extra["prices"] = tuple(extra["prices"])
    return {
        "generator": options.lm,
        "api_base": options.api_base,
        "journal": options.journal,
        "budget": budget,
        "lm_options": extra,
    }


def tell_of_model(release: Release) -> int:
    """Print what the model did; returns 1 where it wrote nothing, so that nobody takes the template's words for its own."""
    if not release.manifest.writer:
        return 0
    print(f"\n{WriterReport.from_json(release.manifest.writer)}")
    if release.manifest.writer["written"]:
        return 0
    print("the model wrote nothing: every dialogue is the template's")
    return 1
