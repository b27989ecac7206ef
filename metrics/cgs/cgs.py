"""CGS: how much of what a recommender says is backed by reviews that it really quotes and cites?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.composite import cgs_corpus
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.shapes import cited_columns, response_rows, review_rows

_DESCRIPTION = """
CGS, the composite grounding score of the TRACE benchmark: grounding (are the quotes real?) times a gate on citation
density (is enough of the answer quoted?) times provenance (do labels stand by what they back?). Range 0 to 1;
higher is better.
"""
_INPUTS = """
Args:
    predictions: one {"text": str, "recommends": bool} a response. A response that only asks or greets says False.
    references: for each response reviews [{"label": "R3", "text": str}, ...]; only those whose label stands in the
        text count.
    threshold: similarity from which a quote counts as found, 0 to 1 (default 0.80), or "exact".
    count: "matched" (default) or "quoted": which quotes' tokens citation density counts.
    resolvable_only: count for provenance only labels that are among the references (default False, as in the
        paper).
Returns:
    cgs: the paper's value, the formula applied to the means of gs, cd and pc. None without a response that
        recommends.
    cgs_mean_of_turns: the mean of the responses' own values; 0 for a response without a citation.
    gs, cd: means over all responses. pc: mean over the responses that recommend.
    n: responses. n_null: those without a pc, since they do not recommend.
    n_vacuous: those with a part that is 1 with nothing measured (n_vacuous_gs: no quotes, n_vacuous_pc: no terms).
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> cgs = evaluate.load("trace/cgs")
    >>> result = cgs.compute(
    ...     predictions=[{"text": 'Try Elm Cafe: "quiet patio, kind staff" [R1].', "recommends": True}],
    ...     references=[[{"label": "R1", "text": "Quiet patio, kind staff."}]],
    ... )
    >>> result["cgs"]
    1.0
"""


class Cgs(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": {"text": text, "recommends": datasets.Value("bool")},
                    "references": datasets.List({"label": text, "text": text}),
                }
            ),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": response_rows(predictions), "references": review_rows(references)}

    def _compute(self, predictions, references, threshold=0.80, count="matched", resolvable_only=False):
        texts = [row["text"] for row in predictions]
        reviews, offsets, resolvable = cited_columns(texts, references)
        columns = score_turns(
            texts,
            reviews,
            offsets,
            [row["recommends"] for row in predictions],
            threshold=threshold,
            count=count,
            valid_labels=resolvable if resolvable_only else None,
        )
        vacuous = list(zip(columns.vacuous_gs, columns.vacuous_pc, strict=True))
        return {
            "cgs": cgs_corpus(list(zip(columns.gs, columns.cd, columns.pc, strict=True))),
            "cgs_mean_of_turns": summarize(columns.cgs).mean,
            "gs": summarize(columns.gs).mean,
            "cd": summarize(columns.cd).mean,
            "pc": summarize(columns.pc).mean,
            "n": len(texts),
            "n_null": summarize(columns.pc).n_null,
            "n_vacuous": sum(map(any, vacuous)),
            "n_vacuous_gs": sum(columns.vacuous_gs),
            "n_vacuous_pc": sum(columns.vacuous_pc),
            "signature": signature("cgs", threshold=threshold, count=count, resolvable_only=resolvable_only),
        }
