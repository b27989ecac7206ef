"""Spatial coherence: can a traveller walk between the places that a dialogue recommends?"""

import datasets
import evaluate

from trace_dataset.scoring.aggregate import summarize
from trace_dataset.scoring.checks import UsageError
from trace_dataset.scoring.module import CITATION, PAPER, CheckedRows, check_config, signature
from trace_dataset.scoring.practical import spatial_coherence, valid_coordinates
from trace_dataset.scoring.shapes import place_rows

_DESCRIPTION = """
Spatial coherence of the TRACE benchmark: of all pairs of places that a dialogue recommends, the share within 2 km
of each other (about 25 minutes on foot), great-circle distance. A dialogue with fewer than two located places has
no value. Range 0 to 1; higher is better.
"""
_INPUTS = """
Args:
    predictions: for each dialogue its places {"business_id": str, "latitude": float, "longitude": float} in
        degrees, with None for an unknown coordinate. Repeated ids count once. There are no references.
    threshold_km: the distance that still counts as near (default 2.0, inclusive).
Returns:
    spatial_coherence: mean over dialogues with at least two located places; None without any.
    n: those dialogues. n_null: the others. n_vacuous: 0. n_unlocated: places left out for want of valid
        coordinates.
    signature: version and options.
Raises:
    UsageError: a row of the wrong shape, naming its position and the right shape.
Examples:
    >>> metric = evaluate.load("trace/spatial_coherence")
    >>> places = [
    ...     {"business_id": "a", "latitude": 39.9526, "longitude": -75.1652},
    ...     {"business_id": "b", "latitude": 39.9496, "longitude": -75.1503},
    ...     {"business_id": "c", "latitude": 40.0379, "longitude": -75.2240},
    ... ]
    >>> round(metric.compute(predictions=[places])["spatial_coherence"], 3)
    0.333
"""


class SpatialCoherence(CheckedRows, evaluate.Metric):
    """See `_DESCRIPTION`."""

    def _info(self):
        check_config(self.config_name)
        number = datasets.Value("float64")
        place = {"business_id": datasets.Value("string"), "latitude": number, "longitude": number}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.List(place)}),
            reference_urls=[PAPER],
        )

    def checked(self, predictions, references):
        return {"predictions": place_rows(predictions)}

    def _compute(self, predictions, threshold_km=2.0):
        if isinstance(threshold_km, bool) or not isinstance(threshold_km, (int, float)) or not threshold_km > 0:
            raise UsageError(f"threshold_km is {threshold_km!r}", do="use a number of kilometres above 0")
        dialogues = [
            [[place["business_id"], place["latitude"], place["longitude"]] for place in places]
            for places in predictions
        ]
        total = summarize(spatial_coherence(places, threshold_km) for places in dialogues)
        return {
            "spatial_coherence": total.mean,
            "n": total.n,
            "n_null": total.n_null,
            "n_vacuous": 0,
            "n_unlocated": sum(not valid_coordinates(*place[1:]) for places in dialogues for place in places),
            "signature": signature("spatial_coherence", threshold_km=threshold_km),
        }
