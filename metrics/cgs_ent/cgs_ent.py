"""CGSent: CGS with entailment in place of quote matching, so that copying words earns nothing that they do not support."""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.composite import cgs
from trace_dataset.scoring.entailment import check_probability, score_entailment
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.nli import DEFAULT_MODEL, nli_model
from trace_dataset.scoring.shapes import cited_columns, cited_first, response_rows, review_rows

_DESCRIPTION = """
The entailment-gated composite of the TRACE benchmark: the share of a response's sentences that the reviews entail,
times a gate on citation density, times provenance. It answers the objection that CGS credits verbatim quotation
whatever it is used for. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: one {"text": str, "recommends": bool} a response. A response that only asks or greets says False.
    references: for each response the reviews [{"label": "R3", "text": str}, ...] of the places it names. All of
        them are premises; for citation density only those count whose label stands in the text.
    threshold: probability from which a claim counts as supported (default 0.5).
    quote_threshold: similarity from which a quote counts as found (default 0.80), or "exact".
    model: an NLI classifier on the Hub, a folder with one, or any object with name and probabilities(pairs), which
        returns the probability of entailment for each (premise, claim). Default cross-encoder/nli-deberta-v3-base.
    revision, device, dtype, cache: of the classifier; see trace_dataset.scoring.nli.NliModel.
Returns:
    cgs_ent: the formula applied to the means of entailment, cd and pc, as in the paper; None where one of them has
        no value.
    cgs_ent_mean_of_turns: mean of the responses' own values.
    entailment, cd, pc: means over the responses with claims, all responses, and those that recommend.
    n: responses. n_null: those without a value of their own (no claim, or no recommendation). n_vacuous: those that
        recommend and name no aspect term. n_claims, n_supported: totals.
    signature: version, model and options.
Raises:
    UsageError: a row of the wrong shape, or a model that cannot be loaded.
Examples:
    >>> class Words:  # a stand-in: real use names a model
    ...     name = "words"
    ...     def probabilities(self, pairs):
    ...         return [float(set(claim.lower().split()) <= set(premise.lower().split())) for premise, claim in pairs]
    >>> metric = evaluate.load("trace/cgs_ent")
    >>> result = metric.compute(
    ...     predictions=[{"text": '"quiet patio" [R1]. Valet parking.', "recommends": True}],
    ...     references=[[{"label": "R1", "text": 'A "quiet patio". Nice.'}]],
    ...     model=Words(),
    ... )
    >>> result["entailment"], result["cd"], result["pc"], result["cgs_ent"]
    (0.5, 0.5, 1.0, 0.5)
"""


class CgsEnt(CheckedRows, evaluate.Metric):
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

    def ready(self, threshold=0.5, quote_threshold=0.80, model=DEFAULT_MODEL, **options):
        nli_model(model, **options)

    def _compute(self, predictions, references, threshold=0.5, quote_threshold=0.80, model=DEFAULT_MODEL, **options):
        check_probability(threshold)
        scorer = nli_model(model, **options) if predictions else None
        texts = [row["text"] for row in predictions]
        recommends = [row["recommends"] for row in predictions]
        reviews, offsets, _ = cited_columns(texts, references)
        quoted = score_turns(texts, reviews, offsets, recommends, threshold=quote_threshold)
        entailed = score_entailment(texts, *cited_first(texts, references), scorer, threshold)
        turns = list(zip(entailed.values, quoted.cd, quoted.pc, strict=True))
        values = summarize(None if None in turn else cgs(*turn) for turn in turns)
        means = [summarize(column).mean for column in (entailed.values, quoted.cd, quoted.pc)]
        claims = [probability for group in entailed.probabilities for probability in group]
        return {
            "cgs_ent": None if None in means else cgs(*means),
            "cgs_ent_mean_of_turns": values.mean,
            "entailment": means[0],
            "cd": means[1],
            "pc": means[2],
            "n": len(texts),
            "n_null": values.n_null,
            "n_vacuous": sum(quoted.vacuous_pc),
            "n_claims": len(claims),
            "n_supported": sum(probability >= threshold for probability in claims),
            "signature": signature(
                "cgs_ent",
                model=getattr(scorer, "name", None),
                threshold=threshold,
                quote_threshold=quote_threshold,
            ),
        }
