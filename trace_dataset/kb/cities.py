"""Cities: one key for all spellings of a name within a state, and the choice of a benchmark's cities."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

from trace_dataset.schema import POI_TYPES

US_STATES = frozenset(json.loads(resources.files(__package__).joinpath("states.json").read_text(encoding="utf-8")))

SHORT_FORMS = {"saint": "st", "sainte": "ste", "fort": "ft", "mount": "mt"}
ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # no decision rests on Unicode tables

CityKey = tuple[str, str]  # state, normalised name


def city_key(name: str, state: str) -> CityKey:
    """Return what all spellings of a city in a state share: lower case, no dots, single blanks, `st` for Saint.

    Example:
        >>> city_key("ST.ANN ", "MO") == city_key("Saint Ann", "MO")
        True
    """
    words = tidy(name).translate(ASCII_LOWER).replace(".", " ").split()
    return state, " ".join(SHORT_FORMS.get(word, word) for word in words)


def tidy(text: str) -> str:
    """Return text with runs of white space as one blank, and none at its ends."""
    return re.sub(r"[\s ]+", " ", text).strip(" ")


@dataclass
class Spellings:
    """Counts how a city is spelled."""

    counts: dict[CityKey, Counter[str]] = field(default_factory=dict)

    def add(self, key: CityKey, spelling: str) -> None:
        """Count one row's spelling."""
        self.counts.setdefault(key, Counter())[tidy(spelling)] += 1

    def display(self, key: CityKey) -> str:
        """Return the most frequent spelling; of equally frequent ones the smallest."""
        return min(self.counts[key].items(), key=lambda item: (-item[1], item[0]))[0]

    def merged(self) -> list[dict[str, object]]:
        """Return the cities with several spellings, with the count of each, sorted."""
        return [
            {"city": self.display(key), "state": key[0], "spellings": dict(sorted(counts.items()))}
            for key, counts in sorted(self.counts.items())
            if len(counts) > 1
        ]


@dataclass(frozen=True)
class City:
    """A city and its number of usable places of each type."""

    name: str
    state: str
    key: CityKey
    usable: Mapping[str, int]

    @property
    def scarcest(self) -> int:
        """Usable places of the type with fewest."""
        return min(self.usable.get(kind, 0) for kind in POI_TYPES)

    @property
    def total(self) -> int:
        """Usable places of all types."""
        return sum(self.usable.get(kind, 0) for kind in POI_TYPES)

    def types_with(self, at_least: int) -> list[str]:
        """Return the types with so many usable places."""
        return [kind for kind in POI_TYPES if self.usable.get(kind, 0) >= at_least]


def rank_cities(usable: Mapping[CityKey, Mapping[str, int]], spellings: Spellings) -> list[City]:
    """Return cities by their scarcest type's usable places, then by all usable places, then by name and state."""
    cities = [City(spellings.display(key), key[0], key, dict(counts)) for key, counts in usable.items()]
    return sorted(cities, key=lambda city: (-city.scarcest, -city.total, city.name, city.state))


def choose_cities(ranked: list[City], n_cities: int, pool_size: int) -> list[City]:
    """Return the first cities that have at least one type with a pool's worth of usable places."""
    return [city for city in ranked if city.types_with(pool_size)][:n_cities]


def benchmark_names(cities: list[City]) -> dict[CityKey, str]:
    """Return the name of each chosen city; two of one name in different states carry the state as well."""
    shared = Counter(city.name for city in cities)
    return {city.key: city.name if shared[city.name] == 1 else f"{city.name}, {city.state}" for city in cities}
