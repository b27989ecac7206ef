"""What a metric found in what was typed: one function a kind of input, each from the rows and the scoring functions to HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from typing import Any

from .looks import number, table
from .marks import Mark, marked, said, short
from .quotes import show_response

Values = Mapping[str, Any]
MOST_ROWS = 60
MOST_DIALOGUES = 5
MOST_PAIRS = 66  # 12 places: more is no longer a table that anybody reads


class SharedWords:
    """A stand-in for an entailment classifier: the share of a claim's words that a review has. Not the metric's model."""

    name = "shared-words-stand-in"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each (review, claim) the share of the claim's words that the review has."""
        return [_share(claim, premise) for premise, claim in pairs]


def show_text(scoring: Any, values: Values, arguments: dict[str, Any]) -> str:
    """Return a response with its quotes by support, aspect words and labels, and the reviews."""
    text, reviews = _text_and_reviews(arguments)
    free = arguments["references"] is None
    every = free or not arguments.get("resolvable_only", False)
    labels_count = "recommends" in values  # else the metric does not look at aspect words
    kinds: tuple[str, ...] = ("verified", "fuzzy", "unsupported", "label", "nolabel")
    if "threshold" not in arguments:  # provenance looks at words and labels only, and believes a label that is given
        kinds = ("backed", "bare", "label", "nolabel")
        every = free
    elif labels_count:
        kinds += ("backed", "bare")
    return show_response(scoring, text, reviews, arguments.get("threshold", 0.8), every=every, only=kinds)


def show_claims(scoring: Any, values: Values, arguments: dict[str, Any]) -> str:
    """Return the claims of a response with the best review for each, and then what `show_text` shows."""
    text, reviews = _text_and_reviews(arguments)
    model = arguments["model"]
    model = model if hasattr(model, "probabilities") else scoring.nli.nli_model(model)
    premises = list(reviews.values())
    columns = scoring.entailment.score_entailment([text], premises, [0, len(premises)], model)
    rows = []
    for claim, probability, kind in zip(
        columns.claims[0], columns.probabilities[0], columns.categories[0], strict=True
    ):
        verdict = "✓ supported" if probability >= 0.5 else "✗ not supported"
        rows.append([short(claim, 160), kind.replace("_", " "), f"{probability:.2f}", verdict])
    stand_in = isinstance(model, SharedWords)
    who = "words shared, which is not the metric's classifier: see the form" if stand_in else model.name
    claims = table(
        ["claim", "kind", "probability", "verdict"], rows[:MOST_ROWS], (2,), f"decided by: {escape(who)}", "claims"
    )
    shown = claims if rows else '<p class="quiet">The response has no sentence that could be a claim.</p>'
    threshold = arguments.get("quote_threshold")
    rest = show_response(scoring, text, reviews, threshold or 0.8, only=() if threshold else ("label", "nolabel"))
    return f"<h2>Its claims</h2>{shown}{rest}"


def show_named(_scoring: Any, _values: Values, arguments: dict[str, Any]) -> str:
    """Return each turn's places in order, the right ones marked."""
    others = arguments.get("alternatives") or [[]] * len(arguments["predictions"])
    rows = []
    turns = zip(arguments["predictions"], arguments["references"], others, strict=True)
    for at, (named, gold, fit) in enumerate(turns, start=1):
        ranks = list(enumerate(dict.fromkeys(named), start=1))
        places = " ".join(f"{rank}. {_place(place, place in gold or place in fit)}" for rank, place in ranks)
        first = next((rank for rank, place in ranks if place in gold), None)
        rows.append([str(at), places or "<i>none</i>", _names(gold), "–" if first is None else str(first)])
    note = f"the first {MOST_ROWS} of {len(rows):,} turns" if len(rows) > MOST_ROWS else "✓ right place or alternative"
    header = ["turn", "named, in order", "right", "rank"]
    return "<h2>Turn by turn</h2>" + table(header, rows[:MOST_ROWS], (0, 3), note, "turns")


def show_dialogues(_scoring: Any, _values: Values, arguments: dict[str, Any]) -> str:
    """Return each dialogue turn by turn: right places, refused ones, and whether each refusal was recovered."""
    parts = ["<h2>Turn by turn</h2>"]
    pairs = list(zip(arguments["predictions"], arguments["references"], strict=True))
    for at, (turns, gold) in enumerate(pairs[:MOST_DIALOGUES], start=1):
        refused: set[str] = set()
        waiting, rows = False, []
        for index, turn in enumerate(turns):
            refused |= set(turn["rejected_poi_ids"])
            right = set(gold) - refused
            note = ""
            if turn["action"] == "reject_and_refine":
                waiting, note = True, "refuses"
            elif turn["role"] == "system" and turn["action"] in ("recommend", "compare") and waiting:
                note, waiting = ("✓ recovered" if right.intersection(turn["poi_ids"]) else "✗ not recovered"), False
            shown = [
                _place(place, place in gold, place in refused) for place in turn["poi_ids"] or turn["rejected_poi_ids"]
            ]
            rows.append([str(index), escape(turn["role"]), escape(turn["action"]), " ".join(shown), note])
        title = f"dialogue {at}; right: {_names(gold)}"
        parts.append(table(["turn", "who", "what", "places", ""], rows[:MOST_ROWS], (0,), title, f"dialogue {at}"))
    return "".join(parts) + _more(len(pairs) - MOST_DIALOGUES)


def show_places(scoring: Any, _values: Values, arguments: dict[str, Any]) -> str:
    """Return the distances of all pairs of a dialogue's places, near ones marked."""
    parts = ["<h2>Distances</h2>"]
    for at, places in enumerate(arguments["predictions"][:MOST_DIALOGUES], start=1):
        located = {
            place["business_id"]: (place["latitude"], place["longitude"])
            for place in reversed(places)
            if scoring.practical.valid_coordinates(place["latitude"], place["longitude"])
        }
        left_out = [place["business_id"] for place in places if place["business_id"] not in located]
        rows = []
        names = [name for name in dict.fromkeys(place["business_id"] for place in places) if name in located]
        for first, second in combinations(names[: _shown(names)], 2):
            km = scoring.practical.haversine_km(located[first], located[second])
            near = km <= arguments["threshold_km"]
            rows.append([short(first, 40), short(second, 40), f"{km:.2f}", "✓ near" if near else "✗ far"])
        count = len(names) * (len(names) - 1) // 2
        title = f"dialogue {at}: {len(names):,} located places, {count:,} pairs"
        title += f"; the first {len(rows)} are shown" if count > len(rows) else ""
        header = ["from", "to", "km", f"within {arguments['threshold_km']:g} km"]
        parts.append(table(header, rows, (2,), title, f"distances {at}"))
        if left_out:
            parts.append(f'<p class="quiet">Left out for want of coordinates: {_names(left_out[:20])}</p>')
    return "".join(parts) + _more(len(arguments["predictions"]) - MOST_DIALOGUES)


def show_prices(scoring: Any, _values: Values, arguments: dict[str, Any]) -> str:
    """Return the user's turns with the price word that decides, and each price against it."""
    turns, prices = arguments["references"][0], arguments["predictions"][0]
    ceiling = scoring.practical.price_ceiling(turns)
    parts = ["<h2>What the user said</h2>"]
    words = sorted(scoring.practical.CEILINGS)
    decided = False
    shown = []
    for text in reversed(turns):
        found = scoring.inventory.find_terms(text, words)
        places = sorted((at, word) for word, every in found.items() for at in every)
        marks = [Mark(at, at + len(word), "no", "a price word, but a later one decides") for at, word in places]
        if places and not decided:
            at, word = places[-1]
            marks[-1] = Mark(at, at + len(word), "yes", f"sets the ceiling: level {ceiling}")
            decided = True
        shown.append(said(text, marks))
    parts += reversed(shown[:MOST_ROWS])
    verdict = (
        f"The last price word allows up to level {ceiling}." if ceiling else "No price word, so there is no ceiling."
    )
    parts.append(f"<p>{verdict}</p>")
    rows = []
    for at, price in enumerate(prices[:MOST_ROWS], start=1):
        level = scoring.practical.price_level(price)
        fits = "unknown, not counted" if level is None else ""
        if level is not None and ceiling is not None:
            fits = "✓ fits" if level <= ceiling else "✗ too dear"
        rows.append([str(at), "?" if level is None else "$" * level, fits])
    return "".join(parts) + "<h2>The places</h2>" + table(["place", "price", ""], rows, (0,), label="prices")


def show_wishes(scoring: Any, _values: Values, arguments: dict[str, Any]) -> str:
    """Return the wishes of the user's turns, and where they are met in the texts of the places."""
    turns, places = arguments["references"][0], arguments["predictions"][0]
    find = scoring.inventory.find_terms
    wishes = {term for text in turns for term in find(text)}
    there = {term for text in places for term in find(text)}
    parts = ["<h2>What the user asked for</h2>"]
    parts += [
        said(text, _terms(find(text), lambda term: "yes" if term in there else "bare")) for text in turns[:MOST_ROWS]
    ]
    parts.append("<h2>What is known of the places</h2>")
    for text in places[:MOST_ROWS]:
        met = {term: spots for term, spots in find(text).items() if term in wishes}
        parts.append(said(text, _terms(met, lambda term: "yes")))
    missing = ", ".join(sorted(wishes - there))
    parts.append(
        f"<p>{len(wishes & there)} of {len(wishes)} wishes met{escape('; missing: ' + missing) if missing else ''}.</p>"
    )
    return "".join(parts)


def show_score(result: Mapping[str, Any], headline: str, meanings: Mapping[str, str]) -> str:
    """Return a metric's headline, large, with what it means; where there is no value, that this is neither 0 nor 1."""
    value = result.get(headline)
    meaning = _meaning(headline, meanings)
    big = f'<div class="score"><strong>{number(value)}</strong> <span><code>{escape(headline)}</code> {meaning}</span></div>'
    if value is None:
        big += "<p>No value: there is nothing here that it could measure. That is neither 0 nor 1.</p>"
    return big


def show_outputs(result: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """Return everything that a metric returned, in a table with what it means, and its signature."""
    rows = [
        [f"<code>{escape(key)}</code>", number(value), _meaning(key, meanings)]
        for key, value in result.items()
        if key != "signature"
    ]
    signature = f'<p class="quiet">{escape(str(result["signature"]))}</p>' if "signature" in result else ""
    return "<h2>All outputs</h2>" + table(["output", "value", "meaning"], rows, (1,), label="outputs") + signature


def _text_and_reviews(arguments: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    row = arguments["predictions"][0]
    reviews = (arguments["references"] or [[]])[0]
    return row if isinstance(row, str) else row["text"], {review["label"]: review["text"] for review in reviews}


def _terms(found: Mapping[str, Sequence[int]], kind: Any) -> list[Mark]:
    return [Mark(at, at + len(term), kind(term), f"wish: {term}") for term, places in found.items() for at in places]


def _place(name: str, right: bool, refused: bool = False) -> str:
    kind = "no" if refused else "yes" if right else ""
    return marked(name, [Mark(0, len(name), kind)] if kind and name else [])


def _names(names: Sequence[str]) -> str:
    return escape(", ".join(names[:MOST_ROWS])) or "<i>none</i>"


def _more(count: int) -> str:
    return f'<p class="quiet">and {count:,} more dialogues, which count but are not shown.</p>' if count > 0 else ""


def _shown(names: Sequence[str]) -> int:
    size = len(names)
    while size * (size - 1) // 2 > MOST_PAIRS:
        size -= 1
    return size


def _share(claim: str, premise: str) -> float:
    words, there = (re.findall(r"\w+", text.lower()) for text in (claim, premise))
    return sum(word in there for word in words) / len(words) if words else 0.0


def _meaning(key: str, meanings: Mapping[str, str]) -> str:
    """Return what a card says of an output; `recall_at_3` is described as `recall_at_k`."""
    return _plain(meanings.get(key) or meanings.get(re.sub(r"_[0-9]+$", "_k", key), ""))


def _plain(text: str) -> str:
    return escape(text.replace("`", "").replace("*", ""))
