"""From a name and settings to a model of DSPy; what a provider would refuse or drop is refused before anything is spent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from hydrate.errors import UsageError

MOST_TOKENS = 4000  # of one answer
REPEATING = ("seed", "temperature")  # settings that a run may rest on
HOW_TO_INSTALL = "pip install 'trace-dataset[llm]'"


def import_dspy() -> ModuleType:
    """Import DSPy when it is first needed.

    Raises:
        UsageError: it is not installed.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it looks prices up on the network
    try:
        import dspy
    except ModuleNotFoundError as error:
        if error.name != "dspy":
            raise
        raise UsageError("language models need the package dspy, which is not installed", do=HOW_TO_INSTALL) from None
    module: ModuleType = dspy
    return module


def construct(dspy: ModuleType, target: str, api_base: str | None, timeout: float, settings: Mapping[str, Any]) -> Any:
    """Return the `dspy.LM` of a name, without cache and retries; raises `UsageError` for settings that it does not take."""
    fixed: dict[str, Any] = {"cache": False, "num_retries": 0, "timeout": timeout}
    if api_base is not None:
        fixed["api_base"] = api_base
    if "/" not in target:
        raise UsageError(f"{target!r} names no provider", do="write openai/NAME, anthropic/NAME, or local")
    limit = {} if "max_tokens" in settings else {"max_tokens": MOST_TOKENS}
    try:
        return dspy.LM(target, **fixed, **limit, **settings)
    except dspy.utils.exceptions.LMConfigurationError:
        if not limit:
            raise UsageError(
                f"{target} does not take these settings: {', '.join(sorted(set(settings) - {'api_key'}))}",
                do="reasoning models want no temperature, and max_tokens of 16000 or none",
            ) from None
    try:
        return dspy.LM(target, **fixed, **settings)  # a reasoning model: no limit of ours
    except dspy.utils.exceptions.LMConfigurationError:
        raise UsageError(
            f"{target} does not take these settings: {', '.join(sorted(set(settings) - {'api_key'}))}",
            do="reasoning models want no temperature, and max_tokens of 16000 or none",
        ) from None


def refuse_dropped(lm: Any, settings: Mapping[str, Any]) -> None:
    """Refuse settings that DSPy would leave out without a word: a run is not repeatable by a seed that nobody was sent."""
    dropped = sorted(key for key in REPEATING if settings.get(key) is not None and key not in lm.supported_params)
    if dropped:
        raise UsageError(
            f"{lm.model} takes no {' and no '.join(dropped)}", do="leave it out; the run cannot be repeated by it"
        )


def is_own(name: str, api_base: str | None) -> bool:
    """Whether a model runs on a server of the user's own, where bounds in a schema are obeyed rather than refused."""
    return api_base is not None and not name.startswith("anthropic/")
