"""One good call for each evaluate module, and rows of the wrong shape for its inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

METRICS = Path(__file__).resolve().parents[1] / "metrics"
NAMES = sorted(path.parent.name for path in METRICS.glob("*/*.py") if path.stem == path.parent.name)

REVIEWS = [{"label": "R1", "text": "Quiet patio, kind staff."}, {"label": "R2", "text": "Not cited."}]
TURNS = [
    {"role": "user", "action": "inform"},
    {"role": "system", "action": "recommend", "poi_ids": ["a"]},
    {"role": "user", "action": "reject_and_refine", "rejected_poi_ids": ["a"]},
    {"role": "system", "action": "recommend", "poi_ids": ["b"]},
]
PLACES = [
    {"business_id": "a", "latitude": 39.95, "longitude": -75.16},
    {"business_id": "b", "latitude": 39.951, "longitude": -75.161},
]


class Words:
    """Stands in for an NLI model: entails where all words of the claim stand in the premise."""

    name = "words"

    def probabilities(self, pairs):
        return [float(set(claim.lower().split()) <= set(premise.lower().split())) for premise, claim in pairs]


TEXT = 'Try it: "quiet patio, kind staff" [R1].'
RESPONSE = {"text": TEXT, "recommends": True}
BAD_REVIEWS = [None, "R1", ["R1"], [{"label": "R1"}], [{"label": "1", "text": "a"}], [{"label": "R1", "text": None}]]
BAD_REVIEWS += [[{"label": "R1", "text": "a"}, {"label": "R1", "text": "b"}], {"label": "R1", "text": "a"}]
BAD_RESPONSES = [
    None,
    "text",
    ["text"],
    {"text": "a"},
    {"text": None, "recommends": True},
    {"text": "a", "recommends": 1},
]
BAD_TEXTS = [None, 5, ["text"], {"text": "a"}]
BAD_IDS = [None, "a", [1], [None], [["a"]]]
BAD_TURNS = [
    None,
    "a",
    ["a"],
    [{"role": "user"}],
    [{"role": "bot", "action": "inform"}],
    [{"role": "user", "action": None}],
]
BAD_TURNS += [[{"role": "system", "action": "recommend", "poi_ids": "a"}]]
BAD_PLACES = [
    None,
    "a",
    [["a", 1, 2]],
    [{"business_id": "a"}],
    [{**PLACES[0], "latitude": "39.9"}],
    [{**PLACES[0], "business_id": 1}],
]
BAD_PRICES = [None, "$$", [7], ["cheap"], [True], [[1]]]
BAD_TEXT_LISTS = [None, "text", [None], [5]]


def _call(prediction: Any, reference: Any, bad_predictions: list[Any], bad_references: list[Any], **options: Any):
    return {
        "prediction": prediction,
        "reference": reference,
        "bad_predictions": bad_predictions,
        "bad_references": bad_references,
        "options": options,
    }


CALLS: dict[str, dict[str, Any]] = {
    "cgs": _call(RESPONSE, REVIEWS, BAD_RESPONSES, BAD_REVIEWS),
    "cgs_ent": _call(RESPONSE, REVIEWS, BAD_RESPONSES, BAD_REVIEWS, model=Words()),
    "citation_density": _call(TEXT, REVIEWS, BAD_TEXTS, BAD_REVIEWS),
    "entailment_grounding": _call(TEXT, REVIEWS, BAD_TEXTS, BAD_REVIEWS, model=Words()),
    "grounding_score": _call(TEXT, REVIEWS, BAD_TEXTS, BAD_REVIEWS),
    "poi_recall": _call(["a", "b"], ["b"], BAD_IDS, BAD_IDS),
    "preference_coverage": _call(["Quiet patio"], ["A quiet place"], BAD_TEXT_LISTS, BAD_TEXT_LISTS),
    "price_alignment": _call([1, "$$", 3, None], ["Something cheap"], BAD_PRICES, BAD_TEXT_LISTS),
    "provenance_coverage": _call(RESPONSE, REVIEWS, BAD_RESPONSES, BAD_REVIEWS),
    "rejection_recovery": _call(TURNS, ["a", "b"], BAD_TURNS, BAD_IDS),
    "spatial_coherence": _call(PLACES, None, BAD_PLACES, []),
    "task_success": _call(TURNS, ["b"], BAD_TURNS, BAD_IDS),
}


def inputs(name: str, rows: int = 1) -> dict[str, Any]:
    """Return `compute`'s rows for a module: the good one, some times over."""
    call = CALLS[name]
    found = {"predictions": [call["prediction"]] * rows}
    if call["reference"] is not None:
        found["references"] = [call["reference"]] * rows
    return found
