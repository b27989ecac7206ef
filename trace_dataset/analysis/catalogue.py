"""The metrics as a report names them: a label, what it is a mean over, which way is better, and the tables it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_dataset.evaluation.results import Estimate


@dataclass(frozen=True)
class Metric:
    """A metric of the results by its column's label; `unit` is what its range is measured in."""

    name: str
    label: str
    lower_is_better: bool = False
    unit: str = "0 to 1"


_ALL = (
    Metric("recall_at_1", "R@1"),
    Metric("recall_at_3", "R@3"),
    Metric("mrr", "MRR"),
    Metric("recall_at_1_multi", "R@1 multi"),
    Metric("ranking_recall_at_3", "R@3 ranking"),
    Metric("bleu4", "BLEU-4"),
    Metric("rouge_l", "ROUGE-L"),
    Metric("cgs", "CGS"),
    Metric("cgs_mean_of_turns", "CGS turn mean"),
    Metric("gs", "GS"),
    Metric("cd", "CD"),
    Metric("pc", "PC"),
    Metric("tsr", "TSR"),
    Metric("t2r", "T2R", lower_is_better=True, unit="turns"),
    Metric("t2r_hits", "T2R hits", lower_is_better=True, unit="turns"),
    Metric("rejection_recovery", "RejRec"),
    Metric("rejection_recovery_literal", "RejRec literal"),
    Metric("spatial_coherence", "Spatial"),
    Metric("price_alignment", "Price"),
    Metric("preference_coverage", "Preference"),
)
METRICS = {metric.name: metric for metric in _ALL}

COMPETENCIES = {
    "Accuracy": ("recall_at_1", "recall_at_3", "mrr"),
    "Grounding": ("cgs", "gs", "cd", "pc"),
    "Recovery": ("tsr", "t2r", "rejection_recovery"),
}
TABLE_5 = {
    "Accuracy": ("recall_at_1", "recall_at_3", "mrr", "recall_at_1_multi", "ranking_recall_at_3"),
    "Text": ("bleu4", "rouge_l"),
    "Grounding": ("cgs", "cgs_mean_of_turns", "cd"),
    "Success": ("tsr", "t2r", "t2r_hits"),
}
TABLE_6 = {
    "Grounding": ("gs", "pc"),
    "Recovery": ("rejection_recovery", "rejection_recovery_literal"),
    "Practical": ("spatial_coherence", "price_alignment", "preference_coverage"),
}
HEADLINE = (("Accuracy", "recall_at_1"), ("Grounding", "cgs"), ("Recovery", "rejection_recovery"))
COMPARED = (
    "recall_at_1",
    "recall_at_3",
    "mrr",
    "bleu4",
    "rouge_l",
    "cgs_mean_of_turns",
    "gs",
    "cd",
    "pc",
    "tsr",
    "rejection_recovery",
    "spatial_coherence",
)


COMPARABLE = tuple(name for name in METRICS if name != "cgs")  # a product of means has no value of a dialogue


def ranks_of(metric: Metric, column: Sequence[Estimate | None]) -> list[int | None]:
    """Return 1 for the best and 2 for the second best of a column, as printed to three decimals; ties share a mark.

    Nothing is marked where fewer than two systems have a value, or all are equal.

    Example:
        >>> ranks_of(METRICS["tsr"], [Estimate(0.5, 9, 0), Estimate(0.9, 9, 0), None, Estimate(0.9, 9, 0)])
        [2, 1, None, 1]
    """
    values = [None if item is None or item.value is None else round(item.value, 3) for item in column]
    defined = sorted({value for value in values if value is not None}, reverse=not metric.lower_is_better)
    places = {value: rank for rank, value in enumerate(defined[:2], 1)} if len(defined) > 1 else {}
    return [None if value is None else places.get(value) for value in values]
