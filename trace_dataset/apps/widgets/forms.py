"""What a reader types for each metric, how it becomes rows, what is shown of them, and examples to click."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import findings, reading

Values = Mapping[str, Any]
STAND_IN = "words shared (a stand-in, no language model)"


@dataclass(frozen=True)
class Field:
    """One input: `text` (several lines), `check`, `number` (with `low` and `high`) or `choice`."""

    name: str
    label: str
    kind: str = "text"
    value: Any = ""
    info: str = ""
    lines: int = 3
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A metric's inputs, how they are read and shown, and its examples.

    Attributes:
        read: from values by field name to the keyword arguments of `compute`.
        show: from the scoring functions, the values and those arguments to the HTML of what was found.
        examples: title to the values that differ from the fields' own.
    """

    fields: tuple[Field, ...]
    read: Callable[[Values], dict[str, Any]]
    show: Callable[[Any, Values, dict[str, Any]], str]
    examples: Mapping[str, Values] = field(default_factory=dict)


def form_of(name: str, inputs: Mapping[str, Any]) -> Form | None:
    """Return the form of a metric: by its name, else by its inputs if they are a response and its reviews, else None."""
    if name in _BY_NAME:
        return _BY_NAME[name]()
    shapes = {key: str(value) for key, value in inputs.items()}
    if "'label'" in shapes.get("references", "") and set(shapes) == {"predictions", "references"}:
        return _response_form("recommends" in shapes["predictions"])
    return None


_RESPONSE = 'Try Blue Door: "nobody rushed us" on a quiet patio [R2]. It has free parking as well [R4].'
_REVIEWS = "[R2] We stayed two hours and nobody rushed us. The patio is quiet.\n\n[R4] Free parking in the back."
_EXAMPLES: dict[str, dict[str, Any]] = {
    "A good answer": {"response": _RESPONSE, "reviews": _REVIEWS, "recommends": True},
    "A slip and an invention": {
        "response": 'Elm Cafe is "cosy and quiett" [R1] and offers "valet parking for every guest" [R1]. Brunch is cheap.',
        "reviews": "[R1] Cozy and quiet. We came for the pancakes, and there is no parking at all.",
        "recommends": True,
    },
    "How to fool it: a dropped “not”": {
        "response": 'Guests say "the staff was rude" [R1].',
        "reviews": "[R1] The staff was not rude at all, and the pool is clean.",
        "recommends": True,
    },
    "Right to left": {
        "response": "جرّب مقهى النخيل: «قهوة ممتازة وجلسة هادئة» [R1]، ويقول آخر «موقف مجاني للجميع» [R1].",
        "reviews": "[R1] قهوة ممتازة وجلسة هادئة في الحديقة، لكن المكان مزدحم مساءً.",
        "recommends": True,
    },
    "Only a question": {"response": "Which part of town do you prefer?", "reviews": "", "recommends": False},
}


def _response_form(
    recommends: bool,
    quotes: bool = True,
    labels_choice: bool = False,
    reviews_optional: bool = False,
    entails: bool = False,
) -> Form:
    """Return the form of the metrics of a response and its reviews; the flags say which options the metric has."""
    optional = " Left empty, every label counts." if reviews_optional else ""
    fields = [
        Field(
            "response",
            "The recommender's response",
            value=_RESPONSE,
            lines=4,
            info="Quotes in double marks, labels as [R2].",
        ),
        Field(
            "reviews",
            "The reviews",
            value=_REVIEWS,
            lines=6,
            info=f"One a paragraph, each begins with its label: [R2] …{optional}",
        ),
    ]
    if recommends:
        fields.append(
            Field("recommends", "This response recommends a place", "check", True, "A question or a greeting does not.")
        )
    if quotes:
        key, info = ("quote_threshold" if entails else "threshold"), "Similarity from which a quote counts as found."
        fields.append(Field(key, "Quote threshold", "number", 0.8, info, low=0.5, high=1.0))
    if labels_choice:
        fields.append(Field("resolvable_only", "Only labels of reviews that are given count", "check", False))
    if entails:
        info = "The metric's own classifier needs torch and transformers, and 740 MB that are fetched on first use."
        fields.append(
            Field("model", "Who decides what follows from a review", "choice", STAND_IN, info, choices=_models())
        )

    def read(values: Values) -> dict[str, Any]:
        text = values["response"]
        given = [{"label": label, "text": review} for label, review in reading.reviews(values["reviews"]).items()]
        row = {"text": text, "recommends": bool(values["recommends"])} if recommends else text
        options = {key: values[key] for key in ("threshold", "quote_threshold", "resolvable_only") if key in values}
        if entails:
            options["model"] = findings.SharedWords() if values["model"] == STAND_IN else values["model"]
        references = None if reviews_optional and not given else [given]
        return {"predictions": [row], "references": references, **options}

    examples = {
        title: {key: value for key, value in values.items() if recommends or key != "recommends"}
        for title, values in _EXAMPLES.items()
        if quotes or "not" not in title
    }
    return Form(tuple(fields), read, findings.show_claims if entails else findings.show_text, examples)


def _models() -> tuple[str, ...]:
    installed = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
    return (STAND_IN, "cross-encoder/nli-deberta-v3-base") if installed else (STAND_IN,)


def _named_form() -> Form:
    fields = (
        Field(
            "named",
            "Places that each response names, in order",
            value="blue door, elm cafe\n\noak inn",
            info="One turn a line, ids separated by commas; an empty line for a response that names none.",
        ),
        Field(
            "gold",
            "The right place of each turn",
            value="elm cafe\ncorner grill\noak inn",
            info="One turn a line; an empty line leaves the turn out.",
        ),
        Field("alternatives", "Other places that fit as well (may stay empty)", value="", info="One turn a line."),
        Field("ks", "Cut-off ranks", value="1, 3", lines=1),
    )

    def read(values: Values) -> dict[str, Any]:
        named, gold, others = (reading.ids(values[key]) for key in ("named", "gold", "alternatives"))
        size = max(len(named), len(gold), len(others))
        pad = [rows + [[]] * (size - len(rows)) for rows in (named, gold, others)]
        ks = values["ks"].replace(",", " ").split()
        if not ks or not all(part.isascii() and part.isdigit() and len(part) < 7 for part in ks):
            raise reading.Unreadable("The cut-off ranks cannot be read", "Write whole numbers, as in: 1, 3")
        arguments = {"predictions": pad[0], "references": pad[1], "ks": tuple(map(int, ks))}
        return arguments | ({"alternatives": pad[2]} if others else {})

    examples: dict[str, Values] = {
        "Second place is right": {"named": "blue door, elm cafe", "gold": "elm cafe", "alternatives": ""},
        "Another good one": {"named": "blue door", "gold": "elm cafe", "alternatives": "blue door, oak inn"},
        "How to fool it: name many": {"named": "blue door, oak inn, elm cafe", "gold": "elm cafe", "alternatives": ""},
        "Nothing named": {"named": "", "gold": "elm cafe", "alternatives": ""},
    }
    return Form(fields, read, findings.show_named, examples)


_TALK = (
    "user inform\nsystem clarify\nuser inform\nsystem recommend: blue door\nuser reject_and_refine: blue door\n"
    "system recommend: {}\nuser accept"
)


def _dialogue_form() -> Form:
    fields = (
        Field(
            "dialogue",
            "The dialogue",
            value=_TALK.format("elm cafe"),
            lines=8,
            info="One turn a line: who, what it does, and the places it names or refuses; a blank line between dialogues.",
        ),
        Field(
            "gold",
            "Right places",
            value="elm cafe, oak inn",
            lines=2,
            info="One dialogue a line, ids separated by commas.",
        ),
    )

    def read(values: Values) -> dict[str, Any]:
        talks, gold = reading.dialogues(values["dialogue"]), reading.ids(values["gold"])
        if len(gold) > len(talks):
            raise reading.Unreadable(
                f"{len(gold)} lines of right places for {len(talks)} dialogues", "Write one line a dialogue."
            )
        return {"predictions": talks, "references": gold + [[]] * (len(talks) - len(gold))}

    examples: dict[str, Values] = {
        "Recovered": {"dialogue": _TALK.format("elm cafe"), "gold": "elm cafe, oak inn"},
        "Not recovered": {"dialogue": _TALK.format("corner grill"), "gold": "elm cafe, oak inn"},
        "How to fool it: repeat": {"dialogue": _TALK.format("blue door"), "gold": "blue door, elm cafe"},
        "No refusal": {"dialogue": "user inform\nsystem recommend: elm cafe\nuser accept", "gold": "elm cafe"},
    }
    return Form(fields, read, findings.show_dialogues, examples)


def _place_form() -> Form:
    near = "City Hall, 39.9526, -75.1652\nBell Museum, 39.9496, -75.1503\nOld Mill, 40.0379, -75.2240"
    fields = (
        Field(
            "places",
            "Places that a dialogue recommends",
            value=near,
            lines=6,
            info="One a line: name, latitude, longitude in degrees; ? where unknown. A blank line begins another dialogue.",
        ),
        Field("threshold_km", "Near means within (km)", "number", 2.0, low=0.1, high=20.0),
    )

    def read(values: Values) -> dict[str, Any]:
        return {"predictions": reading.places(values["places"]), "threshold_km": float(values["threshold_km"] or 0)}

    examples: dict[str, Values] = {
        "Two of three are near": {"places": near},
        "A walk": {
            "places": "Fountain, 36.1622, -86.7744\nRecord Shop, 36.1660, -86.7780\nRiver Deck, 36.1640, -86.7700"
        },
        "One has no coordinates": {"places": near.replace("40.0379", "?")},
        "Only one place": {"places": "City Hall, 39.9526, -75.1652"},
    }
    return Form(fields, read, findings.show_places, examples)


def _price_form() -> Form:
    fields = (
        Field(
            "said",
            "What the user said so far",
            value="Something cheap near the river, please",
            info="One turn a line, oldest first.",
        ),
        Field(
            "prices",
            "Price levels of the places recommended",
            value="$, $$, $$$, ?",
            lines=1,
            info="1 to 4 or $ to $$$$, separated by commas; ? where unknown.",
        ),
    )

    def read(values: Values) -> dict[str, Any]:
        return {"predictions": [reading.prices(values["prices"])], "references": [reading.lines(values["said"])]}

    examples: dict[str, Values] = {
        "Cheap": {"said": "Something cheap near the river, please", "prices": "$, $$, $$$, ?"},
        "A change of mind": {"said": "A budget room\nActually make it moderate", "prices": "$$$, $$"},
        "How to fool it: upscale": {"said": "Somewhere upscale", "prices": "$, $"},
        "No price word": {"said": "Good coffee", "prices": "$$"},
    }
    return Form(fields, read, findings.show_prices, examples)


def _preference_form() -> Form:
    fields = (
        Field(
            "said",
            "What the user said so far",
            value="A quiet place with parking, and brunch if possible",
            info="One turn a line.",
        ),
        Field(
            "places",
            "What is known of each place that the response names",
            value="Cafes, Breakfast & Brunch. Free parking in the back. So quiet!",
            lines=5,
            info="Categories, attributes and reviews; a blank line between places.",
        ),
    )

    def read(values: Values) -> dict[str, Any]:
        return {"predictions": [reading.paragraphs(values["places"])], "references": [reading.lines(values["said"])]}

    examples: dict[str, Values] = {
        "All there": {"said": "A quiet place with parking", "places": "Free parking in the back, and so quiet."},
        "How to fool it: “no parking”": {"said": "Parking, please", "places": "There is no parking whatsoever."},
        "Two places share it": {
            "said": "Sushi and a patio",
            "places": "Sushi bar downtown.\n\nBeer garden with a patio.",
        },
        "No wish": {"said": "Hello!", "places": "Sushi bar downtown."},
    }
    return Form(fields, read, findings.show_wishes, examples)


_BY_NAME: dict[str, Callable[[], Form]] = {
    "cgs": lambda: _response_form(True, labels_choice=True),
    "cgs_ent": lambda: _response_form(True, entails=True),
    "citation_density": lambda: _response_form(False),
    "entailment_grounding": lambda: _response_form(False, quotes=False, entails=True),
    "grounding_score": lambda: _response_form(False),
    "provenance_coverage": lambda: _response_form(True, quotes=False, reviews_optional=True),
    "poi_recall": _named_form,
    "preference_coverage": _preference_form,
    "price_alignment": _price_form,
    "rejection_recovery": _dialogue_form,
    "spatial_coherence": _place_form,
    "task_success": _dialogue_form,
}
