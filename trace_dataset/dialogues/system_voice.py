"""What the assistant says. Quotes stand as `[Q:n]` with their label right behind; all else is escaped."""

from __future__ import annotations

from collections.abc import Mapping

from hydrate import escape
from trace_dataset.dialogues.draws import chance
from trace_dataset.dialogues.grammar import Voice
from trace_dataset.dialogues.planned import Fact, Miss, Plan, PlannedQuote, PlannedTurn
from trace_dataset.dialogues.speech import finish
from trace_dataset.dialogues.wishes import wording
from trace_dataset.schema import Constraint

SHORT_QUOTE = 45  # characters; behind a longer quote the label is too far from words before it (M8: 80 characters)
LISTED = ("price", "distance")  # known from the listing; a quote speaks of the matter and proves nothing
TOPIC_FIRST = 0.5  # of the short quotes are led by their topic, the others by a claim
NAME, QUOTE = "\x01", "\x02"  # stand for names and quotes until a text is whole, so that nothing touches them


class SystemVoice:
    """Speaks for the assistant through one dialogue."""

    def __init__(self, plan: Plan, names: Mapping[str, str], voice: Voice) -> None:
        self.plan, self.names, self.voice, self.rng = plan, names, voice, voice.rng
        self.city = plan.scenario.city
        self._named: set[str] = set()
        self._marks: list[str] = []

    def utter(self, turn: PlannedTurn, refused: bool) -> str:
        """Return a system turn's text in release form; `refused` says whether the user has just turned a place down."""
        self._marks = []
        sentences = {"greet": self._greet, "clarify": self._clarify, "explain": self._explain, "close": self._close}
        if turn.action in sentences:
            parts = sentences[turn.action](turn)
        else:
            parts = self._recommend(turn, refused) if turn.action == "recommend" else self._compare(turn, refused)
            if turn.last:
                parts.append(self.voice.say("farewell", {"city": self.city}) if chance(self.rng, 0.7) else "")
        self._named.update(turn.places)
        return self._whole(" ".join(finish(part) for part in parts if part))

    def _greet(self, turn: PlannedTurn) -> list[str]:
        hello = self.voice.say("hello") if chance(self.rng, 0.75) else ""
        greeting = self.voice.say("greet", {"city": self.city})
        return [hello, greeting, self.voice.say("greet_ask")]

    def _clarify(self, turn: PlannedTurn) -> list[str]:
        group = "aspects"
        if turn.topic is not None:
            group = "category" if turn.topic.slot == "category" else wording(turn.topic).group
        return [self.voice.say("clarify", {"question": self.voice.say(f"question_{group}")})]

    def _recommend(self, turn: PlannedTurn, refused: bool) -> list[str]:
        business = turn.places[0]
        ack = self.voice.say("ack_refused" if refused else "ack") if chance(self.rng, 0.55) else ""
        frame = "intro_again" if business in self._named else "intro"
        intro = self.voice.say(frame, {"name": self._mark(self.names[business])})
        parts = [ack, intro, *self._case(turn, business)]
        if not turn.last and chance(self.rng, 0.35):
            parts.append(self.voice.say("offer"))
        return parts

    def _compare(self, turn: PlannedTurn, refused: bool) -> list[str]:
        opening = self.voice.say("ack_refused") if refused and chance(self.rng, 0.4) else ""
        parts = [opening, self.voice.say("compare_open") if chance(self.rng, 0.7) else ""]
        for index, business in enumerate(turn.places):
            frame = "compare_first" if index == 0 else "compare_next"
            parts.append(self.voice.say(frame, {"name": self._mark(self.names[business])}))
            parts += self._case(turn, business)
        return parts

    def _case(self, turn: PlannedTurn, business: str) -> list[str]:
        """Return the sentences that speak for a place: its quotes, then what only its listing shows."""
        parts = []
        for index, quote in enumerate(item for item in turn.quotes if item.quote.business_id == business):
            sentence = self._quoted(quote)
            parts.append(self.voice.say("second", {"sentence": sentence}) if index else sentence)
            if quote.wish is not None and quote.wish.slot in LISTED:
                parts.append(self.voice.say("fact_claim", {"claim": self._line(quote.wish, "claims")}))
        facts = [fact for fact in turn.facts if fact.business_id == business]
        misses = [miss for miss in turn.misses if miss.business_id == business]
        return parts + [self._fact(fact) for fact in facts[:2]] + [self._miss(miss) for miss in misses]

    def _quoted(self, item: PlannedQuote) -> str:
        quote = self._mark(f'"[Q:{item.quote.n}]" [{item.quote.label}]', raw=True)
        if item.wish is None or (item.wish.slot == "category" and item.polarity > 0):  # its name says what it is
            return self.voice.say("quote", {"quote": quote})
        slots = {
            "quote": quote,
            "claim": self._line(item.wish, "claims" if item.polarity > 0 else "bad"),
            "topic": self._line(item.wish, "topic"),
        }
        if item.polarity < 0 or (item.wish.slot in LISTED and len(item.text) > SHORT_QUOTE):
            return self.voice.say("quote", slots)
        if item.wish.slot in LISTED:
            return self.voice.say("topic_quote", slots)
        if len(item.text) > SHORT_QUOTE:
            return self.voice.say("quote_claim", slots)
        return self.voice.say("topic_quote" if chance(self.rng, TOPIC_FIRST) else "claim_quote", slots)

    def _fact(self, fact: Fact) -> str:
        slots = {"topic": self._line(fact.wish, "topic"), "claim": self._line(fact.wish, "claims")}
        if fact.wish.slot != "aspect":
            return self.voice.say("fact_claim", slots)
        return self.voice.say("fact_said" if fact.reviewed else "fact_listed", slots)

    def _miss(self, miss: Miss) -> str:
        slots = {"topic": self._line(miss.wish, "topic"), "bad": self._line(miss.wish, "bad")}
        if miss.status == "unknown":
            return self.voice.say("miss_unknown", slots)
        return self.voice.say("miss_bad" if miss.reviewed or miss.wish.slot != "aspect" else "miss_listed", slots)

    def _explain(self, turn: PlannedTurn) -> list[str]:
        assert turn.topic is not None
        about = ""
        if turn.places:
            about = self.voice.say("explain_about", {"name": self._mark(self.names[turn.places[0]])}) + ": "
        topic = {"topic": self._line(turn.topic, "topic")}
        if turn.finding == "unknown":
            return [about + self.voice.say("explain_unknown", topic)]
        good = turn.finding == "supported"
        opening = about + self.voice.say("explain_yes" if good else "explain_no")
        if turn.quotes:
            return [opening, *(self._quoted(item) for item in turn.quotes)]
        if turn.topic.slot != "aspect":
            return [opening, self._line(turn.topic, "claims" if good else "bad")]
        return [opening, self.voice.say("listed_yes" if good else "listed_no", topic)]

    def _close(self, turn: PlannedTurn) -> list[str]:
        parts = [self.voice.say("close")]
        if turn.places:
            parts.append(self.voice.say("close_named", {"name": self._mark(self.names[turn.places[0]])}))
        return [*parts, self.voice.say("farewell", {"city": self.city}) if chance(self.rng, 0.6) else ""]

    def _line(self, wish: Constraint, use: str) -> str:
        words = wording(wish)
        return self.voice.line(words.lines[use], words.slots)

    def _mark(self, text: str, raw: bool = False) -> str:
        """Put text by, escaped unless it is release text already, and return a mark that stands for it."""
        self._marks.append(text if raw else escape(text))
        return f"{QUOTE if raw else NAME}{len(self._marks) - 1}{NAME}"

    def _whole(self, text: str) -> str:
        text = escape(text)
        for index, value in enumerate(self._marks):
            for mark in (NAME, QUOTE):
                text = text.replace(f"{mark}{index}{NAME}", value)
        return text
