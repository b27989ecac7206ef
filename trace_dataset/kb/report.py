"""What a knowledge base was made of, and what a bundle could give: printable, and as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trace_dataset.kb.cities import City
from trace_dataset.schema import POI_TYPES


@dataclass(frozen=True)
class KnowledgeBaseReport:
    """Counts of one build.

    Attributes:
        parameters: the arguments that decided it.
        rows: `business` rows read, `repeated` ones among them, `candidates` of the three types.
        dropped: places left out, by reason; those with too few reviews among them.
        cities: for each chosen city its state, and its usable places by type.
        cells: `city / type` to the places kept.
        short_cells: `city / type` to the usable places, where they are fewer than asked for.
        left_out: `city / type` to the usable places, where they are too few for a candidate pool.
        merged: cities with several spellings, and how often each stands.
        unparsed_attributes: attribute keys to the number of values that were no literal and were kept as raw text.
        reviews: reviews kept.
    """

    parameters: Mapping[str, Any]
    rows: Mapping[str, int]
    dropped: Mapping[str, int]
    cities: Mapping[str, Mapping[str, Any]]
    cells: Mapping[str, int]
    short_cells: Mapping[str, int]
    left_out: Mapping[str, int]
    merged: list[dict[str, Any]] = field(default_factory=list)
    unparsed_attributes: Mapping[str, int] = field(default_factory=dict)
    reviews: int = 0

    @property
    def places(self) -> int:
        """Places kept."""
        return sum(self.cells.values())

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain dictionaries, lists and numbers."""
        return {
            "parameters": dict(self.parameters),
            "rows": dict(self.rows),
            "dropped": dict(self.dropped),
            "cities": {name: dict(values) for name, values in self.cities.items()},
            "cells": dict(self.cells),
            "short_cells": dict(self.short_cells),
            "left_out": dict(self.left_out),
            "merged": self.merged,
            "unparsed_attributes": dict(self.unparsed_attributes),
            "places": self.places,
            "reviews": self.reviews,
        }

    def __str__(self) -> str:
        mean = self.reviews / self.places if self.places else 0.0
        lines = [
            f"{self.places:,} places in {len(self.cells)} cells of {len(self.cities)} cities",
            f"{self.reviews:,} reviews, {mean:.1f} a place; {self.rows['business']:,} business rows read",
        ]
        lines += table({name: values["usable"] for name, values in self.cities.items()})
        for title, counts in (
            ("fewer places than asked for", self.short_cells),
            ("too few for a pool, left out", self.left_out),
            ("places not used", self.dropped),
            ("attribute values kept as raw text", self.unparsed_attributes),
        ):
            if counts:
                lines.append(f"{title}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
        if self.merged:
            shown = "; ".join(" = ".join(item["spellings"]) for item in self.merged[:5])
            more = " …" if len(self.merged) > 5 else ""
            lines.append(f"spellings merged in {len(self.merged):,} cities: {shown}{more}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Survey:
    """What a bundle holds for a benchmark: its cities, best first, and the usable places of each type.

    Attributes:
        cities: every U.S. city with a usable place, in the order in which they would be chosen.
        chosen: names of the cities that a benchmark would take.
        min_reviews: reviews that make a place usable.
        pool_size: usable places that make a cell usable.
        rows: business rows read.
    """

    cities: tuple[City, ...]
    chosen: tuple[City, ...]
    min_reviews: int
    pool_size: int
    rows: int

    @property
    def can_build(self) -> bool:
        """Whether at least one cell can carry dialogues."""
        return bool(self.chosen)

    def to_json(self) -> dict[str, Any]:
        """Return the survey as plain dictionaries, lists and numbers."""
        return {
            "business_rows": self.rows,
            "min_reviews": self.min_reviews,
            "pool_size": self.pool_size,
            "can_build": self.can_build,
            "chosen": [city.name for city in self.chosen],
            "cities": [
                {
                    "city": city.name,
                    "state": city.state,
                    "usable": {kind: city.usable.get(kind, 0) for kind in POI_TYPES},
                }
                for city in self.cities
            ],
        }

    def __str__(self) -> str:
        lines = [f"{len(self.cities):,} U.S. cities with places that have {self.min_reviews} reviews or more"]
        lines += table({f"{city.name}, {city.state}": city.usable for city in self.cities[:12]})
        cells = sum(len(city.types_with(self.pool_size)) for city in self.chosen)
        lines.append(
            f"a benchmark can be built: {cells} cells in {len(self.chosen)} cities"
            if self.can_build
            else f"no benchmark can be built: no city has {self.pool_size} usable places of one type"
        )
        return "\n".join(lines)


def table(usable: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return lines that show usable places by city and type."""
    width = max([len(name) for name in usable] + [4])
    head = f"  {'city':<{width}}" + "".join(f"{kind:>12}" for kind in POI_TYPES)
    return [head] + [
        f"  {name:<{width}}" + "".join(f"{counts.get(kind, 0):>12,}" for kind in POI_TYPES)
        for name, counts in usable.items()
    ]
