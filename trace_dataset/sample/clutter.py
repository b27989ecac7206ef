"""Businesses that are no usable place: shops, dentists, car rental, pop-ups, places with too few reviews.

They come on top of the usable places, so that whoever reads the sample must choose as with the real files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trace_dataset.sample import attributes, data
from trace_dataset.sample.places import choose, identifier, weighted
from trace_dataset.sample.rows import CROWD_PLACES, city_spelling, half_stars, review_row, votes
from trace_dataset.streams import stream

Uniform = Callable[[], float]

# (share, categories, ends of names)
TRADES: tuple[tuple[float, tuple[str, ...] | None, tuple[str, ...]], ...] = (
    (3, ("Shopping", "Home & Garden", "Furniture Stores"), ("Furniture", "Home Goods")),
    (3, ("Dentists", "Health & Medical", "General Dentistry"), ("Dental", "Family Dentistry")),
    (2, ("Automotive", "Auto Repair", "Oil Change Stations", "Tires"), ("Auto Repair", "Tire & Lube")),
    (3, ("Hotels & Travel", "Car Rental", "Automotive"), ("Car Rental", "Rent-A-Car")),
    (2, ("Hotels & Travel", "Airport Shuttles", "Transportation", "Taxis"), ("Airport Shuttle", "Cab Company")),
    (2, ("Pop-Up Restaurants", "Food"), ("Pop-Up", "Supper Club")),
    (2, ("Beauty & Spas", "Nail Salons", "Waxing"), ("Nails", "Salon & Spa")),
    (2, ("Grocery", "Food", "Specialty Food"), ("Market", "Grocery")),
    (2, ("Active Life", "Gyms", "Fitness & Instruction", "Trainers"), ("Fitness", "Gym")),
    (1, ("Pet Services", "Pet Groomers", "Pets", "Pet Boarding/Pet Sitting"), ("Pet Grooming",)),
    (1, ("Health & Medical", "Naturopathic/Holistic", "Acupuncture"), ("Acupuncture & Wellness",)),
    (1, None, ("Company", "Services")),
)

REMARKS = (
    "They finished the job when they said they would.",
    "The person on the phone could not find my order.",
    "Prices were about what I expected.",
    "I was in and out in twenty minutes.",
    "Had to come back twice for the same thing.",
    "Friendly crew, clear estimate, no surprises.",
    "The counter was closed although the sign said open.",
    "They called me back the same afternoon.",
    "I would use them again.",
    "Nobody told me about the extra charge.",
    "Good selection and someone who knows what they sell.",
    "The waiting room has old magazines and a loud TV.",
    "My neighbor sent me here and I am glad.",
    "They tried to sell me three things I did not need.",
    "Easy to book online.",
    "Never again.",
    "Gentle, quick and they explained every step.",
    "The line moved slowly.",
)


@dataclass(slots=True)
class Business:
    """A business row with its review rows."""

    row: dict[str, Any]
    reviews: list[dict[str, Any]]


def clutter_count(places: int) -> int:
    """Return how many such businesses come on top of so many usable places: 15 % and 4 % with too few reviews."""
    return -(-places * 19 // 100)


def make_clutter(seed: int, number: int, used_names: dict[str, set[str]]) -> Business:
    """Return the business with this number."""
    draws = stream(seed, "clutter", number)
    uniform = draws.random
    city = _city(uniform)
    thin = number % 19 < 4
    if thin:
        return _thin(seed, number, city, uniform, used_names)
    _, categories, tails = weighted(TRADES, [trade[0] for trade in TRADES], uniform)
    names = [] if categories is None else [*categories]
    order = sorted((uniform(), name) for name in names)
    text = None if categories is None else ", ".join(name for _, name in order)
    flags = None if uniform() < 0.2 else {"BusinessAcceptsCreditCards": "True", "ByAppointmentOnly": "False"}
    return _business(seed, number, city, tails, text, flags, 3 + int(uniform() * uniform() * 14), uniform, used_names)


def _city(uniform: Uniform) -> data.City:
    far, which = uniform() < 0.06, uniform()
    cities = data.cities("elsewhere") if far else data.cities()
    return cities[int(which * len(cities))]


def _thin(seed: int, number: int, city: data.City, uniform: Uniform, used: dict[str, set[str]]) -> Business:
    """A restaurant with fewer than three reviews that hold text; now and then a third one that is blank."""
    kind = choose(data.kinds("restaurant"), uniform)
    text = attributes.categories(kind, "restaurant", uniform)
    result = _business(
        seed, number, city, kind.tails, text, {"RestaurantsPriceRange2": "2"}, 1 + int(uniform() * 2), uniform, used
    )
    if uniform() < 0.3 and len(result.reviews) == 2:
        result.reviews.append({**result.reviews[0], "review_id": identifier(seed, "blank", number), "text": " \n"})
    return result


def _business(
    seed: int,
    number: int,
    city: data.City,
    tails: tuple[str, ...],
    categories: str | None,
    flags: dict[str, str] | None,
    reviews: int,
    uniform: Uniform,
    used: dict[str, set[str]],
) -> Business:
    words, taken = data.name_words(), used.setdefault(f"clutter of {city.name}", set())
    name = f"{choose(words['last'], uniform)} {choose(tails, uniform)}"
    while name in taken:
        name = f"{choose(words['place'], uniform)} {name}"
    taken.add(name)
    area = choose(city.areas, uniform)
    town = choose(city.suburbs, uniform) if city.suburbs and uniform() < 0.25 else city_spelling(city, uniform)
    business = identifier(seed, "clutter", number)
    crowd = number // CROWD_PLACES
    rows = []
    for order in range(reviews):
        count = 2 + int(uniform() * 4)
        remarks = [choose(REMARKS, uniform) for _ in range(count)]
        text = " ".join(dict.fromkeys(remarks))
        rows.append(
            review_row(
                seed,
                business,
                identifier(seed, "clutter review", number, order),
                crowd,
                1 + int(uniform() * 5),
                text,
                uniform,
            )
        )
    row = {
        "business_id": business,
        "name": name,
        "address": attributes.address(uniform),
        "city": town,
        "state": city.state,
        "postal_code": choose(city.zips, uniform),
        "latitude": round(area.latitude + (uniform() - 0.5) * 0.05, 10),
        "longitude": round(area.longitude + (uniform() - 0.5) * 0.05, 10),
        "stars": half_stars([int(item["stars"]) for item in rows]),
        "review_count": reviews + votes(uniform, 6.0),
        "is_open": 1 if uniform() < 0.79 else 0,
        "attributes": flags,
        "categories": categories,
        "hours": attributes.hours(uniform),
    }
    return Business(row, rows)
