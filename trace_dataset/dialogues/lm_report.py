"""What a language model was asked for in a build, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class WriterReport:
    """What a model was asked and what came of it; all counts are of this run unless they say otherwise.

    Attributes:
        written: dialogues with the model's texts; `resumed` of these were in the journal already.
        fallbacks: reason to dialogues that the template wrote: `tries` where no try was sound, else why there was no answer.
        complaints: failing check to turns that were sent back.
        failures: reason to questions that came to nothing.
        cost: USD of the calls whose price is known; `unpriced_calls` counts the others.
        earlier_tokens: what the journal says was spent in earlier runs.
        stopped: why the writer stopped before the end, if it did.
    """

    model: str = ""
    written: int = 0
    resumed: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    complaints: Counter[str] = field(default_factory=Counter)
    failures: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced_calls: int = 0
    earlier_tokens: int = 0
    stopped: str | None = None

    @property
    def fallback_share(self) -> float:
        """Dialogues that the template wrote, as a share of all that were finished."""
        fallen = sum(self.fallbacks.values())
        return fallen / max(1, fallen + self.written)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            **asdict(self),
            "fallbacks": dict(sorted(self.fallbacks.items())),
            "complaints": dict(sorted(self.complaints.items())),
            "fallback_share": self.fallback_share,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WriterReport:
        """Return the report that `to_json` gave these values of, e.g. a manifest's `writer`."""
        counted = {name: Counter(values[name]) for name in ("fallbacks", "complaints")}
        return cls(**{key: value for key, value in values.items() if key != "fallback_share"} | counted)

    def __str__(self) -> str:
        fallen = ", ".join(f"{reason}: {count:,}" for reason, count in sorted(self.fallbacks.items())) or "none"
        unpriced = f" and {self.unpriced_calls:,} calls of unknown price" if self.unpriced_calls else ""
        lines = [
            f"{self.model}: {self.written:,} dialogues written ({self.resumed:,} of them in earlier runs)",
            f"by the template instead: {100 * self.fallback_share:.1f} % ({fallen})",
            f"{self.calls:,} calls, {self.retries:,} retries, {self.prompt_tokens:,} tokens read, "
            f"{self.completion_tokens:,} written, {self.cost:.4f} USD{unpriced}",
        ]
        return "\n".join([*lines, f"stopped: {self.stopped}"] if self.stopped else lines)
