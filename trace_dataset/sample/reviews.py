"""Review texts: which aspects a review speaks of, in which sentences, and where each sentence stands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from trace_dataset.sample import data
from trace_dataset.sample.bank import Bank
from trace_dataset.sample.grammar import Sequence, Slots, marked
from trace_dataset.sample.places import Place, choose, weighted
from trace_dataset.sample.sentences import Unit, aspect_sentence, list_sentence, mixed_sentence, neutral_sentence
from trace_dataset.sample.voice import Voice, join_units

Uniform = Callable[[], float]

# Lengths in code points at these shares, as measured on the real files (33 to 4,959, median 399, 40 % over 500).
LENGTH_SHARES = (0.0, 0.01, 0.05, 0.10, 0.25, 0.50, 0.60, 0.75, 0.90, 0.95, 0.99, 1.0)
LENGTHS = (40, 85, 111, 138, 221, 399, 498, 696, 1098, 1478, 2441, 4900)

# How much a review of 1 to 5 stars speaks of the good and of the bad sides of a place.
GOOD_WEIGHT = (0.10, 0.30, 0.8, 1.0, 1.0)
BAD_WEIGHT = (1.0, 1.0, 0.9, 0.4, 0.14)
WORST = (0.40, 0.24, 0.17, 0.12, 0.07)
BEST = (0.02, 0.02, 0.06, 0.27, 0.63)


@dataclass(frozen=True, slots=True)
class Mark:
    """What the generator meant by `text[start:end]`: aspect (None for asides and verdicts), polarity -1, 0 or +1."""

    start: int
    end: int
    aspect: str | None
    polarity: int


@dataclass(slots=True)
class Writing:
    """One review text with its marks."""

    text: str
    marks: list[Mark] = field(default_factory=list)


def draw_stars(place: Place, uniform: Uniform) -> int:
    """Return 1 to 5 stars; better places get more of them."""
    stances = list(place.stance.values())
    share = sum(1 for polarity in stances if polarity > 0) / len(stances) if stances else 0.5
    level = min(1.0, max(0.0, 0.6 * share + 0.6 * place.quality - 0.02))
    weights = [low + (high - low) * level for low, high in zip(WORST, BEST, strict=True)]
    return weighted((1, 2, 3, 4, 5), weights, uniform)


def draw_length(uniform: Uniform) -> int:
    """Return how many code points the review should have."""
    share = uniform()
    upper = max(1, bisect_left(LENGTH_SHARES, share))
    low, high = LENGTH_SHARES[upper - 1], LENGTH_SHARES[upper]
    return int(LENGTHS[upper - 1] + (LENGTHS[upper] - LENGTHS[upper - 1]) * (share - low) / (high - low))


def place_slots(bank: Bank, place: Place) -> dict[str, list[Sequence]]:
    """Return the bank's slots with those that this place fills."""
    things = place.kind.things or ("room",)
    name = "dish" if place.poi_type == "restaurant" else "thing"
    filled: dict[str, tuple[str, ...]] = {
        name: things[::2],
        f"{name}2": things[1::2],
        "area": (place.area.name,),
        "city": (place.city.name.replace("Saint ", "St. "),),
    }
    if place.kind.spots:
        filled["spot"] = place.kind.spots
    slots = dict(bank.slots)
    for slot, words in filled.items():
        slots[slot] = [[marked(word)] for word in words]
    return slots


def write_review(bank: Bank, slots: Slots, place: Place, stars: int, uniform: Uniform) -> Writing:
    """Return a review of a place in the mood of its stars."""
    target = draw_length(uniform)
    voice = Voice.draw(uniform)
    slots = {**slots, **voice.slots(bank, uniform)}
    used: set[int] = set()
    units: list[Unit] = []
    if target > 150 and uniform() < 0.7:
        units.append(list_sentence(bank, "start", slots, uniform, used))
    chooser = _Chooser(place, stars)
    while sum(len(unit.text) + 1 for unit in units) < target - 42 or not units:
        units.append(_body_unit(bank, slots, chooser, uniform, used))
    if target > 260 and uniform() < 0.5:
        mood, polarity = ("good", 1) if stars > 3 else ("bad", -1) if stars < 3 else ("mixed", 0)
        units.append(list_sentence(bank, f"verdict_{mood}", slots, uniform, used, polarity))
    if uniform() < 0.006:
        units.insert(int(uniform() * len(units)) + 1, list_sentence(bank, "oddity", slots, uniform, used))
    text, spans = join_units(units, voice, uniform)
    return Writing(text, [Mark(*span) for span in spans])


def _body_unit(bank: Bank, slots: Slots, chooser: _Chooser, uniform: Uniform, used: set[int]) -> Unit:
    form = uniform()
    if form < 0.12:
        return list_sentence(bank, "middle", slots, uniform, used)
    aspect, polarity = chooser.draw(uniform)
    if form < 0.26:
        other, other_polarity = chooser.draw(uniform)
        if other != aspect:
            return mixed_sentence(bank, slots, (aspect, polarity), (other, other_polarity), uniform, used)
    if form < 0.30:
        return neutral_sentence(bank, slots, aspect, uniform, used)
    return aspect_sentence(bank, slots, aspect, polarity, uniform, used)


class _Chooser:
    """Draws the aspects of one review: those of the place's profile, seldom others, repeats less and less likely."""

    def __init__(self, place: Place, stars: int) -> None:
        good, bad = GOOD_WEIGHT[stars - 1], BAD_WEIGHT[stars - 1]
        self.mood = 1 if stars > 3 else -1 if stars < 3 else 0
        self.options = [(aspect, polarity) for aspect, polarity in place.stance.items()]
        self.weights = [place.salience[aspect] * (good if polarity > 0 else bad) for aspect, polarity in self.options]
        core = data.core_aspects()
        names = [name for name, _ in data.presence(place.poi_type)]
        self.others = names
        self.said: dict[str, int] = {}
        for name in names:
            if name in core and place.stance.get(name) != self.mood:
                self.options.append((name, self.mood or 1))
                self.weights.append(0.5 if stars < 3 else 0.1)

    def draw(self, uniform: Uniform) -> tuple[str, int]:
        """Return an aspect and what the review says of it; it never says two opposite things of one aspect."""
        stray, flip = uniform(), uniform()
        if stray < 0.025:
            aspect, polarity = choose(self.others, uniform), self.mood or (1 if flip < 0.5 else -1)
        else:
            number = weighted(range(len(self.options)), self.weights, uniform)
            self.weights[number] *= 0.25
            aspect, polarity = self.options[number]
            if flip < 0.03 and polarity != self.mood:
                polarity = -polarity
        return aspect, self.said.setdefault(aspect, polarity)
