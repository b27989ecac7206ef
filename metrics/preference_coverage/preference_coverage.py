"""Preference coverage: is what the user asked for to be found at the places that a response names?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.practical import preference_coverage
from trace_dataset.scoring.shapes import texts_rows

_DESCRIPTION = """
Preference coverage: of the aspect terms (41 words such as quiet, parking, brunch) that the user named so far, the
share that stands in the categories, attributes or reviews of at least one place that the response names. Without
such a term there is no value. Range 0 to 1; higher is better. The TRACE paper names this metric without a
definition; this one needs no model.
"""
_INPUTS = """
Args:
    predictions: for each turn the texts of the places named (categories, attributes and reviews of a place joined);
        [] for none.
    references: for each turn the user turns so far.
Returns:
    preference_coverage: mean over turns with a wish; None without any.
    n: those turns. n_null: the others. n_vacuous: 0. n_missing: turns of n where nothing was named, scored 0.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/preference_coverage")
    >>> result = metric.compute(
    ...     predictions=[["Cafes. Free parking in the back."]], references=[["A quiet place with parking"]]
    ... )
    >>> result["preference_coverage"]
    0.5
"""


class PreferenceCoverage(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        texts = datasets.List(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": texts, "references": texts}),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {
            "predictions": texts_rows(predictions, "predictions"),
            "references": texts_rows(references, "references"),
        }

    def _compute(self, predictions, references):
        pairs = list(zip(predictions, references, strict=True))
        values = [preference_coverage(said, places) for places, said in pairs]
        total = summarize(values)
        return {
            "preference_coverage": total.mean,
            "n": total.n,
            "n_null": total.n_null,
            "n_vacuous": 0,
            "n_missing": sum(
                value is not None and not places for value, places in zip(values, predictions, strict=True)
            ),
            "signature": signature("preference_coverage", terms=41),
        }
