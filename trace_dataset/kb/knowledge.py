"""The knowledge base: places, their reviews and the cells of city and type that they form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trace_dataset.schema import POI, Review

Cell = tuple[str, str]  # city, poi_type


@dataclass(frozen=True)
class KnowledgeBase:
    """What every system may read: facts and review texts, nothing of the evidence that chose a dialogue's golds.

    Attributes:
        pois: business id to place, sorted by id.
        reviews: review id to review with text, sorted by id.
        reviews_of: business id to its review ids, sorted.
        cells: (city, poi_type) to its business ids, sorted.
    """

    pois: Mapping[str, POI]
    reviews: Mapping[str, Review] = field(repr=False)
    reviews_of: Mapping[str, tuple[str, ...]] = field(repr=False)
    cells: Mapping[Cell, tuple[str, ...]] = field(repr=False)

    @classmethod
    def from_tables(cls, pois: Iterable[POI], reviews: Iterable[Review]) -> KnowledgeBase:
        """Return the knowledge base of these places and reviews, in any order; reviews of other places are left out."""
        places = {poi.business_id: poi for poi in sorted(pois, key=lambda poi: poi.business_id)}
        kept = {
            review.review_id: review
            for review in sorted(reviews, key=lambda review: review.review_id)
            if review.business_id in places
        }
        reviews_of: dict[str, list[str]] = {business: [] for business in places}
        for review in kept.values():
            reviews_of[review.business_id].append(review.review_id)
        cells: dict[Cell, list[str]] = {}
        for business, poi in places.items():
            cells.setdefault((poi.city, poi.poi_type), []).append(business)
        return cls(
            places,
            kept,
            {business: tuple(ids) for business, ids in reviews_of.items()},
            {cell: tuple(cells[cell]) for cell in sorted(cells)},
        )

    @property
    def cities(self) -> tuple[str, ...]:
        """The cities, sorted."""
        return tuple(sorted({city for city, _ in self.cells}))

    def labels(self, pool: Sequence[str]) -> dict[str, str]:
        """Return review id to label, `R1`, `R2`, …: places in the order of the pool, reviews in that of their ids.

        Example:
            >>> KnowledgeBase.from_tables([], []).labels([])
            {}
        """
        ids = [review_id for business in pool for review_id in self.reviews_of[business]]
        return {review_id: f"R{number}" for number, review_id in enumerate(ids, start=1)}

    def slice(self, business_ids: Iterable[str]) -> KnowledgeBase:
        """Return the knowledge base of these places alone; raises `KeyError` for a place that it does not have."""
        chosen = [self.pois[business] for business in dict.fromkeys(business_ids)]
        return self.from_tables(
            chosen, (self.reviews[review_id] for poi in chosen for review_id in self.reviews_of[poi.business_id])
        )
