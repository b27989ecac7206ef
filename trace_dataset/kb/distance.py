"""Which places are central: within two kilometres of the middle of their city's places."""

from __future__ import annotations

import math
from collections.abc import Iterable

from trace_dataset.schema import POI

EARTH_KM = 6371.0088
CENTRAL_KM = 2.0


def kilometres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the great-circle distance of two points given as latitude and longitude in degrees."""
    phi, psi = math.radians(a[0]), math.radians(b[0])
    half = math.sin((psi - phi) / 2) ** 2 + math.cos(phi) * math.cos(psi) * math.sin(math.radians(b[1] - a[1]) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(half))


def central_places(pois: Iterable[POI]) -> dict[str, bool]:
    """Return business id to whether it is within 2 km of its city's mean coordinate; places without one are left out."""
    points: dict[str, dict[str, tuple[float, float]]] = {}
    for poi in pois:
        if poi.latitude is not None and poi.longitude is not None:
            points.setdefault(poi.city, {})[poi.business_id] = (poi.latitude, poi.longitude)
    found: dict[str, bool] = {}
    for places in points.values():
        middle = (
            math.fsum(point[0] for point in places.values()) / len(places),
            math.fsum(point[1] for point in places.values()) / len(places),
        )
        for business, point in places.items():
            found[business] = round(kilometres(middle, point), 6) <= CENTRAL_KM  # the last bits differ between machines
    return found
