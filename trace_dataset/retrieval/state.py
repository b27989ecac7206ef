"""The state of a tourism dialogue: what has been asked for so far, how a turn changes it, and which places it leaves (B11)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trace_dataset.kb import KnowledgeBase
from trace_dataset.retrieval.documents import SAYS_NO, place_facts
from trace_dataset.scoring.inventory import find_terms
from trace_dataset.scoring.text import tokenize

NOISE = ("quiet", "average", "loud", "very_loud")  # Yelp's levels; a neighbouring level is compatible
RELAXED = (("features",), ("noise",), ("cuisine_like", "cuisine_avoid"), ("price",))  # given up in this order (P47)
FEATURE_OF = {  # Yelp's attributes that are one of the 41 terms under another name
    "BusinessParking": "parking", "WiFi": "wifi", "OutdoorSeating": "outdoor seating", "DogsAllowed": "pet-friendly",
    "RestaurantsReservations": "reservations", "RestaurantsDelivery": "delivery", "RestaurantsTakeOut": "takeout",
    "WheelchairAccessible": "wheelchair accessible", "GoodForKids": "kid-friendly",
}  # fmt: skip


@dataclass(frozen=True)
class DialogueState:
    """What a traveller wants. Of one turn alone it is a delta.

    Attributes:
        price: the highest price level, 1 to 4.
        noise: one of Yelp's levels.
        rejected, accepted: business ids.
    """

    price: int | None = None
    cuisine_like: tuple[str, ...] = ()
    cuisine_avoid: tuple[str, ...] = ()
    ambience: tuple[str, ...] = ()
    noise: str | None = None
    features: tuple[str, ...] = ()
    location: str | None = None
    rejected: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()

    def merged(self, delta: DialogueState) -> DialogueState:
        """Return the state after a turn: single values are replaced where the turn has one, lists grow.

        Example:
            >>> DialogueState(price=2, features=("wifi",)).merged(DialogueState(price=3, features=("patio",))).features
            ('wifi', 'patio')
        """
        values: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            old, new = getattr(self, field.name), getattr(delta, field.name)
            values[field.name] = (
                tuple(dict.fromkeys((*old, *new))) if isinstance(old, tuple) else old if new is None else new
            )
        return DialogueState(**values)

    def described(self, names: Mapping[str, str]) -> str:
        """Return the state in words, one line a slot that is filled; places by name."""
        slots = {
            "price": "$" * (self.price or 0), "likes": ", ".join(self.cuisine_like), "avoids": ", ".join(self.cuisine_avoid),
            "ambience": ", ".join(self.ambience), "noise": self.noise or "", "needs": ", ".join(self.features),
            "where": self.location or "", "turned down": ", ".join(names[place] for place in self.rejected),
            "accepted": ", ".join(names[place] for place in self.accepted),
        }  # fmt: skip
        return "\n".join(f"{slot}: {value}" for slot, value in slots.items() if value) or "nothing yet"


def dst_filter(state: Mapping[str, Any], pois: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of the places that a state leaves, in the order given; never none of several.

    Price may not be above the one stated; a place has one of the liked cuisines and none of the avoided; its noise is within
    one level of the one stated; it has every required feature; it was not rejected. What a place does not tell of price or
    noise is no fault. Where nothing is left, constraints are given up: features, noise, cuisine, price, and at last the
    rejections (definitions, B11 and P47).

    Args:
        state: `price`, `cuisine_like`, `cuisine_avoid`, `noise`, `features`, `rejected`; each may be missing.
        pois: `id`, `price`, `categories`, `noise`, `features`.
    """
    held = dict(state)
    for given_up in ((), *RELAXED, ("rejected",)):
        for name in given_up:
            held.pop(name, None)
        left = [str(poi["id"]) for poi in pois if _passes(held, poi)]
        if left:
            return left
    return []


def filter_row(kb: KnowledgeBase, business_id: str) -> dict[str, Any]:
    """Return what the filter looks at of a place."""
    place = kb.pois[business_id]
    features = set(find_terms(place_facts(kb, business_id)))
    for key, value in place.attributes.items():
        term = FEATURE_OF.get(key.partition(".")[0])
        if term is not None and value not in SAYS_NO:
            features.add(term)
    return {"id": business_id, "price": place.price, "categories": place.categories,
            "noise": place.attributes.get("NoiseLevel"), "features": sorted(features)}  # fmt: skip


def _passes(state: Mapping[str, Any], poi: Mapping[str, Any]) -> bool:
    if poi["id"] in (state.get("rejected") or ()):
        return False
    price, noise = state.get("price"), state.get("noise")
    if price is not None and poi.get("price") is not None and poi["price"] > price:
        return False
    if not _compatible(noise, poi.get("noise")):
        return False
    categories = [frozenset(tokenize(category)) for category in poi.get("categories") or ()]
    liked, avoided = state.get("cuisine_like") or (), state.get("cuisine_avoid") or ()
    if liked and not any(_in(wish, categories) for wish in liked):
        return False
    if any(_in(wish, categories) for wish in avoided):
        return False
    there = {feature.lower() for feature in poi.get("features") or ()}
    return all(feature.lower() in there for feature in state.get("features") or ())


def _in(wish: str, categories: Sequence[frozenset[str]]) -> bool:
    """Whether a category holds every word of a wish."""
    words = frozenset(tokenize(wish))
    return bool(words) and any(words <= category for category in categories)


def _compatible(wanted: str | None, there: str | None) -> bool:
    if wanted is None or there is None or wanted not in NOISE or there not in NOISE:
        return True
    return abs(NOISE.index(wanted) - NOISE.index(there)) <= 1
