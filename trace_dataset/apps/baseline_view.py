"""The pieces of a baseline's page: the conversation, the ranking with reasons, the quotes with their sources, the map."""

from __future__ import annotations

from html import escape

from trace_dataset.apps.place_map import draw_map
from trace_dataset.apps.reasons import Reasons
from trace_dataset.apps.talk import REFUSAL, Host, Talk
from trace_dataset.apps.widgets.looks import block, table, wrong
from trace_dataset.apps.widgets.marks import Mark, marked, said
from trace_dataset.apps.widgets.quotes import STATUS, QuoteFound, find_quotes
from trace_dataset.apps.widgets.scoring import Scoring

SHOWN = 10  # rows of a ranking
MOST_SHOWN = 100  # of it when it is opened
SCORING = Scoring("trace_dataset.scoring")


class View:
    """Draws a conversation; everything that anybody wrote is escaped."""

    def __init__(self, host: Host, title: str) -> None:
        self.title, self.kb, self.reasons = title, host.kb, Reasons(host.kb)

    def conversation(self, talk: Talk) -> str:
        """Return what was said, the last fault if there is one, and an invitation where nothing was said yet."""
        items, refused_so_far = [], set[str]()
        for turn in talk.turns:
            refused_so_far.update(turn.rejected_poi_ids)
            again = ", ".join(self.kb.pois[place].name for place in turn.poi_ids if place in refused_so_far)
            if turn.role == "user":
                refused = ", ".join(self.kb.pois[place].name for place in turn.rejected_poi_ids)
                note = f' <span class="quiet">(refuses {escape(refused)})</span>' if refused else ""
                items.append(f'<li class="user"><b>You</b>{note}{said(turn.text)}</li>')
            else:
                note = f' <span class="quiet">(names {escape(again)} again, which you refused)</span>' if again else ""
                text = said(turn.text, self._marks(turn.text, self._sources(turn)))
                items.append(f'<li class="system"><b>{escape(self.title)}</b>{note}{text}</li>')
        empty = '<p class="quiet">Say what you are looking for. Every answer quotes reviews that you can check.</p>'
        fault = wrong(talk.answer.error, talk.answer.advice) if talk.answer.error else ""
        log = f'<ol role="log" aria-live="polite">{"".join(items)}</ol>'
        shown = (
            f'<div class="talk" tabindex="0" role="region" aria-label="conversation">{log}</div>' if items else empty
        )
        return block(shown + fault)

    def ranking(self, talk: Talk) -> str:
        """Return the ranking: the first places with reasons, the others folded away."""
        order = talk.answer.ranking
        if not order:
            return block('<h2>Ranking</h2><p class="quiet">It appears with the first answer.</p>')
        texts = [turn.text for turn in talk.turns if turn.role == "user" and turn.text != REFUSAL]
        find = self.reasons.finder(texts, order)
        rows = [
            self._row(talk, rank, place, find(place), texts) for rank, place in enumerate(order[:MOST_SHOWN], start=1)
        ]
        header = ["#", "place", "your words in its data"]
        shown = table(header, rows[:SHOWN], (0,), label="ranking")
        rest = rows[SHOWN:]
        if rest:
            left = f", of {len(order):,}" if len(order) > MOST_SHOWN else ""
            title = f"Ranks {SHOWN + 1} to {len(rows)}{left}"
            shown += (
                f"<details><summary>{title}</summary>{table(header, rest, (0,), label='rest of the ranking')}</details>"
            )
        note = (
            '<p class="quiet">★ named in the answer, ✗ refused. The order is the baseline\'s; the last column is what this '
            f"page finds in each place's name, categories, reviews and price. Answered in {talk.answer.seconds:.2f} s.</p>"
        )
        return block(f"<h2>Ranking</h2>{shown}{note}")

    def map(self, talk: Talk) -> str:
        """Return the map of the pool, in the order of the ranking where there is one."""
        order = talk.answer.ranking or talk.pool
        named = set(talk.named) if talk.answer.ranking else set()
        return block("<h2>Map</h2>" + draw_map([self.kb.pois[place] for place in order], named, talk.rejected))

    def sources(self, talk: Talk) -> str:
        """Return the quotes of the last answer, and the reviews that it cites with the quoted words marked."""
        response = talk.answer.response
        if response is None or not talk.turns or talk.turns[-1].role != "system":
            return ""
        turn = talk.turns[-1]
        reviews = self._sources(turn)
        quotes = find_quotes(SCORING, turn.text, reviews)
        if not reviews and not quotes:
            return block('<h2>Quotes and sources</h2><p class="quiet">This answer quotes and cites nothing.</p>')
        parts = [f"<h2>Quotes and sources</h2><p>{_summary(quotes)}</p>"]
        for citation in turn.citations:
            if citation.label not in reviews:
                parts.append(
                    f'<p><span class="nolabel">[{escape(citation.label)}]</span> names a review that does not exist.</p>'
                )
                continue
            place = self.kb.pois.get(citation.business_id)
            spans = [
                Mark(*quote.place, quote.status) for quote in quotes if quote.label == citation.label and quote.place
            ]
            name = escape(place.name) if place is not None else "an unknown place"
            parts.append(
                f'<p><span class="label">[{escape(citation.label)}]</span> a review of <b>{name}</b></p>'
                f"{said(reviews[citation.label], spans)}"
            )
        return block("".join(parts))

    def _row(self, talk: Talk, rank: int, place: str, found: list[str], texts: list[str]) -> list[str]:
        poi = self.kb.pois[place]
        name = marked(poi.name, [Mark(0, len(poi.name), "no", "refused")] if place in talk.rejected else [])
        star = "★ " if place in talk.named else ""
        price = f" · {'$' * poi.price}" if poi.price else ""
        about = f"{', '.join(poi.categories[:3])} · {poi.stars:.1f} stars ({poi.review_count}){price}"
        why = "; ".join(part for part in (", ".join(found), self.reasons.price(place, texts)) if part)
        return [str(rank), f'{star}{name}<br><span class="quiet">{escape(about)}</span>', escape(why) or "none"]

    def _sources(self, turn: object) -> dict[str, str]:
        """Return label to text of the reviews that a turn cites and that exist."""
        found = {}
        for citation in getattr(turn, "citations", ()):
            review = self.kb.reviews.get(citation.review_id)
            if review is not None:
                found[citation.label] = review.text or ""
        return found

    def _marks(self, text: str, reviews: dict[str, str]) -> list[Mark]:
        quotes = find_quotes(SCORING, text, reviews)
        known = {int(label[1:]) for label in reviews if label[1:].isdigit()}
        labels = [
            Mark(at, text.index("]", at) + 1, "label" if known.issuperset(numbers) else "nolabel")
            for at, numbers in SCORING.text.label_positions(text)
        ]
        return [Mark(quote.start, quote.end, quote.status) for quote in quotes] + labels


def _summary(quotes: list[QuoteFound]) -> str:
    if not quotes:
        return "It quotes nothing word for word."
    counts = {status: sum(quote.status == status for quote in quotes) for status in STATUS}
    parts = [f"{count} {STATUS[status]}" for status, count in counts.items() if count]
    return f"{len(quotes)} quote{'s' if len(quotes) > 1 else ''}: {', '.join(parts)}."
