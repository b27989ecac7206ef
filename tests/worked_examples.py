"""From a worked case of `../shared/cases/worked_examples.json` to the value that this project computes for it.

`answer(case)` raises KeyError for a metric that is not built yet; those names stand in `PENDING`, which must shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trace_dataset.scoring import (
    aggregate,
    grounding,
    practical,
    ranking,
    recovery,
    text,
)

# Waiting for the folder that will own the function.
PENDING = [
    "alignment_with_majority",
    "annotator_deviation",
    "aspect_score",
    "asr",
    "avg_categories",
    "best_vs_dimension",
    "blr",
    "bootstrap_ci",
    "bootstrap_delta",
    "citation_precision",
    "comparison_score",
    "consensus",
    "dense_scores",
    "dialogue_kept",
    "dst_filter",
    "entailment_grounding",
    "error_free_rate",
    "exact_agreement",
    "feedback_class",
    "flag_rate",
    "fleiss_kappa",
    "format_distance",
    "hydrate",
    "itinerary_order",
    "jaccard_retrieval",
    "judge_parse",
    "k_core",
    "keep_review",
    "kendall_w",
    "kendall_w_chi2",
    "krippendorff_alpha",
    "kruskal_h",
    "leave_out_alpha",
    "list_pair_kept",
    "majority_label",
    "majority_vote",
    "mean_pairwise_jaccard",
    "memory_weight",
    "might_likes",
    "misaligned",
    "paired_t",
    "pearson",
    "poi_kept",
    "popularity_rank",
    "proximity_edges",
    "quadratic_kappa",
    "rag_citation_check",
    "redact",
    "rrf_scores",
    "s_agg",
    "sentence_category",
    "sentence_limit_ok",
    "spatial_blend",
    "spearman",
    "split_sizes",
    "strict_majority",
    "tfidf_scores",
    "three_way_agreement",
    "title_map",
    "validate_dialogue",
    "weighted_stats",
    "wilcoxon_w",
    "within_one",
]


def _turns_to_recommendation(**arguments: Any) -> float | None:
    # the cases are older than the decision to charge a miss the length of its dialogue
    return recovery.t2r(**{"misses": "drop", **arguments})


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "aggregate": aggregate.aggregate,
    "bleu4": text.bleu4,
    "cgs": grounding.cgs,
    "cgs_alternative": grounding.cgs_alternative,
    "cgs_corpus": grounding.cgs_corpus,
    "citation_density": grounding.citation_density,
    "extract_quotes": text.extract_quotes,
    "grounding_score": grounding.grounding_score,
    "gs0": grounding.gs0,
    "haversine_km": practical.haversine_km,
    "hit_at_k": ranking.hit_at_k,
    "multi_ref_recall_at_k": ranking.multi_ref_recall_at_k,
    "ndcg_at_k": ranking.ndcg_at_k,
    "normalize_text": text.normalize_text,
    "parse_citations": text.parse_citations,
    "pooled_recall_at_k": ranking.pooled_recall_at_k,
    "preference_coverage": practical.preference_coverage,
    "price_alignment": practical.price_alignment,
    "price_ceiling": practical.price_ceiling,
    "provenance_coverage": grounding.provenance_coverage,
    "quote_similarity": text.quote_similarity,
    "recall_at_k": ranking.recall_at_k,
    "reciprocal_rank": ranking.reciprocal_rank,
    "rejection_recovery": recovery.rejection_recovery,
    "rouge_l": text.rouge_l,
    "spatial_coherence": practical.spatial_coherence,
    "split_sentences": text.split_sentences,
    "t2r": _turns_to_recommendation,
    "tokenize": text.tokenize,
    "tsr": recovery.tsr,
    "turn_sd": aggregate.turn_sd,
}


def answer(case: Mapping[str, Any]) -> Any:
    """Return what the project's function gives for a case; KeyError for a metric that is not built."""
    return FUNCTIONS[case["metric"]](**case["inputs"], **case["params"])
