"""What a build did: the counterpart of the paper's Table 3, and what it took to get there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trace_dataset.schema import RECOMMENDING, SYSTEM_ACTIONS, TIERS, USER_ACTIONS, Dialogue, Turn

# Table 3 and section 2 of the paper; the recommending share is that of definitions, P5.
PAPER: Mapping[str, float] = {
    "dialogues": 10_000,
    "turns_mean": 10.5,
    "turns_sd": 1.9,
    "places_mean": 3.3,
    "rejection_share": 0.294,
    "recommending_share": 0.61,
    "personas": 47,
    "tier_easy": 0.2481,
    "tier_medium": 0.3476,
    "tier_hard": 0.3063,
    "tier_expert": 0.098,
}


@dataclass
class BuildReport:
    """Counts of a build; shares are of system turns unless they say otherwise.

    Attributes:
        requested: dialogues asked for.
        actions: action to turns, users' and systems' apart.
        actions_in_dialogues: the same to dialogues that hold it.
        sequences: distinct sequences of actions; `top_sequence_share` is the share of the most frequent.
        pool_redraws: pools that could not carry out a plan; `tier_falls`: how often 20 in a row could not.
        attempts: number of writing attempts to dialogues.
        discards: reason to scenarios that were given up; each was replaced unless it is among `missing`.
        rewrites: failing check to texts that were written again.
        stops: why a writer stopped before the end, to the dialogues that it did not begin or finish.
    """

    requested: int = 0
    dialogues: int = 0
    turns_mean: float = 0.0
    turns_sd: float = 0.0
    system_turns: int = 0
    recommending_share: float = 0.0
    rejection_share: float = 0.0
    closing_share: float = 0.0
    places_mean: float = 0.0
    quotes_mean: float = 0.0
    alternatives_mean: float = 0.0
    personas: int = 0
    tiers: dict[str, int] = field(default_factory=dict)
    actions: dict[str, dict[str, int]] = field(default_factory=dict)
    actions_in_dialogues: dict[str, dict[str, int]] = field(default_factory=dict)
    sequences: int = 0
    top_sequence_share: float = 0.0
    pool_redraws: int = 0
    tier_falls: int = 0
    attempts: dict[str, int] = field(default_factory=dict)
    fallbacks: int = 0
    rewrites: dict[str, int] = field(default_factory=dict)
    discards: dict[str, int] = field(default_factory=dict)
    missing: int = 0
    stops: dict[str, int] = field(default_factory=dict)
    generators: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values, with the paper's beside them under `paper`."""
        return {**asdict(self), "paper": dict(PAPER)}

    def table(self) -> list[tuple[str, str, str]]:
        """Return rows of label, value here, value in the paper (empty where it prints none)."""
        total = max(self.dialogues, 1)
        rows = [
            ("dialogues", f"{self.dialogues:,}", "10,000"),
            ("turns per dialogue", f"{self.turns_mean:.2f} (sd {self.turns_sd:.2f})", "10.5 (sd 1.9)"),
            ("places recommended per dialogue", f"{self.places_mean:.2f}", "3.3"),
            ("rejections, share of system turns", f"{100 * self.rejection_share:.1f} %", "29.4 %"),
            ("recommending share of system turns", f"{100 * self.recommending_share:.1f} %", "61 %"),
            ("closing share of system turns", f"{100 * self.closing_share:.1f} %", ""),
            ("persona archetypes", str(self.personas), "47"),
        ]
        rows += [
            (
                f"difficulty: {tier}",
                f"{100 * self.tiers.get(tier, 0) / total:.1f} %",
                f"{100 * PAPER[f'tier_{tier}']:.1f} %",
            )
            for tier in TIERS
        ]
        rows += [
            ("action sequences", f"{self.sequences} (most frequent {100 * self.top_sequence_share:.1f} %)", ""),
            ("quotes per dialogue", f"{self.quotes_mean:.2f}", ""),
            ("alternatives per recommending turn", f"{self.alternatives_mean:.2f}", ""),
            ("pools redrawn", f"{self.pool_redraws:,}", ""),
            ("tiers lowered", f"{self.tier_falls:,}", ""),
            ("writing attempts", _counts(self.attempts), ""),
            ("scenarios given up", _counts(self.discards), ""),
        ]
        for role, actions in self.actions.items():
            holding = self.actions_in_dialogues[role]
            rows += [
                (f"{role}: {action}", f"{count:,} turns, in {100 * holding.get(action, 0) / total:.1f} %", "")
                for action, count in actions.items()
            ]
        return rows

    def __str__(self) -> str:
        rows = [("", "here", "paper"), *self.table()]
        widths = [max(len(row[column]) for row in rows) for column in range(2)]
        return "\n".join(f"{label:<{widths[0]}}  {here:<{widths[1]}}  {paper}".rstrip() for label, here, paper in rows)


@dataclass
class Effort:
    """What the dialogues of one worker took; efforts add up in any order."""

    pool_redraws: int = 0
    tier_falls: int = 0
    rewrites: Counter[str] = field(default_factory=Counter)
    discards: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    stops: Counter[str] = field(default_factory=Counter)

    def add(self, other: Effort) -> None:
        """Add another worker's effort to this one."""
        self.pool_redraws += other.pool_redraws
        self.tier_falls += other.tier_falls
        self.rewrites.update(other.rewrites)
        self.discards.update(other.discards)
        self.missing += other.missing
        self.stops.update(other.stops)


def summarize(dialogues: Sequence[Dialogue], effort: Effort, requested: int) -> BuildReport:
    """Return the report of finished dialogues."""
    report = BuildReport(
        requested=requested,
        dialogues=len(dialogues),
        pool_redraws=effort.pool_redraws,
        tier_falls=effort.tier_falls,
        missing=effort.missing,
        stops=_sorted(effort.stops),
    )
    report.rewrites, report.discards = _sorted(effort.rewrites), _sorted(effort.discards)
    if not dialogues:
        return report
    lengths = [len(item.turns) for item in dialogues]
    turns = [turn for item in dialogues for turn in item.turns]
    system = [turn for turn in turns if turn.role == "system"]
    recommending = [turn for turn in system if turn.action in RECOMMENDING]
    report.turns_mean = _mean(lengths)
    report.turns_sd = math.sqrt(_mean([(length - report.turns_mean) ** 2 for length in lengths]))
    report.system_turns = len(system)
    report.recommending_share = len(recommending) / len(system)
    report.rejection_share = sum(turn.action == "reject_and_refine" for turn in turns) / len(system)
    report.closing_share = sum(turn.action == "close" for turn in system) / len(system)
    report.places_mean = _mean([len(_recommended(item)) for item in dialogues])
    report.quotes_mean = _mean([sum(len(turn.quotes) for turn in item.turns) for item in dialogues])
    report.alternatives_mean = _mean([len(turn.alternative_poi_ids) for turn in recommending])
    report.personas = len({item.persona for item in dialogues})
    tiers = Counter(item.difficulty for item in dialogues)
    report.tiers = {tier: tiers[tier] for tier in TIERS}
    report.actions = {
        "user": _actions(turns, "user", USER_ACTIONS),
        "system": _actions(turns, "system", SYSTEM_ACTIONS),
    }
    report.actions_in_dialogues = {
        role: {
            action: sum(any(turn.role == role and turn.action == action for turn in item.turns) for item in dialogues)
            for action in names
        }
        for role, names in (("user", USER_ACTIONS), ("system", SYSTEM_ACTIONS))
    }
    sequences = Counter(tuple(turn.action for turn in item.turns) for item in dialogues)
    report.sequences, report.top_sequence_share = len(sequences), max(sequences.values()) / len(dialogues)
    report.attempts = _sorted(Counter(str(item.attempts) for item in dialogues))
    report.fallbacks = sum(item.fallback for item in dialogues)
    report.generators = _sorted(Counter(item.generator for item in dialogues))
    return report


def _recommended(dialogue: Dialogue) -> set[str]:
    return {place for turn in dialogue.turns if turn.action in RECOMMENDING for place in turn.poi_ids}


def _actions(turns: Iterable[Turn], role: str, names: Sequence[str]) -> dict[str, int]:
    found = Counter(turn.action for turn in turns if turn.role == role)
    return {name: found[name] for name in names}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return {key: counts[key] for key in sorted(counts)}


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key}: {count:,}" for key, count in counts.items()) or "none"
