"""From what DSPy raises to a reason; by class names, so that nothing here imports it."""

from __future__ import annotations

from trace_dataset.lm.outcomes import Failed, Usage, without_keys

# Nearest class first: the names along an exception's bases are looked up in turn.
REASON_OF = {
    "LMAuthError": "authentication",
    "LMBillingError": "authentication",
    "LMNotConfiguredError": "authentication",
    "LMRateLimitError": "rate_limit",
    "LMTimeoutError": "timeout",
    "LMTransportError": "connection",
    "LMServerError": "server",
    "LMStreamAssemblyError": "server",
    "LMInvalidRequestError": "rejected",
    "LMUnsupportedFeatureError": "rejected",
    "LMConfigurationError": "rejected",
    "AdapterParseError": "parse",
    "LMProviderError": "server",
    "LMUnexpectedError": "server",
}


def failure(error: Exception, keys: tuple[str | None, ...]) -> Failed | None:
    """Return the failure that an exception stands for, or None where it is a bug of ours and should be raised.

    The service's own words are kept only for requests that it refused: a refused key is often repeated in the message,
    and a reply that does not parse may hold review text.
    """
    name = next((base.__name__ for base in type(error).__mro__ if base.__name__ in REASON_OF), None)
    if name is None:
        return None
    reason = REASON_OF[name]
    status = getattr(error, "status", None)
    said = getattr(error, "message", "") or ""
    if reason == "connection" and ("timed out" in said.lower() or "timeout" in said.lower()):
        reason = "timeout"
    detail = f"HTTP {status}" if status else ""
    if reason == "rejected":
        detail = ": ".join(part for part in (detail, without_keys(said, *keys)) if part)
    raw = str(getattr(error, "lm_response", "") or "")[:2000]
    return Failed(reason, detail, Usage(), raw=raw, retry_after=_seconds(getattr(error, "retry_after", None)))


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and value >= 0 else None
