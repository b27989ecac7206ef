"""Publish and load: datasets, metrics, baselines and the leaderboard on the Hugging Face Hub.

Everything is validated and cleared of review text before anything is sent, goes up in one commit, and is exactly what a dry
run shows.
"""

from trace_dataset.hub.metrics import push_metric, push_metrics
from trace_dataset.hub.publication import Publication, Push

__all__ = ["Publication", "Push", "push_metric", "push_metrics"]
