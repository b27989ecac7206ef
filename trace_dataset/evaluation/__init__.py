"""Run, score and resume: from a baseline to results."""

from trace_dataset.evaluation.evaluate import evaluate_baseline, load_metric
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.runner import Progress, run_baseline
from trace_dataset.evaluation.score import score_run

__all__ = [
    "Estimate",
    "Progress",
    "Results",
    "RunFolder",
    "evaluate_baseline",
    "load_metric",
    "run_baseline",
    "score_run",
]
