"""CD, citation density: how much of a response is quoted from reviews that it cites?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.shapes import cited_columns, review_rows, text_rows

_DESCRIPTION = """
Citation density of the TRACE benchmark: tokens inside quotes that stand in a cited review, divided by all tokens of
the response. Range 0 to 1. Not a goal in itself: CGS opens fully at 0.05, and 1.0 is a response that says nothing
of its own.
"""
_INPUTS = """
Args:
    predictions: response texts; "" for an answer that failed.
    references: for each response reviews [{"label": "R3", "text": str}, ...]; only those whose label stands in the
        text count.
    count: "matched" (default: only quotes that were found) or "quoted" (all quotes).
    threshold: similarity from which a quote counts as found, 0 to 1 (default 0.80), or "exact".
Returns:
    citation_density (also as cd): mean over all responses.
    n: responses. n_null: 0. n_vacuous: 0, since nothing scores without being measured.
    n_without: responses that score 0. n_tokens, n_quoted_tokens: totals.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/citation_density")
    >>> result = metric.compute(
    ...     predictions=['"spotless" [R1] and "two hours" [R2] win'],
    ...     references=[[{"label": "R1", "text": "Spotless."}, {"label": "R2", "text": "We stayed two hours."}]],
    ... )
    >>> result["citation_density"]
    0.6
"""


class CitationDensity(CheckedRows, evaluate.Metric):
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

    def _compute(self, predictions, references, count="matched", threshold=0.80):
        reviews, offsets, _ = cited_columns(predictions, references)
        nobody = [False] * len(predictions)
        columns = score_turns(predictions, reviews, offsets, nobody, threshold=threshold, count=count)
        density = summarize(columns.cd).mean
        return {
            "citation_density": density,
            "cd": density,
            "n": len(predictions),
            "n_null": 0,
            "n_vacuous": 0,
            "n_without": columns.cd.count(0.0),
            "n_tokens": sum(columns.n_tokens),
            "n_quoted_tokens": sum(columns.n_quoted_tokens),
            "signature": signature("citation_density", count=count, threshold=threshold),
        }
