"""The odd parts of a business row: attributes that look like Python source, hours, addresses, categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trace_dataset.sample import data
from trace_dataset.sample.places import Place, choose

Uniform = Callable[[], float]

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_AMBIENCE = ("touristy", "hipster", "romantic", "divey", "intimate", "trendy", "upscale", "classy", "casual")
_MEALS = ("dessert", "latenight", "lunch", "dinner", "brunch", "breakfast")
_PARKING = ("garage", "street", "validated", "lot", "valet")
_MUSIC = ("dj", "background_music", "no_music", "jukebox", "live", "video", "karaoke")


def categories(kind: data.Kind, poi_type: str, uniform: Uniform) -> str:
    """Return the category text: the kind's own names, parents and a few extras in random order."""
    names = list(kind.categories)
    if poi_type == "restaurant":
        names += ["Restaurants"] + (["Food"] if uniform() < 0.45 else [])
    elif poi_type == "hotel":
        names.append("Hotels & Travel")
    names += [extra for extra in kind.extra if uniform() < 0.4]
    unique = list(dict.fromkeys(names))
    order = sorted((uniform(), name) for name in unique)
    return ", ".join(name for _, name in order)


def address(uniform: Uniform) -> str:
    """Return a street address, empty for one place in 25."""
    empty, number = uniform() < 0.04, 1 + int(uniform() * uniform() * 9000)
    directions, streets, units = data.streets()
    text = f"{number} {choose(directions, uniform)}{choose(streets, uniform)}{choose(units, uniform)}"
    return "" if empty else text


def hours(uniform: Uniform) -> dict[str, str] | None:
    """Return opening hours, `0:0-0:0` for closed or all day, or None for one place in six."""
    known, always, odd = uniform() >= 0.16, uniform() < 0.05, uniform()
    opens, closes = 6 + int(uniform() * 6), 16 + int(uniform() * 8)
    minutes = choose((0, 0, 0, 30), uniform)
    shut = int(uniform() * 14)
    if not known:
        return None
    table: dict[str, str] = {}
    for number, day in enumerate(_DAYS):
        if always or (number == shut and odd < 0.5):
            table[day] = "0:0-0:0"
        elif number != shut:
            late = 1 if number in (4, 5) else 0
            table[day] = f"{opens}:{minutes}-{(closes + late) % 24}:0"
    return table


def _flag(value: bool) -> str:
    return "True" if value else "False"


def _word(value: str, uniform: Uniform) -> str:
    return f"u'{value}'" if uniform() < 0.6 else f"'{value}'"


def _nested(keys: Iterable[str], true: set[str], uniform: Uniform) -> str:
    mark = "u" if uniform() < 0.15 else ""
    other = "None" if uniform() < 0.1 else "False"
    parts = [f"{mark}'{key}': {'True' if key in true else other if uniform() < 0.2 else 'False'}" for key in keys]
    return "{" + ", ".join(parts) + "}"


def attributes(place: Place, uniform: Uniform) -> dict[str, str] | None:
    """Return the attributes of a place, mostly consistent with its profile, some missing, or None for one in 11."""
    nothing = uniform() < 0.09
    rows = list(_candidates(place, uniform))
    rows.sort(key=lambda row: row[0])
    kept = {key: value for _, key, value in rows}
    return None if nothing else kept


def _candidates(place: Place, uniform: Uniform) -> Iterable[tuple[float, str, str]]:
    """Yield (random order, key, value); the share of places that state a key depends on the type."""
    stance, kind = place.stance, place.poi_type
    eats = kind == "restaurant"

    def has(aspect: str, otherwise: float) -> bool:
        """Whether the place has it: its profile says so, else by chance; one in 25 states the contrary."""
        wrong, chance = uniform() < 0.04, uniform() < otherwise
        known = stance.get(aspect)
        return (chance if known is None else known > 0) != wrong

    shares: list[tuple[str, float, str]] = [
        ("BusinessAcceptsCreditCards", 0.85, _flag(uniform() < 0.97)),
        ("BikeParking", 0.62 if eats else 0.3, _flag(uniform() < 0.75)),
        ("BusinessParking", 0.8 if eats else 0.4, _parking(has("parking", 0.35), uniform)),
        ("WheelchairAccessible", 0.3, _flag(has("wheelchair_access", 0.6))),
        ("DogsAllowed", 0.24, _flag(has("dogs", 0.12))),
        ("GoodForKids", 0.72 if eats or kind == "attraction" else 0.15, _flag(has("kids", 0.6))),
        ("WiFi", 0.7 if eats else 0.55 if kind == "hotel" else 0.08, _wifi(has("wifi", 0.35), kind, uniform)),
        ("OutdoorSeating", 0.74 if eats else 0.12, _flag(has("outdoor_seating", 0.2))),
    ]
    if eats:
        shares += _restaurant_only(place, has, uniform)
    if place.poi_type != "attraction" or uniform() < 0.08:
        stated = 0.86 if eats else 0.6
        shares.append(("RestaurantsPriceRange2", stated, "None" if uniform() < 0.01 else str(place.price)))
    for key, share, value in shares:
        keep, order, blank = uniform() < share, uniform(), uniform() < 0.012
        if keep:
            yield order, key, "None" if blank and key != "RestaurantsPriceRange2" else value


def _restaurant_only(place: Place, has: Callable[[str, float], bool], uniform: Uniform) -> list[tuple[str, float, str]]:
    noise = "quiet" if has("quiet", 0.05) else choose(("average", "average", "average", "loud"), uniform)
    if place.stance.get("quiet") == -1 or place.stance.get("lively") == 1:
        noise = choose(("loud", "loud", "average", "very_loud"), uniform)
    moods = {name for name in ("romantic", "upscale", "casual") if has(name, 0.15)}
    if has("cozy", 0.02):
        moods.add("intimate")
    if has("lively", 0.03):
        moods.add("trendy")
    meals = {
        meal
        for meal, aspect in (("breakfast", "breakfast"), ("dessert", "dessert"), ("latenight", "late_night"))
        if has(aspect, 0.06)
    }
    meals |= {meal for meal in ("lunch", "dinner") if uniform() < 0.6}
    alcohol = choose(("full_bar", "full_bar", "beer_and_wine"), uniform) if has("cocktails", 0.35) else "none"
    takes = has("takeout", 0.85)
    music = {"live"} if has("live_music", 0.04) else {"background_music"} if uniform() < 0.3 else set()
    return [
        ("RestaurantsTakeOut", 0.85, _flag(takes)),
        ("RestaurantsDelivery", 0.8, _flag(takes and uniform() < 0.65)),
        ("RestaurantsReservations", 0.75, _flag(place.price >= 3 or uniform() < 0.25)),
        ("RestaurantsGoodForGroups", 0.72, _flag(has("groups", 0.7))),
        ("HasTV", 0.72, _flag(uniform() < 0.7)),
        ("Caters", 0.6, _flag(uniform() < 0.5)),
        ("RestaurantsAttire", 0.66, _word("dressy" if place.price >= 3 and uniform() < 0.4 else "casual", uniform)),
        ("NoiseLevel", 0.62, _word(noise, uniform)),
        ("Ambience", 0.7, "{}" if uniform() < 0.02 else _nested(_AMBIENCE, moods, uniform)),
        ("GoodForMeal", 0.5, _nested(_MEALS, meals, uniform)),
        ("Alcohol", 0.68, _word(alcohol, uniform)),
        ("HappyHour", 0.2, _flag(has("cocktails", 0.3))),
        ("Music", 0.12, _nested(_MUSIC, music, uniform)),
        ("Smoking", 0.06, _word(choose(("no", "outdoor", "yes"), uniform), uniform)),
        ("RestaurantsTableService", 0.33, _flag(uniform() < 0.68)),
    ]


def _parking(easy: bool, uniform: Uniform) -> str:
    good = choose(("lot", "lot", "garage", "valet", "street"), uniform)
    return _nested(_PARKING, {good} if easy else set(), uniform)


def _wifi(good: bool, kind: str, uniform: Uniform) -> str:
    bad = ("no", "no", "paid") if kind == "hotel" else ("no",)
    return _word("free" if good else choose(bad, uniform), uniform)
