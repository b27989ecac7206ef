"""The three-competency table: accuracy, grounding and recovery of every run, with intervals, counts and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hydrate.errors import UsageError
from trace_dataset.evaluation.results import Estimate, Results

COMPETENCIES = {
    "Accuracy": {"R@1": "recall_at_1", "R@3": "recall_at_3", "MRR": "mrr"},
    "Grounding": {"CGS": "cgs", "GS": "gs", "CD": "cd", "PC": "pc"},
    "Recovery": {"TSR": "tsr", "T2R": "t2r", "RejRec": "rejection_recovery"},
}
FULL = {
    "Accuracy": {**COMPETENCIES["Accuracy"], "R@1 multi": "recall_at_1_multi", "R@3 ranking": "ranking_recall_at_3"},
    "Text": {"BLEU-4": "bleu4", "ROUGE-L": "rouge_l"},
    "Grounding": {**COMPETENCIES["Grounding"], "CGS turn mean": "cgs_mean_of_turns"},
    "Practical": {"Spatial": "spatial_coherence", "Price": "price_alignment", "Preference": "preference_coverage"},
    "Recovery": {**COMPETENCIES["Recovery"], "RejRec literal": "rejection_recovery_literal", "T2R hits": "t2r_hits"},
}
HEADLINE = (("Accuracy", "recall_at_1"), ("Grounding", "cgs"), ("Recovery", "rejection_recovery"))
LOWER_IS_BETTER = {"t2r", "t2r_hits"}
NOT_COMPUTED = (
    "entailment grounding and CGSent (an NLI model), the five judge ratings (a judge model), and the four human "
    "metrics (annotators)"
)


@dataclass(frozen=True)
class Table:
    """A table of strings, ready to print, with notes below it."""

    header: list[str]
    rows: list[list[str]]
    notes: list[str]
    groups: dict[str, int] = field(default_factory=dict)  # titles and numbers of columns, after the first

    def text(self) -> str:
        """Return the table for a terminal, one block of aligned columns for each group."""
        blocks, start = [], 1
        for title, size in (self.groups or {"": len(self.header) - 1}).items():
            blocks.append(f"{title}\n{self._block([0, *range(start, start + size)])}".lstrip())
            start += size
        return "\n\n".join([*blocks, "\n".join(f"  {note}" for note in self.notes)])

    def _block(self, columns: Sequence[int]) -> str:
        header, *rows = ([row[i] for i in columns] for row in [self.header, *self.rows])
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in [header, ["-" * width for width in widths], *rows]
        ]
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the table as GitHub Markdown."""
        lines = ["| " + " | ".join(row) + " |" for row in [self.header, ["---"] * len(self.header), *self.rows]]
        return "\n".join([*lines, "", *(f"* {note}" for note in self.notes)])


def competency_table(results: Sequence[Results], full: bool = False) -> Table:
    """Return one row a run: estimates with 95 % intervals, n of each competency, failed turns.

    Raises:
        UsageError: the runs do not belong into one table: other benchmark, pool, split or code version.
    """
    check_comparable(results)
    groups = FULL if full else COMPETENCIES
    header = [
        "system",
        *(label for columns in groups.values() for label in columns),
        "turns n",
        "rejections n",
        "failed",
    ]
    rows = []
    for result in results:
        estimates = result.estimates()
        cells = [str(estimates[name]) for columns in groups.values() for name in columns.values()]
        name = result.name + (" *" if result.settings.get("control") else "")
        rows.append(
            [
                name,
                *cells,
                f"{estimates['recall_at_1'].n:,}",
                f"{estimates['rejection_recovery'].n:,}",
                f"{result.n_failed:,}",
            ]
        )
    sizes = {title: len(columns) for title, columns in groups.items()}
    return Table(header, rows, _notes(results), {**sizes, "Rests on": 3})


def check_comparable(results: Sequence[Results]) -> None:
    """Refuse to put runs into one table that were not made on the same dialogues by the same code."""
    if not results:
        raise UsageError("there are no runs to report", do="run a baseline first: trace-dataset run tfidf --yelp …")
    for key in ("content_digest", "pool", "split", "limit", "version"):
        values = {str(result.settings.get(key)) for result in results}
        if len(values) > 1:
            names = ", ".join(f"{result.name}: {str(result.settings.get(key))[:12]}" for result in results)
            raise UsageError(f"these runs differ in {key} ({names})", do="report them apart")


def above_chance(estimates: Mapping[str, Estimate], chance: Mapping[str, Estimate], metric: str) -> bool:
    """Return whether a result's interval lies wholly above the control's value."""
    low, floor = estimates[metric].low, chance[metric].value
    return low is not None and floor is not None and low > floor


def _notes(results: Sequence[Results]) -> list[str]:
    settings = results[0].settings
    vacuous = {result.name: _vacuous_share(result) for result in results}
    notes = [
        f"{settings['dialogues']:,} dialogues, pool {settings['pool']}, split {settings['split']}, benchmark "
        f"{settings['content_digest'][:12]}, bundle {settings['bundle_fingerprint'][:12]}",
        "[low, high]: 95 % bootstrap interval over dialogues, 1,000 resamples, seed 42; * control, not a system",
        "CGS: product of corpus means. RejRec: rejected places do not count. T2R: a miss is charged the dialogue's length; "
        "lower is better",
        "GS is 1 where nothing is quoted; share of such turns: "
        + ", ".join(f"{name} {share:.0%}" for name, share in vacuous.items()),
        f"not computed here: {NOT_COMPUTED}",
    ]
    chance = next((result.estimates() for result in results if result.name == "random_unseen"), None)
    if chance is not None:
        weak = [
            result.name
            for result in results
            if not result.settings.get("control") and not above_chance(result.estimates(), chance, "rejection_recovery")
        ]
        if weak:
            notes.append(
                "rejection recovery no better than chance among places not yet named (random_unseen): "
                + ", ".join(weak)
            )
    return notes


def _vacuous_share(result: Results) -> float:
    quotes = result.turns["n_quotes"]
    return sum(1 for count in quotes if count == 0) / len(quotes) if quotes else 0.0
