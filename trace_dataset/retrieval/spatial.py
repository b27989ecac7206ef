"""Distances: blending proximity into a score, proximity graphs, and an order for visiting (definitions, B5 and B7)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trace_dataset.schema import POI
from trace_dataset.scoring.practical import haversine_km, valid_coordinates

TEXT_WEIGHT, PROXIMITY_WEIGHT = 0.7, 0.3
EDGE_KM = 0.5

Point = Sequence[float | None]


def spatial_blend(
    tf: Mapping[str, float], coords: Mapping[str, Point], anchor: Sequence[float] | None
) -> dict[str, float]:
    """Return 0.7 * text score + 0.3 * (1 - distance to the anchor / largest such distance).

    Places without coordinates get no proximity credit; where all stand at the anchor they all get it. Without an anchor the
    blend ranks as the text score does (decisions, item 31).
    """
    distances: dict[str, float] = {}
    if anchor is not None:
        for item in tf:
            latitude, longitude = coords[item]
            if latitude is not None and longitude is not None and valid_coordinates(latitude, longitude):
                distances[item] = haversine_km((latitude, longitude), anchor)
    largest = max(distances.values(), default=0.0)
    near = {item: 1 - distance / largest if largest else 1.0 for item, distance in distances.items()}
    return {item: TEXT_WEIGHT * score + PROXIMITY_WEIGHT * near.get(item, 0.0) for item, score in tf.items()}


def proximity_edges(pois: Sequence[Sequence[Any]], within_km: float = EDGE_KM) -> list[list[str]]:
    """Return the pairs of places of different types within a distance.

    Args:
        pois: (id, type, latitude, longitude).
    """
    located = [poi for poi in pois if valid_coordinates(poi[2], poi[3])]
    return [
        [a[0], b[0]]
        for a, b in itertools.combinations(located, 2)
        if a[1] != b[1] and haversine_km(a[2:4], b[2:4]) <= within_km
    ]


def itinerary_order(pois: Sequence[Sequence[Any]]) -> list[str]:
    """Return a visiting order: greedy nearest neighbour from the first located place; those without coordinates go last.

    Args:
        pois: (id, latitude, longitude), best first.
    """
    left = [poi for poi in pois if valid_coordinates(poi[1], poi[2])]
    order: list[str] = []
    here = left[0] if left else ()
    while left:
        here = min(left, key=lambda poi: haversine_km(here[1:3], poi[1:3]))
        left.remove(here)
        order.append(here[0])
    return order + [poi[0] for poi in pois if poi[0] not in order]


def format_distance(km: float) -> str:
    """Return a distance as people write it: metres below one kilometre, else kilometres with one decimal.

    Example:
        >>> format_distance(0.3354), format_distance(1.0)
        ('335 m', '1.0 km')
    """
    return f"{round(km * 1000)} m" if km < 1 else f"{km:.1f} km"


def center(points: Sequence[Point]) -> tuple[float, float] | None:
    """Return the mean coordinate of the points that have one."""
    located = [
        (latitude, longitude)
        for latitude, longitude in points
        if latitude is not None and longitude is not None and valid_coordinates(latitude, longitude)
    ]
    if not located:
        return None
    return (
        math.fsum(latitude for latitude, _ in located) / len(located),
        math.fsum(longitude for _, longitude in located) / len(located),
    )


class ProximityGraph:
    """Pairs of places of different types within 500 m of each other in one city (paper, B7)."""

    def __init__(self, places: Iterable[POI]) -> None:
        by_city: dict[str, list[POI]] = {}
        for place in places:
            by_city.setdefault(place.city, []).append(place)
        self._near: dict[str, list[tuple[float, str]]] = {}
        for group in by_city.values():
            point = {place.business_id: (place.latitude, place.longitude) for place in group}
            rows = [(place.business_id, place.poi_type, place.latitude, place.longitude) for place in group]
            for first, second in proximity_edges(rows):
                distance = haversine_km(point[first], point[second])  # type: ignore[arg-type]
                self._near.setdefault(first, []).append((distance, second))
                self._near.setdefault(second, []).append((distance, first))

    def neighbours(self, business_id: str) -> list[tuple[str, float]]:
        """Return the places within 500 m and their distance in kilometres, nearest first."""
        return [(other, distance) for distance, other in sorted(self._near.get(business_id, ()))]
