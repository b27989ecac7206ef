"""Price alignment: do the places that a dialogue recommends cost what the user said they may?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import aggregate
from trace_dataset.scoring.checks import UsageError
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.practical import price_alignment, price_ceiling
from trace_dataset.scoring.shapes import price_rows, texts_rows

_DESCRIPTION = """
Price alignment of the TRACE benchmark: of the recommended places with a known price level, the share at or below
the ceiling that the user's last price word sets (budget, cheap, affordable: 2; moderate: 3; luxury, upscale: 4).
Without such a word or without a known price there is no value. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: for each row the price levels of the places named, [1, None, 3]; 2, "2" and "$$" mean the same,
        None is unknown.
    references: for each row the user turns so far, oldest first.
    dialogue_ids: for each row the dialogue it belongs to: values are averaged within dialogues first, as in the
        paper. Without it every row counts as a dialogue.
Returns:
    price_alignment: mean over dialogues with a value; None without any.
    n: those dialogues. n_null: the others. n_vacuous: rows with a value whose ceiling is 4, which cannot fail.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/price_alignment")
    >>> result = metric.compute(predictions=[[1, "$$", 3, None]], references=[["Something cheap, please"]])
    >>> round(result["price_alignment"], 3)
    0.667
"""


class PriceAlignment(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    per_row = ("dialogue_ids",)

    def _info(self):
        check_config(self.config_name)
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.List(datasets.Value("int64")),
                    "references": datasets.List(datasets.Value("string")),
                }
            ),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": price_rows(predictions), "references": texts_rows(references, "references")}

    def _compute(self, predictions, references, dialogue_ids=None):
        owners = range(len(predictions)) if dialogue_ids is None else list(dialogue_ids)
        if len(owners) != len(predictions):
            raise UsageError(f"{len(owners)} dialogue_ids for {len(predictions)} rows", do="pass one for each row")
        dialogues = {}
        vacuous = 0
        for owner, prices, said in zip(owners, predictions, references, strict=True):
            value = price_alignment(said, prices)
            dialogues.setdefault(owner, []).append(value)
            vacuous += value is not None and price_ceiling(said) == 4
        defined = sum(any(value is not None for value in values) for values in dialogues.values())
        return {
            "price_alignment": aggregate(list(dialogues.values()), level="dialogue"),
            "n": defined,
            "n_null": len(dialogues) - defined,
            "n_vacuous": vacuous,
            "signature": signature("price_alignment", unit="row" if dialogue_ids is None else "dialogue"),
        }
