"""What a language model is told: who speaks, what has been said, and for each turn what it has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trace_dataset.dialogues.draws import pick
from trace_dataset.dialogues.grammar import Voice
from trace_dataset.dialogues.lm_slots import Slots
from trace_dataset.dialogues.planned import Plan, PlannedTurn
from trace_dataset.dialogues.wishes import wording
from trace_dataset.schema import Constraint
from trace_dataset.streams import stream

VERSION = 1  # part of a journal's settings: another prompt is another run
INSTRUCTIONS = """\
Write turns of a conversation between a traveller and an assistant that recommends places from what guests wrote in reviews.
Write each turn as one to three short sentences of natural spoken English, in your own words, and say all that its note asks.
Words in curly brackets such as {place1} and {quote1} are slots: copy each slot of a note into its turn exactly, in the order
of the note; each will be replaced by a name, or by a guest's words in quotation marks. Put a slot for a quote right behind
the claim that it shows. Never write quotation marks, square brackets, names of places or words of guests yourself. The
traveller never names a place."""
SMALL_INSTRUCTIONS = """\
Say the note in your own words, in one or two short sentences, as part of a conversation. Copy words in curly brackets
exactly."""  # a model of a hundred million parameters repeats whatever else it is told
KINDS = {"restaurant": "a place to eat", "hotel": "a place to stay", "attraction": "something to see or do"}
MANNERS = {"plain": "plainly", "brief": "in few words", "chatty": "chattily", "polite": "politely", "lower": "casually"}
ORDINALS = ("first", "second", "third", "fourth")


class Notes:
    """The notes of one dialogue, one a turn, worded once: the same whatever the order in which they are asked for."""

    def __init__(self, plan: Plan, names: Mapping[str, str], seed: int, show_quotes: bool) -> None:
        self.plan, self.show_quotes = plan, show_quotes
        self.rng = stream(seed, "lm notes", plan.scenario.dialogue_id)
        self.voice = Voice({}, self.rng)
        self.slots = tuple(Slots.of(turn, names) for turn in plan.turns)
        self.notes = self._all()

    @property
    def scene(self) -> str:
        """Who talks about what."""
        scenario = self.plan.scenario
        return (
            f"The traveller: {scenario.persona.description} They write {MANNERS[scenario.persona.voice]}. "
            f"They look for {KINDS[scenario.poi_type]} in {scenario.city}."
        )

    def _all(self) -> tuple[str, ...]:
        notes, before = [], PlannedTurn("system", "greet", "greet")
        for index, turn in enumerate(self.plan.turns):
            if turn.role == "user":
                notes.append(self._user(turn, before))
            else:
                notes.append(self._system(turn, self.slots[index]))
                before = turn if turn.golds else before
        return tuple(notes)

    def _user(self, turn: PlannedTurn, before: PlannedTurn) -> str:
        wishes = self._wanted(turn.wishes)
        scenario = self.plan.scenario
        if turn.cue == "open":
            return f"I'm looking for {KINDS[scenario.poi_type]} in {scenario.city}. {wishes or 'Any ideas?'}"
        if turn.cue == "answer":
            return wishes or "I have no preference there."
        if turn.cue == "refuse":
            return f"{self._refusal(turn, before)} {wishes}"
        if turn.cue == "ask":
            assert turn.topic is not None
            return f"About the place just named: {self._line(turn.topic, 'ask')}"
        said = {
            "more": "What else is there?",
            "choose": "Which of those would you take?",
            "compare": "Show me a few to compare.",
            "accept": "I'll go there, thank you.",
            "close": "That's all, goodbye.",
        }
        return f"{said[turn.cue]} {wishes}".strip()

    def _refusal(self, turn: PlannedTurn, before: PlannedTurn) -> str:
        places = [place for place in before.places if place in turn.rejected]
        which = "that one"
        if len(before.places) > 1:
            which = (
                "none of those"
                if len(places) == len(before.places)
                else (f"the {' and the '.join(ORDINALS[before.places.index(place)] for place in places)} one")
            )
        no = "None of those." if which == "none of those" else f"Not {which}."
        contradicted = [miss.wish for miss in turn.failures if miss.status == "contradicted"]
        if contradicted:
            return f"{no} {_sentence(self._line(pick(self.rng, contradicted), 'fails'))}"
        return f"{no} I hear nothing about {self._line(turn.wishes[0], 'lacks')}."

    def _wanted(self, wishes: Sequence[Constraint]) -> str:
        if not wishes:
            return ""
        return f"I want {' and '.join(self._line(wish, 'thing') for wish in wishes)}."

    def _system(self, turn: PlannedTurn, slots: Slots) -> str:
        place = next(iter(slots.places.values()), "")
        if turn.action == "greet":
            return "Hello! What matters to you?"
        if turn.action == "clarify":
            return (
                f"Does {self._line(turn.topic, 'topic')} matter to you?" if turn.topic else "What else matters to you?"
            )
        if turn.action == "close":
            return f"Enjoy {place}, and goodbye." if place else "You're welcome, goodbye."
        if turn.action == "explain":
            return self._explanation(turn, slots, place)
        parts = [self._case(turn, business, slots) for business in turn.places]
        opening = "I recommend" if turn.action == "recommend" else "Here is how they compare:"
        return " ".join([opening, *parts, *(["Goodbye."] if turn.last else [])])

    def _case(self, turn: PlannedTurn, business: str, slots: Slots) -> str:
        parts = [f"{slots.places[business]}."]
        for slot, item in slots.quotes.items():
            if item.quote.business_id != business:
                continue
            claim = (
                "Guests like it"
                if item.wish is None
                else self._line(item.wish, "claims" if item.polarity > 0 else "bad")
            )
            parts.append(f"{_capital(claim)}: {slot}.")
        for fact in turn.facts:
            if fact.business_id == business:
                source = "reviews" if fact.reviewed else "its listing"
                parts.append(f"By {source}, {self._line(fact.wish, 'claims')}.")
        for miss in turn.misses:
            if miss.business_id == business:
                known = miss.status != "unknown"
                parts.append(
                    _sentence(self._line(miss.wish, "bad"))
                    if known
                    else f"Nobody speaks of {self._line(miss.wish, 'topic')}."
                )
        return " ".join(parts)

    def _explanation(self, turn: PlannedTurn, slots: Slots, place: str) -> str:
        assert turn.topic is not None
        about = f"About {place}: " if place else ""
        if turn.finding == "unknown":
            return f"{about}nobody says anything about {self._line(turn.topic, 'topic')}."
        good = turn.finding == "supported"
        claim = self._line(turn.topic, "claims" if good else "bad")
        quotes = "".join(f" {slot}." for slot in slots.quotes)
        return f"{about}{'yes' if good else 'no'}, {claim}.{quotes}"

    def guests(self, index: int) -> str:
        """Return what the quotes of a turn say, for the model to write around."""
        if not self.show_quotes:
            return ""
        return "".join(f"\n  {slot} stands for: {item.text}" for slot, item in self.slots[index].quotes.items())

    def _line(self, wish: Constraint, use: str) -> str:
        words = wording(wish)
        return self.voice.line(words.lines[use], words.slots)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    return f"{_capital(text).rstrip('.')}."
