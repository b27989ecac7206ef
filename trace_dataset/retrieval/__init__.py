"""What the baselines share: sparse and dense retrieval, orderings, fusion, distances; evidence, cards and states for a model.

Sentences and spans that may be quoted, consensus of reviewers, memory across dialogues, and the response templates.
"""

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
