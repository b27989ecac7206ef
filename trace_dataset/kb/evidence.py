"""Which sentences of which reviews speak of which aspect, and what a place offers by them and by its attributes."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable
from dataclasses import dataclass

from hydrate.errors import UsageError
from trace_dataset.kb.distance import central_places
from trace_dataset.kb.knowledge import KnowledgeBase
from trace_dataset.kb.lexicon import GENERAL, Aspect, aspects_of, catalogue, lexicon
from trace_dataset.kb.mentions import WORDS, read_review
from trace_dataset.kb.opinions import ClauseReader
from trace_dataset.kb.words import lower
from trace_dataset.schema import POI, Constraint

SUPPORTED, CONTRADICTED, UNKNOWN = "supported", "contradicted", "unknown"
PRICES = ("budget", "moderate", "upscale")
PRICE_ASPECT = {"budget": "good value", "moderate": "good value", "upscale": "upscale"}
GENERAL_PARENTS = frozenset(
    [
        "Restaurants",
        "Food",
        "Nightlife",
        "Hotels & Travel",
        "Event Planning & Services",
        "Arts & Entertainment",
        "Active Life",
        "Local Flavor",
        "Local Services",
        "Shopping",
        "Hotels",
        "Venues & Event Spaces",
        "Public Services & Government",
        "Home Services",
        "Education",
        "Professional Services",
        "Beauty & Spas",
        "Health & Medical",
        "Automotive",
        "Pets",
    ]
)
BEST = range(8, 21)
ROW = 5  # numbers of one mention: aspect, signed strength, review, start, end; an end of 0 means not quotable


@dataclass(frozen=True, slots=True)
class Span:
    """A verbatim stretch of a review's text in the knowledge base; `aspect` is `overall` where it praises the place."""

    review_id: str
    start: int
    end: int
    aspect: str
    polarity: int


class Evidence:
    """What reviews and attributes say of each place. The generator's own; systems under test never see it."""

    def __init__(self, kb: KnowledgeBase, mentions: dict[str, array[int]]) -> None:
        self._kb = kb
        self._mentions = mentions
        self._keys = lexicon().keys
        self._central = central_places(kb.pois.values())
        self._signs = {business: _signs(rows, self._keys) for business, rows in mentions.items()}
        self._wishes: dict[str, tuple[Constraint, ...]] = {}
        self._found: dict[tuple[str, str, int], tuple[Span, ...]] = {}  # spans asked for before, by place and aspect

    def satisfaction(self, business_id: str, constraint: Constraint) -> str:
        """Return `supported`, `contradicted` or `unknown` (decision 19).

        Raises:
            UsageError: the slot or its value does not exist.

        Example:
            >>> evidence.satisfaction(place, Constraint("aspect", "parking"))  # doctest: +SKIP
            'supported'
        """
        poi = self._kb.pois[business_id]
        if constraint.slot == "category":
            return SUPPORTED if constraint.value in poi.categories else CONTRADICTED
        if constraint.slot == "price" and constraint.value in PRICES:
            return _price(poi.price, constraint.value)
        if constraint.slot == "distance" and constraint.value == "central":
            near = self._central.get(business_id)
            return UNKNOWN if near is None else SUPPORTED if near else CONTRADICTED
        if constraint.slot == "aspect" and constraint.value in catalogue():
            return self._aspect(poi, catalogue()[constraint.value])
        raise UsageError(
            f"there is no constraint {constraint.slot}={constraint.value!r}",
            do="use category=<Yelp name>, price=budget|moderate|upscale, distance=central or "
            f"aspect=<one of {', '.join(catalogue())}>",
        )

    def spans(self, business_id: str, constraint: Constraint, polarity: int = 1) -> tuple[Span, ...]:
        """Return the sentences or clauses that speak of a constraint, 4 to 25 tokens long, best first.

        A price is spoken of by `good value` or `upscale`, a central place by `convenient location`, a category by
        praise that uses its words. Any order of calls gives the same spans in the same order.
        """
        if constraint.slot == "category":
            return self._category_spans(business_id, constraint.value) if polarity > 0 else ()
        aspect = {
            "aspect": constraint.value,
            "price": PRICE_ASPECT.get(constraint.value, ""),
            "distance": "convenient location",
        }.get(constraint.slot, "")
        return self._spans(business_id, aspect, polarity) if aspect in self._keys else ()

    def mentioned(self, business_id: str, constraint: Constraint, polarity: int = 1) -> bool:
        """Return whether reviews praise (or, for -1, blame) a place for a constraint, quotable or not."""
        if constraint.slot != "aspect":
            return bool(self.spans(business_id, constraint, polarity))
        praised, blamed = self._signs[business_id].get(constraint.value, (False, False))
        return praised if polarity > 0 else blamed

    def any_spans(self, business_id: str) -> tuple[Span, ...]:
        """Return all praise of a place that may be quoted, whatever it is about, each sentence once, best first."""
        return self._spans(business_id, "", 1)

    def wishes(self, business_id: str) -> tuple[Constraint, ...]:
        """Return everything that a place supports, sorted by slot and value; general parent categories left out."""
        if business_id not in self._wishes:
            poi = self._kb.pois[business_id]
            found = [
                constraint
                for slot in ("aspect", "category", "distance", "price")
                for constraint in _askable(slot, poi.poi_type, poi.categories)
                if self.satisfaction(business_id, constraint) == SUPPORTED
            ]
            self._wishes[business_id] = tuple(found)
        return self._wishes[business_id]

    def values(self, city: str, poi_type: str, slot: str) -> tuple[str, ...]:
        """Return the values of a slot worth asking for in a cell: some of its places support them, some do not."""
        places = self._kb.cells.get((city, poi_type), ())
        categories = sorted({name for business in places for name in self._kb.pois[business].categories})
        found = []
        for constraint in _askable(slot, poi_type, categories):
            many = sum(self.satisfaction(business, constraint) == SUPPORTED for business in places)
            if 0 < many < len(places):
                found.append(constraint.value)
        return tuple(found)

    def _aspect(self, poi: POI, aspect: Aspect) -> str:
        stated = _stated(poi, aspect)
        if stated is not None:
            return SUPPORTED if stated else CONTRADICTED
        praised, blamed = self._signs[poi.business_id].get(aspect.key, (False, False))
        return SUPPORTED if praised else CONTRADICTED if blamed else UNKNOWN

    def _spans(self, business_id: str, aspect: str, polarity: int) -> tuple[Span, ...]:
        """Return the spans of an aspect, or of all for an empty name."""
        asked = (business_id, aspect, polarity)
        if asked not in self._found:
            aspects = range(GENERAL, len(self._keys)) if not aspect else (self._keys.index(aspect),)
            self._found[asked] = self._collect(business_id, aspects, polarity)
        return self._found[asked]

    def _collect(self, business_id: str, aspects: Container[int], polarity: int) -> tuple[Span, ...]:
        rows = self._mentions[business_id]
        ids = self._kb.reviews_of[business_id]
        best: dict[tuple[int, int, int], tuple[int, int]] = {}
        for at in range(0, len(rows), ROW):
            aspect, signed, review, start, end = rows[at : at + ROW]
            if end and aspect in aspects and signed * polarity > 0:
                key = (review, start, end)
                best[key] = max(best.get(key, (0, 0)), (abs(signed), aspect))
        texts = [self._kb.reviews[review_id].text or "" for review_id in ids]
        order = sorted(best, key=lambda key: (-best[key][0], _off_length(texts[key[0]][key[1] : key[2]]), key))
        return tuple(
            Span(ids[key[0]], key[1], key[2], self._name(best[key][1]), 1 if polarity > 0 else -1) for key in order
        )

    def _category_spans(self, business_id: str, category: str) -> tuple[Span, ...]:
        wanted = {_stem(word) for word in WORDS.findall(lower(category))} - {"and", "new", "food", "the"}
        found = []
        for span in self.any_spans(business_id):
            text = (self._kb.reviews[span.review_id].text or "")[span.start : span.end]
            if wanted & {_stem(word) for word in WORDS.findall(lower(text))}:
                found.append(span)
        return tuple(found)

    def _name(self, aspect: int) -> str:
        return "overall" if aspect == GENERAL else self._keys[aspect]


def collect_evidence(kb: KnowledgeBase) -> Evidence:
    """Read every review of a knowledge base once and return what it says.

    About a third of a millisecond a review; the same knowledge base gives the same evidence anywhere.

    Example:
        >>> evidence = collect_evidence(kb)  # doctest: +SKIP
    """
    words = lexicon()
    readers = {kind: ClauseReader(words, kind) for kind in words.fits}
    cut = max((review.n_chars for review in kb.reviews.values()), default=0)
    mentions: dict[str, array[int]] = {}
    for business, poi in kb.pois.items():
        rows = array("i")
        for number, review_id in enumerate(kb.reviews_of[business]):
            for aspect, signed, start, end in read_review(
                words.reader, readers[poi.poi_type], kb.reviews[review_id].text or "", cut
            ):
                rows.extend((aspect, signed, number, start, end))
        mentions[business] = rows
    return Evidence(kb, mentions)


def _signs(rows: array[int], keys: tuple[str, ...]) -> dict[str, tuple[bool, bool]]:
    """Return, for each aspect mentioned, whether it was praised and whether it was blamed."""
    found: dict[str, tuple[bool, bool]] = {}
    for at in range(0, len(rows), ROW):
        if rows[at] != GENERAL:
            praised, blamed = found.get(keys[rows[at]], (False, False))
            found[keys[rows[at]]] = (praised or rows[at + 1] > 0, blamed or rows[at + 1] < 0)
    return found


def _stated(poi: POI, aspect: Aspect) -> bool | None:
    """Return what a place's attributes say of an aspect, None if they say nothing."""
    if any(value in values for name, values in aspect.supports.items() for value in _values(poi, name)):
        return True
    for name, values in aspect.contradicts.items():
        there = _values(poi, name)
        if there and all(value in values for value in there):
            return False
    return None


def _values(poi: POI, name: str) -> list[str]:
    if not name.endswith(".*"):
        return [poi.attributes[name]] if name in poi.attributes else []
    return [value for key, value in poi.attributes.items() if key.startswith(name[:-1])]


def _price(level: int | None, value: str) -> str:
    if level is None:
        return UNKNOWN
    fits = level >= 3 if value == "upscale" else level <= (2 if value == "budget" else 3)
    return SUPPORTED if fits else CONTRADICTED


def _askable(slot: str, poi_type: str, categories: Iterable[str]) -> list[Constraint]:
    """Return the constraints of a slot that could be asked for, sorted."""
    values = {
        "aspect": aspects_of(poi_type),
        "price": PRICES,
        "distance": ("central",),
        "category": sorted(set(categories) - GENERAL_PARENTS),
    }
    if slot not in values:
        raise UsageError(f"there is no slot called {slot!r}", do=f"use one of: {', '.join(values)}")
    return [Constraint(slot, value) for value in values[slot]]


def _off_length(text: str) -> int:
    """Return how many tokens a span is off the length that reads best."""
    many = len(WORDS.findall(text))
    return max(BEST.start - many, many - BEST.stop + 1, 0)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word
