"""Write the figures of finished runs into the cards of the baselines.

    trace-dataset run tfidf … random random_unseen --pool closed --yelp … --dialogues N --out RUNS   (and --pool open)
    trace-dataset score RUNS/*
    python -m benchmarks.cards RUNS --source "2,400 places of the invented sample (seed 42)"

Only scored runs are read. A card's "ours" column and the lines around its table are rewritten; the paper's column stays. The
card of a baseline that asks a language model says which one answered.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from trace_dataset.analysis.corpus import model_of
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.score import stored_scores
from trace_dataset.installed import hub_path
from trace_dataset.lm.settings import SMALL

ROWS = {
    "R@1": "recall_at_1",
    "R@3": "recall_at_3",
    "MRR": "mrr",
    "BLEU-4": "bleu4",
    "ROUGE-L": "rouge_l",
    "CGS, product of means": "cgs",
    "GS": "gs",
    "CD": "cd",
    "PC": "pc",
    "TSR": "tsr",
    "T2R, misses charged the length": "t2r",
    "rejection recovery": "rejection_recovery",
    "spatial coherence, 2 km": "spatial_coherence",
    "price alignment": "price_alignment",
    "preference coverage": "preference_coverage",
}
UNPRINTED = "not printed"
OPEN_ROW = "R@1, open pool"
SMALL_MODEL = (
    "a model of 135 million parameters: that shows that every step runs and is scored, not what the mechanism is\n"
    "worth. No other model could be reached where this was measured."
)
Runs = Mapping[tuple[str, str], Results]


def main() -> None:
    """Rewrite every card that has a scored run on the closed pool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="the folder of the runs")
    parser.add_argument("--source", required=True, help="what the dialogues are over, in words")
    options = parser.parse_args()
    runs = scored(options.runs)
    for name, pool in sorted(runs):
        if pool == "closed" and name not in CONTROLS:
            card = hub_path("baselines", name) / "README.md"
            card.write_text(rewritten(card.read_text(encoding="utf-8"), name, runs, options.source), encoding="utf-8")
            print(card)


def scored(folder: Path) -> dict[tuple[str, str], Results]:
    """Return the scored runs of a folder by baseline and pool."""
    found = {}
    for path in sorted(folder.glob("*/run.json")):
        results = stored_scores(RunFolder.open(path.parent))
        if results is not None:
            found[results.name, str(results.settings["pool"])] = results
    return found


def rewritten(card: str, name: str, runs: Runs, source: str) -> str:
    """Return a card with the figures of these runs."""
    closed, wide = runs[name, "closed"], runs.get((name, "open"))
    values = {label: _value(closed, key) for label, key in ROWS.items()}
    values["rejection recovery"] += " (rejected places excluded)"
    if not any(closed.turns["n_quotes"]):
        values["GS"] += " (vacuous: nothing was quoted)"
    values[OPEN_ROW] = "-" if wide is None else _value(wide, "recall_at_1")
    before, _, rest = card.partition("## Figures\n")
    table = re.search(r"\| \| ours .*\n(?:\|.*\n)+", rest)
    assert table is not None, f"the card of {name} has no table of figures"
    head, line, *rows = table.group().splitlines()
    printed = {label.strip(): paper.strip() for label, _, paper in (row.strip("|").split("|") for row in rows)}
    labels = dict.fromkeys([*printed, *ROWS, OPEN_ROW])
    body = [f"| {label} | {values.get(label, '-')} | {printed.get(label, UNPRINTED)} |" for label in labels]
    lines = [head, line, *body]
    return f"{before}## Figures\n\n{_head(closed, wide, source)}\n\n" + "\n".join(lines) + f"\n\n{_foot(runs)}\n"


def _value(results: Results, key: str) -> str:
    value = results.estimates()[key].value
    return "-" if value is None else f"{value:.3f}"


def _head(closed: Results, wide: Results | None, source: str) -> str:
    digest = str(closed.settings["content_digest"])[:12]
    size = len(closed.dialogues["dialogue_id"])
    open_size = 0 if wide is None else len(wide.dialogues["dialogue_id"])
    shorter = f"; the open\npool on the first {open_size:,} of them" if 0 < open_size < size else ""
    asked = model_of(closed)
    model = f"\nEvery answer is {asked}'s, {SMALL_MODEL}" if asked == SMALL else f" {asked} answered." if asked else ""
    paper = "gpt-5.4-mini on its own 10,000 dialogues over Yelp" if asked else "its own 10,000 dialogues over Yelp"
    return (
        f"Ours: {size:,} dialogues over {source}, content digest `{digest}`, closed pool of eight, all splits{shorter}."
        f"{model}\nThe paper's: {paper}. They are not the same data and need not agree; orders that follow from the mechanism "
        "should."
    )


def _foot(runs: Runs) -> str:
    again = "To measure again: see `benchmarks/cards.py`."
    if ("random", "closed") not in runs or ("random_unseen", "closed") not in runs:
        return again
    chance = _value(runs["random", "closed"], "recall_at_1")
    unseen = _value(runs["random_unseen", "closed"], "rejection_recovery")
    return f"Random answers score {chance} on R@1 here, and {unseen} on recovery when they never name a place twice.\n{again}"


if __name__ == "__main__":
    main()
