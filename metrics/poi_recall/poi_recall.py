"""Recall@k, Hit@k, MRR and nDCG@k over the places that a response names, with one or several right answers."""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.checks import check_cut
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.ranking import hit_at_k, ndcg_at_k, recall_at_k, reciprocal_rank
from trace_dataset.scoring.shapes import id_rows

_DESCRIPTION = """
Accuracy of the places that a response names, in the order it names them: Recall@k, Hit@k, mean reciprocal rank and
nDCG@k against the gold ids, and with alternatives the same against everything that would have been right. Range 0
to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: for each turn the ids of the places named, in order; [] for none. Repeats are dropped before a list
        is cut.
    references: for each turn the gold ids; [] where there is none, which leaves the turn out.
    ks: cut-off ranks (default 1 and 3).
    alternatives: for each turn other ids that fit as well; adds multi_ref_... values.
Returns:
    recall_at_K, hit_at_K, ndcg_at_K for each K, and mrr: means over turns with gold; None without any.
    multi_ref_recall_at_K (a hit on a gold id or an alternative), multi_ref_ndcg_at_K, multi_ref_mrr: with
        alternatives only.
    n: turns with gold. n_null: turns without. n_vacuous: 0. n_missing: turns of n where nothing was named, scored
        0.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/poi_recall")
    >>> result = metric.compute(predictions=[["a", "b"], []], references=[["b"], ["c"]])
    >>> result["recall_at_1"], result["recall_at_3"], result["mrr"], result["n_missing"]
    (0.0, 0.5, 0.25, 1)
"""


class PoiRecall(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    per_row = ("alternatives",)

    def _info(self):
        check_config(self.config_name)
        ids = datasets.List(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": ids, "references": ids}),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": id_rows(predictions, "predictions"), "references": id_rows(references, "references")}

    def _compute(self, predictions, references, ks=(1, 3), alternatives=None):
        for k in ks:
            check_cut(k)
        turns = [(named, gold) for named, gold in zip(predictions, references, strict=True) if gold]
        result = {}
        for k in ks:
            result[f"recall_at_{k}"] = _mean(recall_at_k(named, gold, k) for named, gold in turns)
            result[f"hit_at_{k}"] = _mean(hit_at_k(named, gold, k) for named, gold in turns)
            result[f"ndcg_at_{k}"] = _mean(ndcg_at_k(named, gold, k) for named, gold in turns)
        result["mrr"] = _mean(reciprocal_rank(named, gold) for named, gold in turns)
        if alternatives is not None:
            result |= _multi_reference(predictions, references, alternatives, ks)
        return {
            **result,
            "n": len(turns),
            "n_null": len(predictions) - len(turns),
            "n_vacuous": 0,
            "n_missing": sum(not named for named, _ in turns),
            "signature": signature(
                "poi_recall", ks=",".join(map(str, ks)), references="single" if alternatives is None else "multiple"
            ),
        }


def _multi_reference(predictions, references, alternatives, ks):
    others = id_rows(alternatives, "alternatives")
    rows = zip(predictions, references, others, strict=True)
    turns = [(named, [*gold, *other]) for named, gold, other in rows if gold]
    result = {"multi_ref_mrr": _mean(reciprocal_rank(named, right) for named, right in turns)}
    for k in ks:
        result[f"multi_ref_recall_at_{k}"] = _mean(hit_at_k(named, right, k) for named, right in turns)
        result[f"multi_ref_ndcg_at_{k}"] = _mean(ndcg_at_k(named, right, k) for named, right in turns)
    return result


def _mean(values):
    return summarize(values).mean
