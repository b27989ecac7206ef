"""PC, provenance coverage: does a label stand by each aspect that a response speaks of?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.shapes import cited_columns, response_rows, review_rows

_DESCRIPTION = """
Provenance coverage of the TRACE benchmark: of the aspect terms in a response (41 words such as quiet, parking,
brunch), the share with a label like [R3] within 80 characters. A response that recommends and names none of the
terms scores 1.0 with nothing measured and is counted as vacuous; one that does not recommend has no value. Range 0
to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: one {"text": str, "recommends": bool} a response. A response that only asks or greets says False.
    references: none: every label counts, as in the paper. Or, for each response, reviews [{"label": "R3", "text":
        str}, ...]: then only labels that are among them count, which is recommended for reporting.
    window: characters allowed between a term and the bracket of a label (default 80).
Returns:
    provenance_coverage (also as pc): mean over the responses that recommend; None without any.
    pc_measured: mean over those that name at least one term; None without any.
    n: responses that recommend. n_null: the others. n_vacuous: those of n without a term.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/provenance_coverage")
    >>> row = {"text": "Cheap seafood [R4]." + "." * 90 + " and a pool.", "recommends": True}
    >>> round(metric.compute(predictions=[row])["provenance_coverage"], 3)
    0.667
"""
_EVERY_LABEL = [{"label": "*", "text": ""}]


class ProvenanceCoverage(CheckedRows, evaluate.Metric):
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
        rows = response_rows(predictions)
        # evaluate wants a row of every declared input, so "no references" becomes a row that says so
        reviews = [_EVERY_LABEL] * len(rows) if references is None else review_rows(references)
        return {"predictions": rows, "references": reviews}

    def _compute(self, predictions, references, window=80):
        texts = [row["text"] for row in predictions]
        every = [given == _EVERY_LABEL for given in references]
        given = [[] if free else reviews for free, reviews in zip(every, references, strict=True)]
        _, _, resolvable = cited_columns(texts, given)
        columns = score_turns(
            texts,
            [],
            [0] * (len(texts) + 1),
            [row["recommends"] for row in predictions],
            window=window,
            valid_labels=[None if free else labels for free, labels in zip(every, resolvable, strict=True)],
        )
        total = summarize(columns.pc)
        pairs = zip(columns.pc, columns.vacuous_pc, strict=True)
        return {
            "provenance_coverage": total.mean,
            "pc": total.mean,
            "pc_measured": summarize(None if vacuous else pc for pc, vacuous in pairs).mean,
            "n": total.n,
            "n_null": total.n_null,
            "n_vacuous": sum(columns.vacuous_pc),
            "signature": signature("provenance_coverage", window=window, labels="all" if all(every) else "resolvable"),
        }
