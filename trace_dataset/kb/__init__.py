"""From a bundle to a knowledge base, and the evidence in its reviews."""

from trace_dataset.kb.build import build_knowledge_base, poi_kept, survey
from trace_dataset.kb.knowledge import KnowledgeBase
from trace_dataset.kb.report import KnowledgeBaseReport, Survey

__all__ = ["KnowledgeBase", "KnowledgeBaseReport", "Survey", "build_knowledge_base", "poi_kept", "survey"]
