"""From a worked case of `../shared/cases/worked_examples.json` to the value that this project computes for it.

`answer(case)` raises KeyError for a metric that is not built yet; those names stand in `PENDING`, which must shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import hydrate
from trace_dataset import splits
from trace_dataset.analysis import agreement, statistics
from trace_dataset.dialogues import validate_dialogue
from trace_dataset.evaluation import bootstrap
from trace_dataset.kb import poi_kept
from trace_dataset.retrieval import aspects, consensus, dense, evidence, fusion, memory, orders, sparse, spatial, state
from trace_dataset.schema import POI
from trace_dataset.scoring import (
    aggregate,
    calibration,
    entailment,
    grounding,
    human,
    judge,
    practical,
    ranking,
    recovery,
    text,
)

# Waiting for the folder that will own the function.
PENDING = [
    "dialogue_kept",
    "feedback_class",
    "k_core",
    "keep_review",
    "might_likes",
    "sentence_limit_ok",
    "title_map",
]


# A case that a decision has made void, and why; the opposite is asserted.
VOID = {"redact-02": "decision 15: a quote that was altered may not stay in clear"}


def _turns_to_recommendation(**arguments: Any) -> float | None:
    # the cases are older than the decision to charge a miss the length of its dialogue
    return recovery.t2r(**{"misses": "drop", **arguments})


def _bootstrap_interval(**arguments: Any) -> list[float] | None:
    # the cases draw 1,000 resamples unless they say otherwise
    return bootstrap.bootstrap_ci(**{"n_boot": 1000, **arguments})


def _popularity_rank(pois: list[dict[str, Any]]) -> list[str]:
    places = [
        POI(poi["id"], "", "", "", "", "", None, None, (), poi["stars"], poi["review_count"], None) for poi in pois
    ]
    return orders.popularity_rank(places)


def _hydrate(template: str, spans: list[list[Any]], reviews: Mapping[str, str]) -> str:
    quotes = [
        {"n": n, "business_id": "b", "label": f"R{n + 1}", "review_id": review, "start": start, "end": end,
         "sha256": hydrate.span_sha256(reviews[review][start:end])}
        for n, (review, start, end) in enumerate(spans)
    ]  # fmt: skip
    citations = [{"label": f"R{n}", "business_id": "b", "review_id": "r"} for n in text.parse_citations(template)]
    turn = {"index": 0, "text": template, "quotes": quotes, "citations": citations}
    [row], _ = hydrate.hydrate([{"dialogue_id": "d", "turns": [turn]}], reviews)
    return str(row["turns"][0]["text"])


def _redact(text: str, reviews: Mapping[str, str]) -> list[Any]:
    template, spans = hydrate.dehydrate_text(text, reviews)
    return [template, [[span.text_id, span.start, span.end] for _, span in sorted(spans.items())]]


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "aggregate": aggregate.aggregate,
    "aspect_score": aspects.aspect_score,
    "consensus": consensus.consensus,
    "dense_scores": dense.dense_scores,
    "dst_filter": state.dst_filter,
    "jaccard_retrieval": evidence.jaccard_retrieval,
    "memory_weight": memory.memory_weight,
    "rag_citation_check": evidence.rag_citation_check,
    "format_distance": spatial.format_distance,
    "hydrate": _hydrate,
    "itinerary_order": spatial.itinerary_order,
    "poi_kept": poi_kept,
    "popularity_rank": _popularity_rank,
    "proximity_edges": spatial.proximity_edges,
    "redact": _redact,
    "rrf_scores": fusion.rrf_scores,
    "spatial_blend": spatial.spatial_blend,
    "split_sizes": splits.split_sizes,
    "tfidf_scores": sparse.tfidf_scores,
    "validate_dialogue": validate_dialogue,
    "alignment_with_majority": calibration.alignment_with_majority,
    "annotator_deviation": human.annotator_deviation,
    "asr": calibration.asr,
    "avg_categories": human.avg_categories,
    "best_vs_dimension": calibration.best_vs_dimension,
    "bleu4": text.bleu4,
    "blr": calibration.blr,
    "bootstrap_ci": _bootstrap_interval,
    "bootstrap_delta": bootstrap.bootstrap_delta,
    "cgs": grounding.cgs,
    "cgs_alternative": grounding.cgs_alternative,
    "cgs_corpus": grounding.cgs_corpus,
    "citation_density": grounding.citation_density,
    "citation_precision": human.citation_precision,
    "comparison_score": calibration.comparison_score,
    "entailment_grounding": entailment.entailment_grounding,
    "error_free_rate": human.error_free_rate,
    "exact_agreement": agreement.exact_agreement,
    "extract_quotes": text.extract_quotes,
    "flag_rate": human.flag_rate,
    "fleiss_kappa": agreement.fleiss_kappa,
    "grounding_score": grounding.grounding_score,
    "gs0": grounding.gs0,
    "haversine_km": practical.haversine_km,
    "hit_at_k": ranking.hit_at_k,
    "judge_parse": judge.judge_parse,
    "kendall_w": agreement.kendall_w,
    "kendall_w_chi2": agreement.kendall_w_chi2,
    "krippendorff_alpha": agreement.krippendorff_alpha,
    "kruskal_h": statistics.kruskal_h,
    "leave_out_alpha": agreement.leave_out_alpha,
    "list_pair_kept": calibration.list_pair_kept,
    "majority_label": human.majority_label,
    "majority_vote": calibration.majority_vote,
    "mean_pairwise_jaccard": human.mean_pairwise_jaccard,
    "misaligned": calibration.misaligned,
    "multi_ref_recall_at_k": ranking.multi_ref_recall_at_k,
    "ndcg_at_k": ranking.ndcg_at_k,
    "normalize_text": text.normalize_text,
    "paired_t": statistics.paired_t,
    "parse_citations": text.parse_citations,
    "pearson": statistics.pearson,
    "pooled_recall_at_k": ranking.pooled_recall_at_k,
    "preference_coverage": practical.preference_coverage,
    "price_alignment": practical.price_alignment,
    "price_ceiling": practical.price_ceiling,
    "provenance_coverage": grounding.provenance_coverage,
    "quadratic_kappa": agreement.quadratic_kappa,
    "quote_similarity": text.quote_similarity,
    "recall_at_k": ranking.recall_at_k,
    "reciprocal_rank": ranking.reciprocal_rank,
    "rejection_recovery": recovery.rejection_recovery,
    "rouge_l": text.rouge_l,
    "s_agg": calibration.s_agg,
    "sentence_category": entailment.sentence_category,
    "spatial_coherence": practical.spatial_coherence,
    "spearman": statistics.spearman,
    "split_sentences": text.split_sentences,
    "strict_majority": human.strict_majority,
    "t2r": _turns_to_recommendation,
    "three_way_agreement": calibration.three_way_agreement,
    "tokenize": text.tokenize,
    "tsr": recovery.tsr,
    "turn_sd": aggregate.turn_sd,
    "weighted_stats": calibration.weighted_stats,
    "wilcoxon_w": statistics.wilcoxon_w,
    "within_one": agreement.within_one,
}


def answer(case: Mapping[str, Any]) -> Any:
    """Return what the project's function gives for a case; KeyError for a metric that is not built."""
    return FUNCTIONS[case["metric"]](**case["inputs"], **case["params"])
