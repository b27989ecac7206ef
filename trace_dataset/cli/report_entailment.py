"""`trace-dataset entail`: ask an entailment model about stored responses, once; reports read what it said."""

from __future__ import annotations

import argparse
from argparse import Namespace

from hydrate.errors import UsageError
from trace_dataset.cli.report import scored
from trace_dataset.cli.runs import open_source
from trace_dataset.evaluation.entailed import entailment_column, score_entailed, with_entailment
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.nli import DEFAULT_MODEL, nli_model


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Add the options of `entail` to a parser."""
    verb.add_argument("folder", nargs="+", help="run folders")
    verb.add_argument(
        "--model", default=DEFAULT_MODEL, help="an NLI classifier, by Hub name or folder (default: %(default)s)"
    )
    verb.add_argument("--limit", type=int, help="only the first dialogues; the paper takes 1,000 where a model wrote")


def entail(options: Namespace) -> int:
    """Score the claims of every run, and print each run's entailment grounding."""
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit {options.limit}", do="give 1 or more, or leave it out")
    runs = [RunFolder.open(folder) for folder in options.folder]
    model = nli_model(options.model)
    benchmark = open_source(options)
    for run, result in zip(runs, scored(runs, benchmark), strict=True):
        score_entailed(run, benchmark, model, options.limit)
        found = summarize(entailment_column(with_entailment(result, run)))
        shown = "-" if found.mean is None else f"{found.mean:.3f}"
        print(
            f"{run.folder}: entailment grounding {shown} (n {found.n:,}, undefined {found.n_null:,}), model {model.name}"
        )
    return 0
