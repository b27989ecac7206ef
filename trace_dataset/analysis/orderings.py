"""The paper's orderings that follow from mechanism, each with its verdict on the runs at hand (paper, Tables 5, 6 and 18).

A verdict is taken from paired bootstrap intervals over dialogues: an ordering holds or fails where the interval says so, and
is open where it allows both. A run that is not there is named, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trace_dataset.analysis.catalogue import METRICS
from trace_dataset.analysis.corpus import run_key
from trace_dataset.analysis.formats import Table, words
from trace_dataset.evaluation.bootstrap import RESAMPLES, SEED, percentile_interval, ratio, resampled_totals
from trace_dataset.evaluation.results import Results, per_dialogue
from trace_dataset.evaluation.sanity import FEWEST_CELLS
from trace_dataset.evaluation.variants import DISTANCES

Combine = Callable[[np.ndarray, np.ndarray], np.ndarray]
Found = tuple[float, tuple[float, float]]

NON_LM = (
    "popularity",
    "tfidf",
    "aspect",
    "dense",
    "spatial",
    "hybrid_rrf",
    "itinerary",
    "knowledge_enhanced",
    "persona_grounded",
)
COLUMNS = ("recall_at_1", "recall_at_1_multi", "gs", "cd", "spatial_coherence")
POINT = 0.01
ITINERARY_RATIO = 1.5  # of TF-IDF's spatial coherence at 2 km (decisions, item 16)
LEAST_GS = 0.99
HOLDS, FAILS, OPEN, MISSING, FEW = "holds", "fails", "open", "not run", "no verdict"


@dataclass(frozen=True)
class Ordering:
    """One claim: what is said, the figure that it rests on with its 95 % interval, and the verdict."""

    claim: str
    figure: str
    verdict: str


def orderings(closed: Sequence[Results], opened: Sequence[Results] = (), n_boot: int = RESAMPLES) -> list[Ordering]:
    """Return every ordering with its verdict.

    Args:
        closed, opened: runs on the closed and on the open pool over the same dialogues; controls are left aside.
        n_boot: resamples of dialogues, seed 42.
    """
    runs, wide = _systems(closed, closed), _systems(opened, opened)
    drawn = _Drawn(list(runs.values()), n_boot)
    shared = set(next(iter(wide.values())).dialogues["dialogue_id"]) if wide else set()
    same = {name: run.among(shared) for name, run in runs.items()}  # the open pool may have been run on fewer dialogues
    wide = {name: run for name, run in wide.items() if name in same and _same_dialogues(run, same[name])}
    drawn_wide = _Drawn([*wide.values(), *(same[name] for name in wide)], n_boot)
    systems = [name for name in NON_LM if name in runs]
    lacking = [name for name in NON_LM if name not in runs]
    found = [
        *(_above(runs, "tfidf", other, "recall_at_1", drawn) for other in ("popularity", "aspect")),
        *(_within(runs, other, "tfidf", "recall_at_1", drawn) for other in ("spatial", "itinerary")),
        _ratio_of(runs, "itinerary", "tfidf", "spatial_coherence", drawn),
        *(_near(runs, kilometres, drawn) for kilometres in DISTANCES),
        *(_at_least(runs[name], "gs", LEAST_GS, drawn) for name in systems),
        *(_harder(same, wide, name, drawn_wide) for name in systems),
        *(_lifted(runs[name], drawn) for name in systems),
    ]
    found += [Ordering(f"{name}: GS, open pool, multi-reference", "-", MISSING) for name in lacking]
    found.append(_lowest_cd(runs, drawn))
    return found if _cells(closed) >= FEWEST_CELLS else [_without_verdict(item) for item in found]


def _cells(results: Sequence[Results]) -> int:
    """Return how many cells of city and type the dialogues stand in."""
    return len(set(zip(results[0].dialogues["city"], results[0].dialogues["poi_type"], strict=True))) if results else 0


def _without_verdict(item: Ordering) -> Ordering:
    """Take back a verdict that few cells cannot carry: a handful of places may decide it (decisions, item 26)."""
    return item if item.verdict == MISSING else Ordering(item.claim, item.figure, FEW)


def orderings_table(closed: Sequence[Results], opened: Sequence[Results] = (), n_boot: int = RESAMPLES) -> Table | None:
    """Return the orderings as a table of a report; None where the runs say nothing about any of them."""
    found = orderings(closed, opened, n_boot)
    if all(item.verdict == MISSING for item in found):
        return None
    counts = ", ".join(
        f"{sum(item.verdict == kind for item in found)} {kind}" for kind in (HOLDS, FAILS, OPEN, MISSING, FEW)
    )
    notes = [
        counts,
        f"95 % interval of a paired bootstrap over dialogues, {n_boot:,} resamples, seed 42; open: the interval allows both",
        f"no verdict with fewer than {FEWEST_CELLS} cells of city and type, whatever the interval",
        f"the bar of the itinerary's spatial coherence is {ITINERARY_RATIO} times TF-IDF's at 2 km",
    ]
    notes += [*_set_aside(closed, "closed"), *_set_aside(opened, "open")]
    rows = [[words(item.claim), words(item.figure), words(item.verdict)] for item in found]
    return Table("orderings", "Orderings that follow from mechanism", ["claim", "figure", "verdict"], rows, notes)


def _systems(results: Sequence[Results], like: Sequence[Results]) -> dict[str, Results]:
    """Return the runs by name that are no controls and over the same dialogues as the first; of one name the first run."""
    found: dict[str, Results] = {}
    for item in results:
        if not item.control and _same_dialogues(item, like[0]):
            found.setdefault(item.name, item)
    return found


def _set_aside(results: Sequence[Results], pool: str) -> list[str]:
    """Return a note that names the runs that no verdict rests on: of other dialogues than the first, or of a name once more."""
    used = {id(item) for item in _systems(results, results).values()}
    left = [item for item in results if not item.control and id(item) not in used]
    names = ", ".join(f"{item.name} ({run_key(item)})" for item in left)
    why = "over other dialogues than the first run, or a second run of one baseline"
    return [f"pool {pool}, in no verdict: {names}; {why}"] if left else []


def _near(runs: dict[str, Results], column: str, drawn: _Drawn) -> Ordering:
    claim = f"itinerary above all on spatial coherence at {DISTANCES[column]:g} km"
    others = [run for name, run in runs.items() if name != "itinerary"]
    if "itinerary" not in runs or not others or column not in runs["itinerary"].dialogues:
        return Ordering(claim, "-", MISSING)
    parts = [_contrast(runs["itinerary"], other, (column, column), drawn, np.subtract) for other in others]
    value, (least, most) = min(parts, key=lambda part: part[1][0])
    verdict = _verdict(least > 0, any(high < 0 for _, (_, high) in parts))
    return Ordering(claim, f"{value:+.3f} [{least:+.3f}, {most:+.3f}] to the nearest", verdict)


def _same_dialogues(one: Results, other: Results) -> bool:
    same = one.settings["content_digest"] == other.settings["content_digest"]
    ids = one.dialogues["dialogue_id"]
    return same and bool(ids) and ids == other.dialogues["dialogue_id"]


def _above(runs: dict[str, Results], high: str, low: str, metric: str, drawn: _Drawn) -> Ordering:
    claim = f"{high} above {low} on {METRICS[metric].label}"
    if high not in runs or low not in runs:
        return Ordering(claim, "-", MISSING)
    value, (least, most) = _contrast(runs[high], runs[low], (metric, metric), drawn, lambda a, b: a - b)
    return Ordering(claim, f"{value:+.3f} [{least:+.3f}, {most:+.3f}]", _verdict(least > 0, most < 0))


def _within(runs: dict[str, Results], name: str, other: str, metric: str, drawn: _Drawn) -> Ordering:
    claim = f"{name} within a point of {other} on {METRICS[metric].label}"
    if name not in runs or other not in runs:
        return Ordering(claim, "-", MISSING)
    value, (least, most) = _contrast(runs[name], runs[other], (metric, metric), drawn, lambda a, b: a - b)
    inside, outside = least >= -POINT and most <= POINT, most < -POINT or least > POINT
    return Ordering(claim, f"{value:+.3f} [{least:+.3f}, {most:+.3f}]", _verdict(inside, outside))


def _ratio_of(runs: dict[str, Results], name: str, other: str, metric: str, drawn: _Drawn) -> Ordering:
    claim = f"{name} at least {ITINERARY_RATIO} times {other} on {METRICS[metric].label}"
    if name not in runs or other not in runs:
        return Ordering(claim, "-", MISSING)
    value, (least, most) = _contrast(runs[name], runs[other], (metric, metric), drawn, lambda a, b: a / b)
    return Ordering(
        claim, f"{value:.2f} [{least:.2f}, {most:.2f}]", _verdict(least >= ITINERARY_RATIO, most < ITINERARY_RATIO)
    )


def _at_least(run: Results, metric: str, bar: float, drawn: _Drawn) -> Ordering:
    value, (least, most) = _contrast(run, run, (metric, metric), drawn, lambda a, _: a)
    return Ordering(
        f"{run.name}: {METRICS[metric].label} at least {bar}",
        f"{value:.3f} [{least:.3f}, {most:.3f}]",
        _verdict(least >= bar, most < bar),
    )


def _harder(runs: dict[str, Results], wide: dict[str, Results], name: str, drawn: _Drawn) -> Ordering:
    claim = f"{name}: R@1 lower on the open pool"
    if name not in wide:
        return Ordering(claim, "-", MISSING)
    value, (least, most) = _contrast(runs[name], wide[name], ("recall_at_1", "recall_at_1"), drawn, lambda a, b: b - a)
    return Ordering(claim, f"{value:+.3f} [{least:+.3f}, {most:+.3f}]", _verdict(most < 0, least > 0))


def _lifted(run: Results, drawn: _Drawn) -> Ordering:
    value, (least, most) = _contrast(run, run, ("recall_at_1_multi", "recall_at_1"), drawn, lambda a, b: a - b)
    claim = f"{run.name}: multi-reference R@1 above single"
    return Ordering(claim, f"{value:+.3f} [{least:+.3f}, {most:+.3f}]", _verdict(least > 0, most <= 0))


def _lowest_cd(runs: dict[str, Results], drawn: _Drawn) -> Ordering:
    claim, name = "multi_review_synthesis lowest on CD", "multi_review_synthesis"
    others = [run for key, run in runs.items() if key != name]
    if name not in runs or not others:
        return Ordering(claim, "-", MISSING)
    parts = [_contrast(runs[name], other, ("cd", "cd"), drawn, lambda a, b: a - b) for other in others]
    value, (least, most) = max(parts, key=lambda part: part[1][1])
    figure = f"{value:+.3f} [{least:+.3f}, {most:+.3f}] to the nearest"
    return Ordering(claim, figure, _verdict(most < 0, any(low > 0 for _, (low, _) in parts)))


class _Drawn:
    """The means of every run and column that an ordering speaks of, first as they are, then in every resample.

    All come from one pass over the draws: they are over the same dialogues.
    """

    def __init__(self, runs: Sequence[Results], n_boot: int) -> None:
        keys = [(id(run), column) for run in runs for column in (*COLUMNS, *DISTANCES)]
        parts = [_by_dialogue(run, column) for run in runs for column in (*COLUMNS, *DISTANCES)]
        self._means: dict[tuple[int, str], np.ndarray] = {}
        if not parts or not len(parts[0][0]):
            return
        columns = np.column_stack([*(sums for sums, _ in parts), *(counts for _, counts in parts)])
        totals = np.vstack([columns.sum(axis=0), resampled_totals(columns, n_boot, SEED)])
        means = ratio(totals[:, : len(keys)], totals[:, len(keys) :])
        self._means = {key: means[:, at] for at, key in enumerate(keys)}

    def of(self, run: Results, column: str) -> np.ndarray:
        """Return a run's mean, and after it that of every resample; NaN where it has none."""
        return self._means.get((id(run), column), np.array([np.nan]))


def _by_dialogue(run: Results, column: str) -> tuple[np.ndarray, np.ndarray]:
    if column in run.cluster_sums.names:
        return run.cluster_sums.of(column)
    size = len(run.dialogues["dialogue_id"])
    sums, counts, _ = per_dialogue(run.dialogues.get(column, [None] * size), np.arange(size), size)
    return sums, counts


def _contrast(a: Results, b: Results, columns: tuple[str, str], drawn: _Drawn, combine: Combine) -> Found:
    """Return a function of the means of two columns, with its interval over the same draws of dialogues for both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = combine(drawn.of(a, columns[0]), drawn.of(b, columns[1]))
    return float(values[0]), percentile_interval(values[1:])


def _verdict(holds: bool, fails: bool) -> str:
    return HOLDS if holds else FAILS if fails else OPEN
