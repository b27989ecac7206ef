"""GS, the grounding score: do quoted phrases stand in the reviews that the response cites?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.shapes import cited_columns, review_rows, text_rows

_DESCRIPTION = """
Grounding score of the TRACE benchmark: the share of a response's quoted phrases that stand, with a similarity of at
least 0.80, in a review that the response cites. A response without quotes scores 1.0 with nothing measured; it is
counted as vacuous. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: response texts; "" for an answer that failed.
    references: for each response reviews [{"label": "R3", "text": str}, ...]; only those whose label stands in the
        text count.
    threshold: similarity from which a quote counts as found, 0 to 1 (default 0.80), or "exact".
Returns:
    grounding_score (also as gs): mean over all responses, vacuous ones included, as in the paper.
    gs_quoting: mean over the responses that quote; None without any. gs0: mean with 0 in place of a vacuous 1.
    n: responses. n_null: 0. n_vacuous: responses without a quote. n_quotes, n_matched: quotes, and those found.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/grounding_score")
    >>> result = metric.compute(
    ...     predictions=['Rooms are "spotless" with "valet parking" [R1].'],
    ...     references=[[{"label": "R1", "text": "Small but spotless."}]],
    ... )
    >>> result["grounding_score"]
    0.5
"""


class GroundingScore(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": text, "references": datasets.List({"label": text, "text": text})}
            ),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": text_rows(predictions), "references": review_rows(references)}

    def _compute(self, predictions, references, threshold=0.80):
        reviews, offsets, _ = cited_columns(predictions, references)
        columns = score_turns(predictions, reviews, offsets, [False] * len(predictions), threshold=threshold)
        pairs = list(zip(columns.gs, columns.vacuous_gs, strict=True))
        score = summarize(columns.gs).mean
        return {
            "grounding_score": score,
            "gs": score,
            "gs_quoting": summarize(None if vacuous else gs for gs, vacuous in pairs).mean,
            "gs0": summarize(gs if cd else 0.0 for gs, cd in zip(columns.gs, columns.cd, strict=True)).mean,
            "n": len(predictions),
            "n_null": 0,
            "n_vacuous": sum(columns.vacuous_gs),
            "n_quotes": sum(columns.n_quotes),
            "n_matched": sum(columns.n_matched),
            "signature": signature("grounding_score", threshold=threshold),
        }
