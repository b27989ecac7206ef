"""What a question to a language model can come to: an answer, or a failure with its reason. There is nothing in between."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hydrate.errors import TraceError

# Reason to what it means. The first four pass by themselves and are tried again; of the rest only `budget` ends a run.
REASONS: Mapping[str, str] = {
    "rate_limit": "the service asked for patience longer than we had",
    "server": "the service failed, or sent something that is no reply",
    "timeout": "no reply in time",
    "connection": "the connection could not be made or broke off",
    "authentication": "the service refused the key",
    "rejected": "the service refused the request",
    "budget": "the budget is spent",
    "parse": "the reply is not the JSON that was asked for",
    "truncated": "the reply was cut off at its longest length",
    "empty": "the reply holds no text",
    "refusal": "the model declined",
}
PASSING = frozenset(["rate_limit", "server", "timeout", "connection"])
SERVICE = PASSING | {"authentication", "rejected"}  # nothing was measured: not the model's fault
UNAVAILABLE = "language model unavailable: "  # begins the error of a turn for which nothing was measured

_CANNOT = r"I (?:can ?not|can't|won't|am unable to|'m unable to|am not able to)"
_REFUSALS = re.compile(
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b|\bI(?:'m| am) an AI\b"
    rf"|\bI(?:'m| am) (?:very |really |so )?sorry,? but {_CANNOT}\b"
    rf"|\b{_CANNOT} (?:assist|help|comply|fulfil+|do that|write|create|provide|generate|continue)\b",
    re.IGNORECASE,
)
_KEYS = re.compile(r"\b(?:sk|pk|key|hf|gsk|xai)[-_][A-Za-z0-9*_-]{6,}|\bBearer\s+\S+", re.IGNORECASE)
MOST_DETAIL = 200  # characters of a service's own words


class LmStopped(TraceError):
    """There is no sense in asking on: the budget is spent, the key refused, or the service has failed for long.

    Whoever runs over many items lets it through and keeps what is done; the same command goes on from there.
    """


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls took. `cost` is in USD, None where the price is not known; unknown is never counted as nothing."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            cost,
        )

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """The fields that were asked for, each within its bounds. `model` is the name that the service gave itself."""

    values: Mapping[str, Any]
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no answer: a key of `REASONS` and a detail without keys or licensed text.

    `raw` is the reply as it came (its first 2,000 characters); it may repeat review text, so it belongs in no message.
    """

    reason: str
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    raw: str = field(default="", repr=False)
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"{REASONS[self.reason]} ({self.detail})" if self.detail else REASONS[self.reason]


Outcome = Answer | Failed


def is_refusal(text: str) -> bool:
    """Whether a text declines instead of answering.

    Example:
        >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("I can't stand loud bars.")
        (True, False)
    """
    return bool(_REFUSALS.search(text))


def without_keys(text: str, *keys: str | None) -> str:
    """Return a short form of a service's message in which no key is left.

    Example:
        >>> without_keys("bad key sk-abcdef123456 sent", None)
        'bad key [key] sent'
    """
    for key in keys:
        if key:
            text = text.replace(key, "[key]")
    text = " ".join(_KEYS.sub("[key]", text).split())
    return text if len(text) <= MOST_DETAIL else text[:MOST_DETAIL] + "…"
