"""Publish and load: datasets, metrics, baselines and the leaderboard on the Hugging Face Hub.

Everything is validated and cleared of review text before anything is sent, goes up in one commit, and is exactly what a dry
run shows.
"""

from trace_dataset.hub.baselines import push_baseline, push_baselines
from trace_dataset.hub.leaderboard import push_leaderboard
from trace_dataset.hub.metrics import push_metric, push_metrics
from trace_dataset.hub.publication import Publication, Push
from trace_dataset.hub.releases import push_release
from trace_dataset.hub.submission import Submission, verify_submission

__all__ = [
    "Publication",
    "Push",
    "Submission",
    "push_baseline",
    "push_baselines",
    "push_leaderboard",
    "push_metric",
    "push_metrics",
    "push_release",
    "verify_submission",
]
