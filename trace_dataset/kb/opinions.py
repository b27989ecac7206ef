"""Reading a clause: which aspects it speaks of, and whether it praises or blames them.

Phrases that say it all ("easy to park", "paper thin walls") count where they stand. A topic ("staff") takes the opinion
word that leads it ("friendly staff") or that a linking verb brings ("staff was friendly"). A negation within three
words turns either round. What someone wishes, expects or heard of is left aside.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_dataset.kb.lexicon import (
    BAD,
    FEATURE,
    GENERAL,
    GOOD,
    IGNORE,
    NEGATIVE,
    PLAIN,
    POSITIVE,
    TOPIC,
    TURNING,
    UNREAL,
    WEAK,
    Lexicon,
    Node,
)

NEGATION_WINDOW = 3
REACH = 7  # words from a topic to what is said of it
STRANGERS = 2  # words in between that no list knows
FREE = frozenset(
    [
        "and",
        ",",
        "or",
        "too",
        "considering",
        "every",
        "each",
        "enough",
        "today",
        "tonight",
        "throughout",
        "again",
        "during",
        "while",
        "since",
        "given",
        "there",
        "not",
        "as",
        "without",
        "once",
        "yet",
        "next",
        "last",
        "though",
        "until",
        "despite",
        "whenever",
        "now",
        "between",
        "under",
        "compared",
        "more",
    ]
)
LINKS = frozenset(["with", "of", "about", "by", "in"])

Match = tuple[int, int, int, int]  # start, end, role, strength


@dataclass(slots=True)
class Reading:
    """What a clause says.

    Attributes:
        aspects: aspect number to signed strength; opposite words on one aspect leave it out.
        general: signed strength of opinion words on nothing in particular.
        good, bad: whether any words of praise or blame stand in it.
    """

    aspects: dict[int, int] = field(default_factory=dict)
    general: int = 0
    good: bool = False
    bad: bool = False


class ClauseReader:
    """Reads clauses about places of one type."""

    def __init__(self, lexicon: Lexicon, poi_type: str) -> None:
        self.lexicon = lexicon
        self.fits = lexicon.fits[poi_type] | {GENERAL}

    def read(self, words: list[str]) -> Reading | None:
        """Return what a clause says, or None where no list knows any of its words."""
        matches = self._matches(words)
        if not matches:
            return None
        reading = Reading()
        general = matches.pop(GENERAL, [])
        if not self.lexicon.unreal.isdisjoint(words) or any(role == UNREAL for _, _, role, _ in general):
            return reading
        negations = self._negations(words, general)
        opinions = {
            start: (end, self._sign(words, start, role == GOOD, negations), strength)
            for start, end, role, strength in general
            if role in (GOOD, BAD)
        }
        self._add_excess(words, opinions, negations)
        trouble = any(sign < 0 for _, sign, _ in opinions.values()) or self._trouble(words, negations)
        topics = {start: end for found in matches.values() for start, end, role, _ in found if role in (TOPIC, FEATURE)}
        for aspect in sorted(matches):
            strength, backed = self._aspect(words, aspect, matches[aspect], opinions, topics, negations)
            if strength < 0 or (strength > 0 and (backed or not trouble)):
                reading.aspects[aspect] = strength
        signs = [sign for _, sign, _ in opinions.values()] + list(reading.aspects.values())
        reading.good, reading.bad = any(sign > 0 for sign in signs), any(sign < 0 for sign in signs)
        if reading.good != reading.bad:
            total = sum(sign * strength for _, sign, strength in opinions.values())
            reading.general = max(-9, min(9, total))
        return reading

    def _trouble(self, words: list[str], negations: list[int]) -> bool:
        """Say whether a word stands there that spoils bare mentions ("the patio by the dumpsters")."""
        trouble = self.lexicon.trouble
        return not trouble.isdisjoint(words) and any(
            word in trouble and not self._negated(words, at, negations) for at, word in enumerate(words)
        )

    def _matches(self, words: list[str]) -> dict[int, list[Match]]:
        """Return the longest phrases of each aspect, none inside another of the same aspect."""
        found: dict[int, list[Match]] = {}
        taken: dict[int, int] = {}
        root = self.lexicon.root
        for start, word in enumerate(words):
            node = root.get(word)
            if node is None:
                continue
            longest: dict[int, list[Match]] = {}
            end = start + 1
            while node is not None:
                for aspect, role, strength in node.get("", ()):
                    if aspect in self.fits and taken.get(aspect, 0) <= start:
                        kept = longest.setdefault(aspect, [])
                        if kept and kept[0][1] < end:
                            kept.clear()
                        kept.append((start, end, role, strength))
                if end == len(words):
                    break
                node = _step(node, words[end])
                end += 1
            for aspect, kept in longest.items():
                if all(role in (GOOD, BAD) for _, _, role, _ in kept) and aspect != GENERAL:
                    taken.setdefault(aspect, 0)  # a word of praise may begin a longer phrase
                else:
                    taken[aspect] = kept[0][1]
                found.setdefault(aspect, []).extend(kept)
        return found

    def _negations(self, words: list[str], general: list[Match]) -> list[int]:
        """Return the positions of words that turn round what follows."""
        turning = [end - 1 for _, end, role, _ in general if role == TURNING]
        if not turning and self.lexicon.negators.isdisjoint(words):
            return []
        inside = {at for start, end, _, _ in general for at in range(start, end) if end - start > 1}
        return sorted(
            [at for at, word in enumerate(words) if word in self.lexicon.negators and at not in inside] + turning
        )

    def _negated(self, words: list[str], at: int, negations: list[int]) -> bool:
        for position in negations:
            if (
                position < at
                and "," not in words[position:at]
                and (at - position <= NEGATION_WINDOW or words[position + 1] in self.lexicon.belief)
            ):
                return True
        return False

    def _sign(self, words: list[str], at: int, good: bool, negations: list[int]) -> int:
        """Return +1 or -1 for a word of praise or blame where it stands."""
        sign = 1 if good else -1
        negated = self._negated(words, at, negations)
        if at and words[at - 1] == "too":
            return -sign if negated else -1
        return -sign if negated else sign

    def _add_excess(self, words: list[str], opinions: dict[int, tuple[int, int, int]], negations: list[int]) -> None:
        """Count "too small" and its like as blame, "not too small" as nothing."""
        if "too" not in words:
            return
        for at, word in enumerate(words[:-1]):
            if (
                word == "too"
                and words[at + 1] in self.lexicon.too
                and at + 1 not in opinions
                and not self._negated(words, at, negations)
            ):
                opinions[at + 1] = (at + 2, -1, PLAIN)

    def _aspect(
        self,
        words: list[str],
        aspect: int,
        matches: list[Match],
        general: dict[int, tuple[int, int, int]],
        topics: dict[int, int],
        negations: list[int],
    ) -> tuple[int, bool]:
        """Return an aspect's signed strength, and whether a word of praise or blame backs it.

        The strength sums up what its phrases and topics say; it is 0 where they disagree.
        """
        hidden = {at for start, end, role, _ in matches if role == IGNORE for at in range(start, end)}
        opinions = (
            {at: opinion for at, opinion in general.items() if at not in hidden} if self.lexicon.general[aspect] else {}
        )
        for start, end, role, strength in matches:
            if role in (GOOD, BAD):
                opinions[start] = (end, self._sign(words, start, role == GOOD, negations), strength)
        strengths: list[int] = []
        backed = False
        refused = min(
            (
                start
                for start, end, role, _ in matches
                if role == NEGATIVE and not self.lexicon.negators.isdisjoint(words[start:end])
            ),
            default=len(words),
        )
        for start, end, role, strength in matches:
            if role in (POSITIVE, NEGATIVE):
                if role == POSITIVE and start > refused:
                    continue  # "never came back to check on us": the denial covers what follows
                sign = self._sign(words, start, role == POSITIVE, negations)
                if (sign > 0) == (role == POSITIVE):
                    strengths.append(sign * strength)
                elif sign < 0 or self.lexicon.flips[aspect]:
                    strengths.append(sign * WEAK)
            elif role in (TOPIC, FEATURE) and start not in hidden:
                said = self._said_of(words, start, end, opinions, topics, negations)
                if role == FEATURE and not said:
                    strengths.append(-PLAIN if self._negated(words, start, negations) else strength)
                elif role == FEATURE and all(value < 0 for value in said):
                    strengths.append(min(said))
                else:
                    strengths += said
                backed = backed or bool(said)
        if any(value > 0 for value in strengths) and any(value < 0 for value in strengths):
            return 0, False
        return max(-9, min(9, sum(strengths))), backed

    def _said_of(
        self,
        words: list[str],
        start: int,
        end: int,
        opinions: dict[int, tuple[int, int, int]],
        topics: dict[int, int],
        negations: list[int],
    ) -> list[int]:
        """Return the signed strengths of the opinion words that lead a topic or that a linking verb brings."""
        found = self._before(words, start, opinions, topics)
        found += self._after(words, start, end, opinions, topics)
        return found

    def _before(
        self, words: list[str], start: int, opinions: dict[int, tuple[int, int, int]], topics: dict[int, int]
    ) -> list[int]:
        ends = {end: at for at, (end, _, _) in opinions.items()}
        topic_ends = {end: at for at, end in topics.items()}
        at, strangers, left = start, 0, start
        while at > 0 and start - at <= REACH:
            word = words[at - 1]
            if at in ends:
                _, sign, strength = opinions[ends[at]]
                return [sign * strength]
            if word in ("and", ",") and at == left and at - 1 in topic_ends:
                at = left = topic_ends[at - 1]  # "great food and service": what leads the first leads both
                continue
            if word in LINKS and at - 1 in ends and words[at - 2] in self.lexicon.feelings:
                _, sign, strength = opinions[ends[at - 1]]
                return [sign * strength]
            if word in ("and", ",") or word in self.lexicon.stops or word in self.lexicon.negators or at in topic_ends:
                return []
            strangers += 1
            if strangers > STRANGERS:
                return []
            at -= 1
        return []

    def _after(
        self, words: list[str], start: int, end: int, opinions: dict[int, tuple[int, int, int]], topics: dict[int, int]
    ) -> list[int]:
        at = end
        limit = min(len(words), end + REACH)
        turned = start == 1 and words[0] in self.lexicon.copulas  # "was the server friendly"
        while not turned and at < limit and words[at] not in self.lexicon.copulas:
            if at in topics:
                at = topics[at]
            elif words[at] in self.lexicon.before_copula or words[at] == ",":
                at += 1
            else:
                return []
        found: list[int] = []
        strangers = 0
        at += 0 if turned else 1
        limit = min(len(words), at + REACH)
        while at < limit:
            word = words[at]
            if at in opinions:
                stop, sign, strength = opinions[at]
                if stop < len(words) and not self._may_follow(words[stop]):
                    break  # "the owner is a great cook" says nothing of the owner's manners
                found.append(sign * strength)
                at, strangers = stop, 0
            elif (word in ("and", ",", "or", "that") and at + 1 in opinions) or (
                not found and (word in self.lexicon.negators or word in ("too", "one"))
            ):
                at += 1
            elif found or word in ("and", ",") or word in self.lexicon.stops:
                break
            else:
                strangers += 1
                at += 1
                if strangers > STRANGERS:
                    break
        return found

    def _may_follow(self, word: str) -> bool:
        """Say whether a word of praise can stand alone before this one, rather than lead it."""
        lists = self.lexicon
        return (
            word in FREE
            or word in lists.stops
            or word in lists.before_copula
            or word in lists.negators
            or word in lists.copulas
            or (word in lists.root and any(role in (GOOD, BAD) for _, role, _ in lists.root[word].get("", ())))
        )


def _step(node: Node, word: str) -> Node | None:
    following: Node | None = node.get(word)
    if following is None and word.isdigit():
        following = node.get("#")
    return following
