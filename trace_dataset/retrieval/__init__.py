"""What the baselines share: sparse retrieval, orderings, distances, fusion, evidence for quotes, response templates."""

from trace_dataset.retrieval.cells import CellIndexes
from trace_dataset.retrieval.documents import place_document, place_facts
from trace_dataset.retrieval.orders import by_score, popularity_rank
from trace_dataset.retrieval.sparse import TfidfIndex, tfidf_scores
from trace_dataset.retrieval.templates import TemplateWriter

__all__ = [
    "CellIndexes",
    "TemplateWriter",
    "TfidfIndex",
    "by_score",
    "place_document",
    "place_facts",
    "popularity_rank",
    "tfidf_scores",
]
