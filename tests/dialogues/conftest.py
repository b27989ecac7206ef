import dataclasses

import pytest

import hydrate
from trace_dataset.dialogues import build_dialogues
from trace_dataset.kb import KnowledgeBase, build_knowledge_base, collect_evidence
from trace_dataset.schema import POI, Constraint, Review, dialogue_row


@dataclasses.dataclass
class Built:
    """A small build and what it was made from."""

    kb: object
    evidence: object
    dialogues: list
    report: object

    def texts(self, dialogue):
        """Return the hydrated texts of a dialogue."""
        reviews = {key: review.text for key, review in self.kb.reviews.items()}
        rows, _ = hydrate.hydrate([dialogue_row(dialogue)], reviews)
        return [turn["text"] for turn in rows[0]["turns"]]


@pytest.fixture(scope="session")
def built(sample_bundle):
    kb, _ = build_knowledge_base(hydrate.open_bundle(sample_bundle))
    evidence = collect_evidence(kb)
    dialogues, report = build_dialogues(kb, evidence, n_dialogues=1000)
    return Built(kb, evidence, dialogues, report)


@dataclasses.dataclass(frozen=True)
class FakeSpan:
    review_id: str
    start: int
    end: int
    aspect: str
    polarity: int


class FakeEvidence:
    """Evidence that is written down: business id to the aspects that it supports."""

    def __init__(self, kb, supports):
        self.kb, self.supports = kb, supports

    def satisfaction(self, business_id, constraint):
        return "supported" if constraint.value in self.supports[business_id] else "unknown"

    def spans(self, business_id, constraint, polarity=1):
        if polarity < 0 or constraint.value not in self.supports[business_id]:
            return ()
        return self.any_spans(business_id)

    def mentioned(self, business_id, constraint, polarity=1):
        return bool(self.spans(business_id, constraint, polarity))

    def any_spans(self, business_id):
        return tuple(
            FakeSpan(key, 0, len(self.kb.reviews[key].text), "overall", 1) for key in self.kb.reviews_of[business_id]
        )

    def wishes(self, business_id):
        return tuple(Constraint("aspect", value) for value in sorted(self.supports[business_id]))

    def values(self, city, poi_type, slot):
        if slot != "aspect":
            return ()
        return tuple(sorted({value for supported in self.supports.values() for value in supported}))


@pytest.fixture
def town():
    """Return a maker of one-cell towns: a list of supported aspects, one a hotel, gives knowledge base and evidence."""

    def make(supports):
        places, reviews = [], []
        for number, _ in enumerate(supports):
            business = f"b{number:02d}"
            places.append(
                POI(
                    business,
                    f"House Number {number:02d}x",
                    "1 Main St",
                    "Tucson",
                    "AZ",
                    "hotel",
                    32.2,
                    -110.9,
                    (f"Category {number % 4}",),
                    (3.0, 3.5, 4.0, 4.5)[number % 4],
                    10 + number,
                    2,
                )
            )
            for copy in range(4):
                text = f"We had a fine stay in room {number} on day {copy} of the trip"
                reviews.append(Review(f"r{number:02d}{copy}", business, len(text), "", text))
        kb = KnowledgeBase.from_tables(places, reviews)
        return kb, FakeEvidence(kb, {f"b{number:02d}": set(values) for number, values in enumerate(supports)})

    return make
