"""From a bundle to a knowledge base, and the evidence in its reviews."""

from trace_dataset.kb.build import build_knowledge_base, poi_kept, read_places, survey
from trace_dataset.kb.evidence import Evidence, Span, collect_evidence
from trace_dataset.kb.knowledge import KnowledgeBase
from trace_dataset.kb.lexicon import Aspect, aspects_of, catalogue
from trace_dataset.kb.report import KnowledgeBaseReport, Survey

__all__ = [
    "Aspect",
    "Evidence",
    "KnowledgeBase",
    "KnowledgeBaseReport",
    "Span",
    "Survey",
    "aspects_of",
    "build_knowledge_base",
    "catalogue",
    "collect_evidence",
    "poi_kept",
    "read_places",
    "survey",
]
