"""Entailment grounding: do the reviews say what the response claims, whether it quotes them or not?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.entailment import check_probability, score_entailment
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.nli import DEFAULT_MODEL, nli_model
from trace_dataset.scoring.shapes import cited_first, review_rows, text_rows

_DESCRIPTION = """
Entailment grounding of the TRACE benchmark: every sentence of a response is a claim; it is supported if a natural
language inference model gives entailment a probability of at least 0.5 with one of the reviews as premise. The
value is the share of supported claims. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: response texts; "" for an answer that failed.
    references: for each response the reviews [{"label": "R3", "text": str}, ...] of the places it names. All of
        them are premises, those whose label stands in the text first.
    threshold: probability from which a claim counts as supported (default 0.5).
    model: an NLI classifier on the Hub, a folder with one, or any object with name and probabilities(pairs), which
        returns the probability of entailment for each (premise, claim). Default cross-encoder/nli-deberta-v3-base.
    revision, device, dtype, cache: of the classifier; see trace_dataset.scoring.nli.NliModel.
Returns:
    entailment_grounding: mean over the responses with claims; None without any.
    entailment_quote, entailment_rating_meta, entailment_framing, entailment_other_claim: share of supported claims
        of that kind, with n_claims_quote and so on.
    n: responses with claims. n_null: without. n_vacuous: 0. n_claims, n_supported: totals.
    n_without_premises: responses of n without a review, whose claims count as unsupported.
    signature: version, model and options.
Raises:
    UsageError: a row of the wrong shape, or a model that cannot be loaded.
Examples:
    >>> class Words:  # a stand-in: real use names a model
    ...     name = "words"
    ...     def probabilities(self, pairs):
    ...         return [float(set(claim.lower().split()) <= set(premise.lower().split())) for premise, claim in pairs]
    >>> metric = evaluate.load("trace/entailment_grounding")
    >>> result = metric.compute(
    ...     predictions=["quiet patio! Valet parking."],
    ...     references=[[{"label": "R1", "text": "a quiet patio! and more"}]],
    ...     model=Words(),
    ... )
    >>> result["entailment_grounding"]
    0.5
"""


class EntailmentGrounding(CheckedRows, evaluate.Metric):
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

    def ready(self, threshold=0.5, model=DEFAULT_MODEL, **options):
        nli_model(model, **options)

    def _compute(self, predictions, references, threshold=0.5, model=DEFAULT_MODEL, **options):
        check_probability(threshold)
        scorer = nli_model(model, **options) if predictions else None
        premises, offsets = cited_first(predictions, references)
        columns = score_entailment(predictions, premises, offsets, scorer, threshold)
        total = summarize(columns.values)
        kinds = columns.by_category(threshold)
        claims = [probability for group in columns.probabilities for probability in group]
        pairs = zip(columns.claims, references, strict=True)
        return {
            "entailment_grounding": total.mean,
            **{f"entailment_{name}": share for name, (share, _) in kinds.items()},
            **{f"n_claims_{name}": count for name, (_, count) in kinds.items()},
            "n": total.n,
            "n_null": total.n_null,
            "n_vacuous": 0,
            "n_claims": len(claims),
            "n_supported": sum(probability >= threshold for probability in claims),
            "n_without_premises": sum(bool(group) and not reviews for group, reviews in pairs),
            "signature": signature("entailment_grounding", model=getattr(scorer, "name", None), threshold=threshold),
        }
