"""Practical value: are the places near each other, affordable, and what was asked for (definitions, M11 to M13)?"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations

from .inventory import find_terms

EARTH_RADIUS_KM = 6371.0088
THRESHOLD_KM = 2.0  # about 25 minutes on foot
CEILINGS = {"budget": 2, "cheap": 2, "affordable": 2, "moderate": 3, "luxury": 4, "upscale": 4}
_CEILING = re.compile(rf"(?<!\w)(?:{'|'.join(CEILINGS)})(?!\w)", re.IGNORECASE)
Located = Sequence["str | float | None"]


def haversine_km(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the great-circle distance of two `[latitude, longitude]` in degrees, in kilometres.

    Example:
        >>> round(haversine_km([0.0, 179.9], [0.0, -179.9]), 3)
        22.239
    """
    latitude_a, longitude_a, latitude_b, longitude_b = map(math.radians, (a[0], a[1], b[0], b[1]))
    chord = (
        math.sin((latitude_b - latitude_a) / 2) ** 2
        + math.cos(latitude_a) * math.cos(latitude_b) * math.sin((longitude_b - longitude_a) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, chord)))


def spatial_coherence(pois: Sequence[Located], threshold_km: float = THRESHOLD_KM) -> float | None:
    """Return the share of pairs of a dialogue's places that lie within `threshold_km`, 0 to 1 (M11; paper, section 3).

    Args:
        pois: `[id, latitude, longitude]` each; repeated ids count once, places without valid coordinates are left out.

    Returns:
        None with fewer than two located places.

    Example:
        >>> spatial_coherence([["a", 39.95, -75.16], ["b", None, -75.0], ["c", 39.951, -75.161]])
        1.0
    """
    places: dict[object, list[float]] = {}
    for identifier, latitude, longitude in pois:
        if valid_coordinates(latitude, longitude):
            places.setdefault(identifier, [float(latitude), float(longitude)])  # type: ignore[arg-type]
    pairs = list(combinations(places.values(), 2))
    return sum(haversine_km(a, b) <= threshold_km for a, b in pairs) / len(pairs) if pairs else None


def valid_coordinates(latitude: object, longitude: object) -> bool:
    """Return whether both are numbers, within 90 and 180 degrees."""
    return _within(latitude, 90) and _within(longitude, 180)


def price_ceiling(user_turns: Sequence[str]) -> int | None:
    """Return the price level (2, 3 or 4) that the last price word of the user turns allows, or None without one (M12).

    Example:
        >>> price_ceiling(["A budget room please", "Actually make it upscale"])
        4
    """
    for text in reversed(user_turns):
        words = _CEILING.findall(text)
        if words:
            return CEILINGS[words[-1].lower()]
    return None


def price_level(price: object) -> int | None:
    """Return a price as 1 to 4, or None where it is unknown; 2, 2.0, "2" and "$$" all read as 2.

    Example:
        >>> [price_level(price) for price in (2, "2", "$$", None, "None", 7)]
        [2, 2, 2, None, None, None]
    """
    if isinstance(price, str):
        text = price.strip()
        price = len(text) if text and not text.strip("$") else {"1": 1, "2": 2, "3": 3, "4": 4}.get(text)
    if isinstance(price, bool) or not isinstance(price, (int, float)) or price not in (1, 2, 3, 4):
        return None
    return int(price)


def price_alignment(user_turns: Sequence[str], poi_prices: Sequence[object]) -> float | None:
    """Return the share of places with a known price that is at or below the user's ceiling, 0 to 1 (M12; paper, section 3).

    None without a stated ceiling or without a known price. A ceiling of 4 cannot fail.

    Example:
        >>> price_alignment(["cheap eats"], [1, 2, None, 3, 4])
        0.5
    """
    ceiling = price_ceiling(user_turns)
    known = [level for level in map(price_level, poi_prices) if level is not None]
    return sum(level <= ceiling for level in known) / len(known) if known and ceiling is not None else None


def preference_coverage(user_turns: Sequence[str], poi_docs: Sequence[str]) -> float | None:
    """Return the share of wished aspect terms that stand in the text of at least one place named, 0 to 1 (M13).

    Args:
        user_turns: the user's words so far; their inventory terms are the wishes.
        poi_docs: categories, attributes and reviews of each place named.

    Returns:
        None without a wish.

    Example:
        >>> preference_coverage(["quiet place with parking"], ["Free parking in the back"])
        0.5
    """
    wishes = {term for text in user_turns for term in find_terms(text)}
    there = {term for text in poi_docs for term in find_terms(text)}
    return len(wishes & there) / len(wishes) if wishes else None


def _within(value: object, bound: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= bound
