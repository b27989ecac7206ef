"""What a plan may use of a cell: its wishes as bits, what each place supports, and which spans can be quoted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from trace_dataset.dialogues.scenario import Persona
from trace_dataset.dialogues.wishes import SINGLE_SLOTS, wording
from trace_dataset.schema import POI, Constraint
from trace_dataset.scoring.text import tokenize

if TYPE_CHECKING:
    from trace_dataset.kb import Evidence, KnowledgeBase, Span

SLOTS = ("category", "price", "aspect", "distance")
UNQUOTABLE = re.compile(r"[\"“”„‟«»\[\]\\\x00-\x1f\x7f-\x9f\u2028\u2029]")  # would end the quote or look like a label
FAVOURED = 3.0
CATEGORY_INTEREST = 0.8
TELLING_SHARE = 0.10  # a word of a name that so few places' texts hold would give the place away


class CellView:
    """One cell of the knowledge base, seen through its evidence; wishes are numbered, sets of them are integers."""

    def __init__(self, kb: KnowledgeBase, evidence: Evidence, cell: tuple[str, str]) -> None:
        self.kb, self.evidence, self.cell = kb, evidence, cell
        city, poi_type = cell
        known = {Constraint(slot, value) for slot in SLOTS for value in evidence.values(city, poi_type, slot)}
        self.wishes = tuple(
            sorted((wish for wish in known if wording(wish).fits(poi_type)), key=lambda wish: (wish.slot, wish.value))
        )
        self.bit = {wish: index for index, wish in enumerate(self.wishes)}
        self._spans: dict[tuple[str, Constraint | None, int], tuple[Span, ...]] = {}
        self._sentences: dict[tuple[str, int], int] = {}
        self._clashes = tuple(self._clash_set(wish) for wish in self.wishes)
        self._interest: dict[str, list[float]] = {}
        self.supports = {business: self.as_set(evidence.wishes(business)) for business in kb.cells[cell]}
        self.places: tuple[POI, ...] = tuple(
            kb.pois[business] for business in kb.cells[cell] if self.quotable(business)
        )

    def as_set(self, wishes: Iterable[Constraint]) -> int:
        """Return wishes as a set of bits; those not worth asking for in this cell are left out."""
        total = 0
        for wish in wishes:
            if wish in self.bit:
                total |= 1 << self.bit[wish]
        return total

    def members(self, wishes: int) -> Iterator[int]:
        """Yield the numbers of the wishes in a set, ascending."""
        while wishes:
            low = wishes & -wishes
            yield low.bit_length() - 1
            wishes ^= low

    def clashes(self, number: int) -> int:
        """Return the wishes that nobody asks for together with this one, itself included."""
        return self._clashes[number]

    def interest(self, persona: Persona) -> list[float]:
        """Return how much a persona cares for each wish, by number."""
        if persona.key not in self._interest:
            self._interest[persona.key] = [_interest(persona, wish) for wish in self.wishes]
        return self._interest[persona.key]

    def spans(self, business: str, wish: Constraint | None, polarity: int = 1) -> tuple[Span, ...]:
        """Return spans that can stand in quotation marks, best first; for no wish, any positive sentences."""
        key = (business, wish, polarity)
        if key not in self._spans:
            found = (
                self.evidence.any_spans(business)
                if wish is None
                else self.evidence.spans(business, wish, polarity=polarity)
            )
            self._spans[key] = tuple(span for span in found if not UNQUOTABLE.search(self.text(span)))
        return self._spans[key]

    def sentences(self, business: str, number: int) -> int:
        """Return how many quotable sentences praise a place for a wish."""
        key = (business, number)
        if key not in self._sentences:
            self._sentences[key] = len(self.spans(business, self.wishes[number]))
        return self._sentences[key]

    def quotable(self, business: str) -> bool:
        """Whether a place has anything good to quote."""
        return bool(self.spans(business, None)) or any(
            self.spans(business, self.wishes[number]) for number in self.members(self.supports[business])
        )

    def text(self, span: Span) -> str:
        """Return the words of a span."""
        return (self.kb.reviews[span.review_id].text or "")[span.start : span.end]

    @cached_property
    def _places_with(self) -> Counter[str]:
        """How many places of the cell hold a token in their name or reviews."""
        found: Counter[str] = Counter()
        for business in self.kb.cells[self.cell]:
            texts = [
                self.kb.pois[business].name,
                *(self.kb.reviews[key].text or "" for key in self.kb.reviews_of[business]),
            ]
            found.update(set(tokenize(" ".join(texts))))
        return found

    def telling(self, businesses: Iterable[str], wishes: Iterable[Constraint]) -> frozenset[str]:
        """Return the tokens of these places' names that would give one away; the city and the wished category would not."""
        spoken = set(tokenize(" ".join([self.cell[0], *(wish.value for wish in wishes if wish.slot == "category")])))
        most = TELLING_SHARE * len(self.kb.cells[self.cell])
        return frozenset(
            token
            for business in businesses
            for token in tokenize(self.kb.pois[business].name)
            if self._places_with[token] <= most and token not in spoken
        )

    def _clash_set(self, wish: Constraint) -> int:
        against = wording(wish).clashes
        return self.as_set(
            other
            for other in self.wishes
            if other == wish
            or (wish.slot == other.slot and wish.slot in SINGLE_SLOTS)
            or other.value in against
            or wish.value in wording(other).clashes
        )


def _interest(persona: Persona, wish: Constraint) -> float:
    if wish.value in persona.avoids:
        return 0.0
    if wish.slot == "category":
        return CATEGORY_INTEREST * persona.weights["aspects"]
    return (
        persona.weights[wording(wish).group]
        * wording(wish).appeal
        * (FAVOURED if wish.value in persona.favours else 1.0)
    )
