"""Scores as the Hub reads them in a card's front matter: `model-index`, one entry a metric, each with its interval and n."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.score import stored_scores

SHOWN = {
    "recall_at_1": "R@1",
    "recall_at_3": "R@3",
    "mrr": "MRR",
    "cgs": "CGS",
    "gs": "GS",
    "cd": "CD",
    "pc": "PC",
    "tsr": "TSR",
    "t2r": "T2R",
    "rejection_recovery": "rejection recovery",
}


def results_of(given: Results | str | Path) -> Results:
    """Return results, reading them from a run folder that was scored; raises `UsageError` where it was not."""
    if isinstance(given, Results):
        return given
    run = RunFolder.open(given)
    results = stored_scores(run)
    if results is None:
        raise UsageError(f"{run.folder} was not scored", do=f"run `trace-dataset score {run.folder} …` first")
    return results


def model_index(name: str, results: Results) -> list[dict[str, Any]]:
    """Return the `model-index` of a card, checked by the Hub library's own reader."""
    from huggingface_hub import EvalResult
    from huggingface_hub.repocard_data import eval_results_to_model_index

    settings, estimates = results.settings, results.estimates()
    entries = [
        EvalResult(
            task_type="conversational-recommendation",
            task_name="Conversational recommendation with citations",
            dataset_type="trace",
            dataset_name=f"TRACE, {settings['pool']} pool, split {settings['split']}",
            dataset_args={"content_digest": settings["content_digest"], "dialogues": settings["dialogues"]},
            metric_type=key,
            metric_name=label,
            metric_value=round(estimates[key].value or 0.0, 4),
            metric_args={"low": estimates[key].low, "high": estimates[key].high, "n": estimates[key].n},
            verified=False,
        )
        for key, label in SHOWN.items()
        if estimates[key].value is not None
    ]
    index: list[dict[str, Any]] = eval_results_to_model_index(name, entries)
    return index
