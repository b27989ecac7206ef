"""Rejection recovery: after the user refuses a place, does the next recommendation name a right one?"""

import datasets
import evaluate

from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.recovery import recovery_counts
from trace_dataset.scoring.shapes import dialogue_rows, id_rows

_DESCRIPTION = """
Rejection recovery of the TRACE benchmark: of the turns in which a user refuses a place and refines the wish, the
share after which the next recommending turn names a place of the dialogue's gold. The headline takes what was
refused out of the gold; the literal rule of the paper, under which naming the refused place again counts as
recovery, stands beside it. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: for each dialogue its turns {"role", "action", "poi_ids", "rejected_poi_ids"}: poi_ids are the
        places that a system turn names, rejected_poi_ids those that a user turn refuses (action
        "reject_and_refine"). Other keys are ignored.
    references: for each dialogue the ids that are right anywhere in it.
Returns:
    rejection_recovery: recovered / rejections, refused places taken out of the gold. None without a rejection.
    rejection_recovery_literal: the same with refused places left in.
    n: rejections. n_null: dialogues without one. n_vacuous: 0.
    n_unnamed: rejections that do not say which place is refused; for them the two values cannot differ.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/rejection_recovery")
    >>> dialogue = [
    ...     {"role": "system", "action": "recommend", "poi_ids": ["a"]},
    ...     {"role": "user", "action": "reject_and_refine", "rejected_poi_ids": ["a"]},
    ...     {"role": "system", "action": "recommend", "poi_ids": ["a"]},
    ... ]
    >>> result = metric.compute(predictions=[dialogue], references=[["a", "b"]])
    >>> result["rejection_recovery"], result["rejection_recovery_literal"]
    (0.0, 1.0)
"""


class RejectionRecovery(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        text = datasets.Value("string")
        ids = datasets.List(text)
        turn = {"role": text, "action": text, "poi_ids": ids, "rejected_poi_ids": ids}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.List(turn), "references": ids}),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": dialogue_rows(predictions), "references": id_rows(references, "references")}

    def _compute(self, predictions, references):
        dialogues = [_plain(turns) for turns in predictions]
        pairs = list(zip(dialogues, references, strict=True))
        strict = [recovery_counts(turns, gold, exclude_rejected=True) for turns, gold in pairs]
        literal = [recovery_counts(turns, gold, exclude_rejected=False) for turns, gold in pairs]
        refusals = [turn for turns in dialogues for turn in turns if turn["action"] == "reject_and_refine"]
        return {
            "rejection_recovery": _pooled(strict),
            "rejection_recovery_literal": _pooled(literal),
            "n": len(refusals),
            "n_null": sum(rejections == 0 for _, rejections in strict),
            "n_vacuous": 0,
            "n_unnamed": sum(not turn["rejected"] for turn in refusals),
            "signature": signature("rejection_recovery", exclude_rejected=True),
        }


def _plain(turns):
    return [
        {"role": row["role"], "action": row["action"], "pred": row["poi_ids"], "rejected": row["rejected_poi_ids"]}
        for row in turns
    ]


def _pooled(counts):
    rejections = sum(total for _, total in counts)
    return sum(recovered for recovered, _ in counts) / rejections if rejections else None
