"""Lays a chain of places and wishes out as turns: openings, questions in between, endings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from trace_dataset.dialogues.chain import Chain
from trace_dataset.dialogues.draws import chance, pick, pick_weighted
from trace_dataset.dialogues.planned import Fact, Miss, PlannedQuote, PlannedTurn
from trace_dataset.dialogues.quoting import QuoteChooser
from trace_dataset.dialogues.scenario import Scenario
from trace_dataset.dialogues.shapes import Step, events, parse
from trace_dataset.dialogues.views import CellView
from trace_dataset.schema import Constraint

# Shares chosen so that lengths come out as in the paper: 10.5 turns, 1.9 standard deviation (decisions, 18).
OPENINGS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("greet", "clarify"), 55),
    (("greet",), 15),
    (("clarify",), 20),
    (("greet", "clarify", "clarify"), 7),
    ((), 3),
)
ENDINGS: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), 64),
    (("accept",), 14),
    (("accept", "close"), 12),
    (("close",), 6),
    (("close", "close"), 4),
)
NO_PREFERENCE = 0.12
DETAIL = 0.065  # of the recommending turns are followed by a question about the place
DETAIL_LEADS_TO_REFUSAL = 0.5  # of those before a refusal ask for what the place lacks
SECOND_QUOTE, SECOND_QUOTE_FOR_TWO = 0.25, 0.65
SECOND_QUOTE_COMPARED = 0.15
EXPLANATION_NAMES_PLACE, CLOSING_NAMES_PLACE = 0.5, 0.4


def lay_out(
    view: CellView, scenario: Scenario, pool: Sequence[str], chain: Chain, rng: random.Random
) -> tuple[PlannedTurn, ...]:
    """Return the turns of a chain: strictly alternating, the user first."""
    return _Layout(view, scenario, pool, chain, rng).turns()


class _Layout:
    def __init__(
        self, view: CellView, scenario: Scenario, pool: Sequence[str], chain: Chain, rng: random.Random
    ) -> None:
        self.view, self.scenario, self.pool, self.chain, self.rng = view, scenario, pool, chain, rng
        self.quotes = QuoteChooser(view, pool)
        self.steps = parse(chain.shape)
        self.wishes = {
            event.step: tuple(view.wishes[number] for number in numbers)
            for event, numbers in zip(events(chain.shape), chain.wishes, strict=True)
        }
        self.asked: list[Constraint] = []
        self.new: list[Constraint] = []  # asked since the last recommendation
        self.named: list[str] = []
        self.refused: list[str] = []
        self.done: list[PlannedTurn] = []

    def turns(self) -> tuple[PlannedTurn, ...]:
        self._open()
        for index, step in enumerate(self.steps):
            if step.recommends:
                self._recommend(step)
                if chance(self.rng, DETAIL):
                    self._detail(index, step)
            else:
                self._move_on(index, step)
        self._end()
        return (*self.done[:-1], _closing(self.done[-1]))

    def _ask(self, wishes: Sequence[Constraint]) -> tuple[Constraint, ...]:
        self.asked += wishes
        self.new += wishes
        return tuple(wishes)

    def _open(self) -> None:
        wishes = self.wishes[-1]
        fitting = [(actions, weight) for actions, weight in OPENINGS if len(actions) <= len(wishes)]
        actions = pick_weighted(self.rng, [item for item, _ in fitting], [weight for _, weight in fitting])
        shares = _spread(wishes, len(actions) + 1, self.rng)
        if actions[-2:] == ("greet", "clarify") and chance(self.rng, NO_PREFERENCE):  # the user has no answer to give
            shares = [[], list(wishes), []]
        self.done.append(PlannedTurn("user", "inform", "open", self._ask(shares[0])))
        for action, share in zip(actions, shares[1:], strict=True):
            topic = share[0] if share and action == "clarify" else None
            self.done.append(PlannedTurn("system", action, action, tuple(self.asked), topic=topic))
            self.done.append(PlannedTurn("user", "inform", "answer", self._ask(share), topic=topic))

    def _recommend(self, step: Step) -> None:
        places = tuple(self.chain.places[index] for index in step.places)
        asked = self.view.as_set(self.asked)
        fitting = [business for business in self.pool if not asked & ~self.view.supports[business]]
        others = tuple(business for business in fitting if business != places[0] and business not in self.refused)
        quotes: list[PlannedQuote] = []
        facts: list[Fact] = []
        misses: list[Miss] = []
        order = [*self.new, *(wish for wish in reversed(self.asked) if wish not in self.new)]
        for business in places:
            share = SECOND_QUOTE if step.kind == "R" else SECOND_QUOTE_COMPARED
            share = SECOND_QUOTE_FOR_TWO if len(self.new) > 1 and step.kind == "R" else share
            most = 2 if chance(self.rng, share) else 1
            supported = [wish for wish in order if self.view.supports[business] >> self.view.bit[wish] & 1]
            found = self.quotes.choose(business, supported, most, len(quotes))
            quotes += found or self.quotes.any(business, len(quotes))
            shown = {item.wish for item in found}
            lacking = [wish for wish in self.asked if not self.view.supports[business] >> self.view.bit[wish] & 1]
            misses += [self._miss(business, wish) for wish in lacking]
            facts += [
                Fact(business, wish, self.view.evidence.mentioned(business, wish))
                for wish in self.new
                if wish not in shown and wish not in lacking
            ]
        action = "recommend" if step.kind == "R" else "compare"
        self.done.append(
            PlannedTurn(
                "system",
                action,
                action,
                tuple(self.new),
                places,
                places[:1],
                others,
                quotes=tuple(quotes),
                facts=tuple(facts),
                misses=tuple(misses),
            )
        )
        self.named += [business for business in places if business not in self.named]
        self.new = []

    def _move_on(self, index: int, step: Step) -> None:
        wishes = self._ask(self.wishes[index])
        following = self.steps[index + 1]
        if step.kind == "X":
            refused = tuple(self.chain.places[place] for place in step.places)
            failures = tuple(self._miss(business, wish) for business in refused for wish in wishes)
            self.refused += refused
            self.done.append(
                PlannedTurn(
                    "user",
                    "reject_and_refine",
                    "refuse",
                    wishes,
                    rejected=refused,
                    failures=failures,
                    places=self._standing(following),
                )
            )
            return
        before = self.steps[index - 1]
        one_of_those = set(following.places) <= set(before.places)
        cue = "compare" if following.kind == "C" else "choose" if one_of_those else "more"
        self.done.append(PlannedTurn("user", "inform", cue, wishes, places=self._standing(following)))

    def _miss(self, business: str, wish: Constraint) -> Miss:
        evidence = self.view.evidence
        complained = evidence.mentioned(business, wish, -1)
        return Miss(business, wish, evidence.satisfaction(business, wish), complained)

    def _standing(self, following: Step) -> tuple[str, ...]:
        """Return the places of the next step that the user has heard of already."""
        return tuple(
            business for business in (self.chain.places[place] for place in following.places) if business in self.named
        )

    def _detail(self, index: int, step: Step) -> None:
        business = self.chain.places[step.places[0]]
        following = self.steps[index + 1] if index + 1 < len(self.steps) else None
        if following is not None and step.kind == "C" and following.kind == "X":
            return  # the place refused next has to be the last one spoken of
        if (
            following is not None
            and step.kind == "R"
            and following.kind == "X"
            and chance(self.rng, DETAIL_LEADS_TO_REFUSAL)
        ):
            topic = self.wishes[index + 1][0]
        else:
            found = self._topic(business)
            if found is None:
                return
            topic = found
        finding = self.view.evidence.satisfaction(business, topic)
        quotes: list[PlannedQuote] = []
        if finding != "unknown":
            quotes = self.quotes.choose(business, [topic], 1, polarity=1 if finding == "supported" else -1)
        named = (business,) if chance(self.rng, EXPLANATION_NAMES_PLACE) else ()
        self.done.append(PlannedTurn("user", "ask_detail", "ask", topic=topic, places=(business,)))
        self.done.append(
            PlannedTurn(
                "system", "explain", "explain", places=named, quotes=tuple(quotes), topic=topic, finding=finding
            )
        )

    def _topic(self, business: str) -> Constraint | None:
        """Return something about a place that has not come up and will not: most often something good."""
        spoken_of = {wish for wishes in self.wishes.values() for wish in wishes}
        interest = self.view.interest(self.scenario.persona)
        open_to = [
            number
            for number in range(len(self.view.wishes))
            if self.view.wishes[number] not in spoken_of
            and interest[number] > 0
            and self.view.wishes[number].slot == "aspect"
        ]
        praised = [
            number
            for number in open_to
            if self.view.spans(business, self.view.wishes[number]) and self.view.supports[business] >> number & 1
        ]
        if not open_to:
            return None
        number = pick(self.rng, praised) if praised and chance(self.rng, 0.75) else pick(self.rng, open_to)
        return self.view.wishes[number]

    def _end(self) -> None:
        actions = pick_weighted(self.rng, [item for item, _ in ENDINGS], [weight for _, weight in ENDINGS])
        if not actions and self.done[-1].action == "explain":
            actions = ("accept",)  # nobody asks a question and leaves
        gold = next(turn.golds for turn in reversed(self.done) if turn.golds)
        if actions:
            self.done.append(PlannedTurn("user", actions[0], actions[0], places=gold))
        if len(actions) > 1:
            named = gold if "accept" in actions and chance(self.rng, CLOSING_NAMES_PLACE) else ()
            self.done.append(PlannedTurn("system", "close", "close", places=named))


def _spread(wishes: Sequence[Constraint], turns: int, rng: random.Random) -> list[list[Constraint]]:
    """Return the first wishes spread over the opening's user turns: one for each answer, the rest anywhere."""
    shares: list[list[Constraint]] = [[] for _ in range(turns)]
    for index, wish in enumerate(wishes):
        turn = turns - 1 - index if index < turns - 1 else int(rng.random() * turns)
        shares[turn].append(wish)
    return shares


def _closing(turn: PlannedTurn) -> PlannedTurn:
    return replace(turn, last=True)
