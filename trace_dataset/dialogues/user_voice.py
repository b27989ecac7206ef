"""What the traveller says."""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.dialogues.draws import chance, pick
from trace_dataset.dialogues.grammar import Voice
from trace_dataset.dialogues.planned import Plan, PlannedTurn
from trace_dataset.dialogues.speech import finish, join, lower_first, lowered
from trace_dataset.dialogues.wishes import is_food, wording
from trace_dataset.schema import Constraint

ASIDE = {"plain": 0.10, "brief": 0.03, "chatty": 0.28, "polite": 0.12, "lower": 0.12}
SAY_TOPIC = 0.3  # of the sentences about an aspect name it as well
HELLO = {"plain": 0.55, "brief": 0.12, "chatty": 0.8, "polite": 0.85, "lower": 0.5}


class UserVoice:
    """Speaks for one persona through one dialogue."""

    def __init__(self, plan: Plan, voice: Voice) -> None:
        self.plan, self.voice, self.rng = plan, voice, voice.rng
        self.persona = plan.scenario.persona
        self.city = plan.scenario.city
        self._reasons = list(self.persona.reasons)

    def utter(self, turn: PlannedTurn, compared: int, next_action: str | None) -> str:
        """Return a user turn's text.

        Args:
            compared: how many places the last recommending turn named.
            next_action: the action of the system turn that follows, if any.
        """
        parts = {"open": self._open, "answer": self._answer, "ask": self._ask}
        if turn.cue in parts:
            text = parts[turn.cue](turn)
        elif turn.cue == "refuse":
            text = self._refuse(turn, compared, next_action)
        elif turn.cue in ("accept", "close"):
            text = self._finish(turn.cue)
        else:
            text = self._go_on(turn, compared)
        return lowered(text) if self.persona.voice == "lower" else text

    def _open(self, turn: PlannedTurn) -> str:
        style = self.persona.voice
        hello = (
            self.voice.say("hello_polite" if style == "polite" else "hello") if chance(self.rng, HELLO[style]) else ""
        )
        opener = self.voice.line(self.persona.openers) if chance(self.rng, 0.85) else ""
        slots = {"city": self.city, "kind": self.voice.say(f"kind@{self.plan.scenario.poi_type}")}
        name = f"need_{style}" if style in ("polite", "brief") and chance(self.rng, 0.6) else "need"
        need = self.voice.say(name, slots)
        wish = self._wishes(turn.wishes)
        if hello and opener and chance(self.rng, 0.4):
            return join(f"{hello}, {lower_first(opener)}", need, wish)
        if hello and not opener and chance(self.rng, 0.5):
            return join(f"{hello}, {need if need.startswith(self.city) else lower_first(need)}", wish)
        hello = f"{hello}!" if hello and chance(self.rng, 0.3) else hello
        return join(hello, opener, need, wish) if chance(self.rng, 0.75) else join(hello, need, opener, wish)

    def _answer(self, turn: PlannedTurn) -> str:
        if not turn.wishes:
            return join(self.voice.say("answer_none"), self._aside())
        lead = self.voice.say("answer_yes") if chance(self.rng, 0.3) else ""
        wish = self._wishes(turn.wishes)
        if lead and chance(self.rng, 0.6):
            return join(f"{lead}, {lower_first(wish)}", self._aside())
        return join(lead, wish, self._aside())

    def _ask(self, turn: PlannedTurn) -> str:
        assert turn.topic is not None
        return join(self.voice.say("ask", {"ask": lower_first(self._line(turn.topic, "ask"))}))

    def _finish(self, cue: str) -> str:
        said = self.voice.say("accept_verdict" if cue == "accept" else "close_reason")
        thanks = self.voice.say("accept_thanks" if cue == "accept" else "close_bye")
        draw = self.rng.random()
        if draw < 0.2:
            return join(said)
        if draw < 0.45:
            return join(f"{said}, {thanks}")
        return join(said, thanks) if draw < 0.75 else join(thanks, said)

    def _go_on(self, turn: PlannedTurn, compared: int) -> str:
        name = turn.cue
        if turn.cue == "compare":
            name = "compare_one" if turn.places and compared == 1 else "compare_new"
        elif turn.cue == "more" and compared > 1:
            name = "more_many"
        request = self.voice.say(name)
        wish = self._wishes(turn.wishes)
        first = turn.cue == "more" or chance(self.rng, 0.65)  # "more" answers what the system has just said
        parts = [request, wish] if first else [wish, request]
        return join(*parts, self._aside())

    def _refuse(self, turn: PlannedTurn, compared: int, next_action: str | None) -> str:
        both = len(turn.rejected) > 1
        no = ""
        if compared > 1 or chance(self.rng, 0.8):  # of several it has to be said which
            no = self.voice.say("no_both" if both else "no_second" if compared > 1 else "no_one")
        why = self._why(turn, both)
        wish = self.voice.say("instead", {"wish": self._wishes(turn.wishes, plain=True)})
        if not no and not why:
            no = self.voice.say("no_one")
        if turn.places:
            request = self.voice.say("other_then") if next_action == "recommend" else ""
        elif next_action == "compare":
            request = self.voice.say("show_few") if chance(self.rng, 0.75) else ""
        else:
            request = self.voice.say("show_one") if chance(self.rng, 0.35) else ""
        if no and why and chance(self.rng, 0.35):
            no, why = "", f"{no}, {lower_first(why)}" if no[-1] not in ".!?" else f"{no} {finish(why)}"
        return join(no, why, wish, request or self._aside())

    def _why(self, turn: PlannedTurn, both: bool) -> str:
        """Return what is wrong with the refused places: something contradicted, or something nobody speaks of."""
        statuses = {miss.status for miss in turn.failures}
        contradicted = [miss.wish for miss in turn.failures if miss.status == "contradicted"]
        if both and contradicted:
            frame = "fails_both" if statuses == {"contradicted"} else "fails_mixed"
            if turn.wishes[0].slot == "category":
                frame = "fails_both_food" if is_food(turn.wishes[0]) else "fails_both_kind"
            return self.voice.say(frame, {"topic": self._line(turn.wishes[0], "topic")})
        if contradicted and not both:
            return self.voice.say("fails", {"fails": self._line(pick(self.rng, contradicted), "fails")})
        return self.voice.say("lacks", {"lacks": self._line(turn.wishes[0], "lacks")})

    def _wishes(self, wishes: Sequence[Constraint], plain: bool = False) -> str:
        if not wishes:
            return ""
        said = [self._wish(wish, plain and not index) for index, wish in enumerate(wishes)]
        text = said[0]
        for other in said[1:]:
            text = self.voice.say("join", {"one": text.rstrip("."), "two": other})
        return text

    def _wish(self, wish: Constraint, plain: bool = False) -> str:
        if plain:
            frame = "plain_wish_topic" if wish.slot == "aspect" and chance(self.rng, SAY_TOPIC) else "plain_wish"
        elif self.persona.voice == "brief" and chance(self.rng, 0.7):
            frame = "brief_wish"
        else:
            draw = self.rng.random()
            frame = "say" if draw < 0.34 else "thing" if draw < 0.72 else "where"
            if frame == "say" and wish.slot == "aspect" and chance(self.rng, SAY_TOPIC):
                frame = "say_topic"
        slots = {use: self._line(wish, use) for use in ("thing", "where", "say", "topic")}
        return self.voice.say(frame, slots)

    def _line(self, wish: Constraint, use: str) -> str:
        words = wording(wish)
        return self.voice.line(words.lines[use], words.slots)

    def _aside(self, share: float | None = None) -> str:
        if not self._reasons or not chance(self.rng, ASIDE[self.persona.voice] if share is None else share):
            return ""
        reason = self._reasons.pop(int(self.rng.random() * len(self._reasons)))
        return self.voice.say("aside", {"reason": reason})
