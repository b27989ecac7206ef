"""What travellers of a persona said in earlier dialogues, weighted by likeness and age (definitions, B14)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from trace_dataset.retrieval.sparse import terms

HALF_LIFE_HOURS = 168.0
TOP = 5  # remembered items that are used
HOURS_A_DIALOGUE = 1.0  # dialogues carry no date, so their order is the clock (P50)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Something that a traveller said, and when."""

    text: str
    hour: float


def memory_weight(cosine: float, hours_ago: float) -> float:
    """Return cosine * exp(-ln 2 * hours / 168): half of it after a week.

    Example:
        >>> memory_weight(0.8, 168)
        0.4
    """
    return cosine * math.exp(-math.log(2) * hours_ago / HALF_LIFE_HOURS)


def term_cosine(first: str, second: str) -> float:
    """Return the cosine of two texts' terms, each weighted by 1 + ln(count); 0 where they share none."""
    a, b = Counter(terms(first)), Counter(terms(second))
    shared = math.fsum((1 + math.log(a[term])) * (1 + math.log(b[term])) for term in sorted(a.keys() & b.keys()))
    lengths = [math.sqrt(math.fsum((1 + math.log(count)) ** 2 for _, count in sorted(each.items()))) for each in (a, b)]
    return shared / (lengths[0] * lengths[1]) if shared else 0.0


class PreferenceMemory:
    """Preferences by persona, kept across dialogues."""

    def __init__(self) -> None:
        self._of: dict[str, list[Remembered]] = {}

    def add(self, persona: str, text: str, hour: float) -> None:
        """Remember what a traveller of a persona said; the same words again make it young again."""
        known = [item for item in self._of.get(persona, []) if item.text != text]
        self._of[persona] = [*known, Remembered(text, hour)]

    def recall(self, persona: str, query: str, hour: float, top: int = TOP) -> list[tuple[str, float]]:
        """Return the items with the largest weight above 0, and that weight; on ties the younger first."""
        weighted = [
            (memory_weight(term_cosine(query, item.text), hour - item.hour), item.hour, item.text)
            for item in self._of.get(persona, [])
        ]
        best = sorted((item for item in weighted if item[0] > 0), key=lambda item: (-item[0], -item[1], item[2]))
        return [(text, weight) for weight, _, text in best[:top]]
