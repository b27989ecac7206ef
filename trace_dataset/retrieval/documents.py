"""The texts of a place: what an index is made of, and what a wish may be found in."""

from __future__ import annotations

from trace_dataset.kb import KnowledgeBase

SAYS_NO = frozenset(["False", "none", "no", "None"])


def place_document(kb: KnowledgeBase, business_id: str) -> str:
    """Return the document of a place: name, categories, and all its reviews (definitions, B2)."""
    place = kb.pois[business_id]
    return "\n".join([place.name, ", ".join(place.categories), *_reviews(kb, business_id)])


def place_facts(kb: KnowledgeBase, business_id: str) -> str:
    """Return categories, attributes that hold, and reviews of a place, without its name (definitions, M13)."""
    place = kb.pois[business_id]
    facts = [f"{key} {value}" for key, value in sorted(place.attributes.items()) if value not in SAYS_NO]
    return "\n".join([", ".join(place.categories), *facts, *_reviews(kb, business_id)])


def _reviews(kb: KnowledgeBase, business_id: str) -> list[str]:
    return [kb.reviews[review_id].text or "" for review_id in kb.reviews_of[business_id]]
