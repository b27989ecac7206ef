"""What the baselines share: sparse retrieval, orderings, evidence for quotes, response templates."""

from trace_dataset.retrieval.orders import by_score, popularity_rank
from trace_dataset.retrieval.sparse import TfidfIndex, place_document, tfidf_scores
from trace_dataset.retrieval.templates import TemplateWriter

__all__ = ["TemplateWriter", "TfidfIndex", "by_score", "place_document", "popularity_rank", "tfidf_scores"]
