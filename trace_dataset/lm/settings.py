"""Which language model to ask, as a value: it can be sent to another process, and says what the answers depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.lm.construct import is_own
from trace_dataset.lm.local import ALIAS
from trace_dataset.lm.meter import Budget
from trace_dataset.lm.model import LOCAL_OPTIONS, RETRIES, LanguageModel, open_lm

SMALL = f"local/{ALIAS}"  # the one model that is known to need short prompts


@dataclass(frozen=True)
class LmSettings:
    """The arguments of `open_lm`, before anything is opened.

    Args:
        name: `openai/…`, `anthropic/…`, another provider of DSPy, `local`, or `local:/path/model.gguf`.
        api_base, budget, retries, timeout, prices, bounded, options: see `open_lm`.

    Example:
        >>> LmSettings("local").signature["name"]
        'local/smollm2-135m'
    """

    name: str
    api_base: str | None = None
    budget: Budget | None = None
    retries: int = RETRIES
    timeout: float = 120.0
    prices: tuple[float, float] | None = None
    bounded: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def open(self) -> LanguageModel:
        """Return the model; close it, or use it in a `with` block.

        Raises:
            UsageError: DSPy is not installed, or the options do not suit the model.
        """
        return open_lm(
            self.name,
            self.api_base,
            budget=self.budget,
            retries=self.retries,
            timeout=self.timeout,
            prices=self.prices,
            bounded=self.bounded,
            **self.options,
        )

    @property
    def signature(self) -> dict[str, Any]:
        """What the answers depend on, equal to that of the opened model; it holds no key and no address on this machine."""
        options, name, local = dict(self.options), self.name, self.name == "local" or self.name.startswith("local:")
        if local:
            path = self.name.partition(":")[2]
            name, options = f"local/{Path(path).stem if path else ALIAS}", {**LOCAL_OPTIONS, **options}
        bounded = (local or is_own(name, self.api_base)) if self.bounded is None else self.bounded
        return {
            "name": name,
            "api_base": None if local else self.api_base,
            "bounded": bounded,
            "options": {key: options[key] for key in sorted(options) if key != "api_key"},
        }


def open_given(lm: Any) -> tuple[LanguageModel, bool]:
    """Return the model that a value stands for, and whether it was opened here and is ours to close.

    Args:
        lm: a name, `LmSettings`, an open `LanguageModel` (or an object with its `ask` and `signature`), or a `dspy.LM`.
    """
    if isinstance(lm, str):
        lm = LmSettings(lm)
    if isinstance(lm, LmSettings):
        return lm.open(), True
    if hasattr(lm, "ask") and hasattr(lm, "signature"):
        return lm, False
    return open_lm(lm), True


def signature_of(lm: Any) -> dict[str, Any]:
    """Return what the answers of a model depend on; raises `UsageError` for a value that is no model."""
    if isinstance(lm, str):
        lm = LmSettings(lm)
    if hasattr(lm, "signature"):
        found: dict[str, Any] = lm.signature
        return found
    if hasattr(lm, "model") and hasattr(lm, "kwargs"):  # a dspy.LM
        opened, _ = open_given(lm)
        return opened.signature
    raise UsageError(f"{type(lm).__name__} is no language model", do="give openai/NAME, local, LmSettings or a dspy.LM")
