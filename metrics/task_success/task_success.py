"""Task success: does a dialogue ever name a right place (TSR), and after how many turns (T2R)?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.recovery import t2r, tsr
from trace_dataset.scoring.shapes import dialogue_rows, id_rows

_DESCRIPTION = """
Task success rate of the TRACE benchmark: the share of dialogues in which a system turn names a place of the
dialogue's gold (range 0 to 1; higher is better), and turns to recommendation: at which system turn the first
recommending one does (from 1; lower is better). A dialogue that never does is charged its number of turns, or left
out in the second column.
"""
_INPUTS = """
Args:
    predictions: for each dialogue its turns {"role", "action", "poi_ids"}: poi_ids are the places that a system
        turn names. Other keys are ignored.
    references: for each dialogue the ids that are right anywhere in it; [] leaves the dialogue out.
    mode: how T2R counts: "system_turns" (default), "rec_turns" (recommend and compare turns only) or "turn_index"
        (from 0).
Returns:
    tsr: mean over dialogues with gold; None without any.
    t2r: mean with misses charged the length of their dialogue. t2r_hits: mean over the dialogues with a hit.
    n: dialogues with gold. n_null: dialogues without. n_vacuous: 0. n_misses: dialogues of n without a hit.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/task_success")
    >>> dialogue = [
    ...     {"role": "user", "action": "inform"},
    ...     {"role": "system", "action": "clarify"},
    ...     {"role": "user", "action": "inform"},
    ...     {"role": "system", "action": "recommend", "poi_ids": ["a"]},
    ... ]
    >>> result = metric.compute(predictions=[dialogue, dialogue], references=[["a"], ["b"]])
    >>> result["tsr"], result["t2r"], result["t2r_hits"]
    (0.5, 3.0, 2.0)
"""


class TaskSuccess(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        text = datasets.Value("string")
        ids = datasets.List(text)
        turn = {"role": text, "action": text, "poi_ids": ids}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.List(turn), "references": ids}),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        named = ("role", "action", "poi_ids")
        dialogues = [[{name: turn[name] for name in named} for turn in turns] for turns in dialogue_rows(predictions)]
        return {"predictions": dialogues, "references": id_rows(references, "references")}

    def _compute(self, predictions, references, mode="system_turns"):
        t2r([], [], mode)  # an unknown mode is an error without any row too
        pairs = [
            ([{"role": row["role"], "action": row["action"], "pred": row["poi_ids"]} for row in turns], gold)
            for turns, gold in zip(predictions, references, strict=True)
        ]
        success = summarize(tsr(turns, gold) for turns, gold in pairs)
        hits = summarize(t2r(turns, gold, mode, misses="drop") for turns, gold in pairs)
        return {
            "tsr": success.mean,
            "t2r": summarize(t2r(turns, gold, mode, misses="length") for turns, gold in pairs).mean,
            "t2r_hits": hits.mean,
            "n": success.n,
            "n_null": success.n_null,
            "n_vacuous": 0,
            "n_misses": success.n - hits.n,
            "signature": signature("task_success", mode=mode, misses="length"),
        }
