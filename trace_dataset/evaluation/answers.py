"""What a baseline returned, put to the test: a fault that costs the turn, or a clean ranking and response.

Nothing here trusts the baseline: ids are compared with the pool, types are checked, and what is kept is made anew of plain
values, so that a generator, a NumPy string or a lone surrogate neither breaks a run nor gets into its files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from trace_dataset.evaluation.limits import TookTooLong
from trace_dataset.lm import LmStopped
from trace_dataset.schema import Citation
from trace_dataset.scoring.text import without_surrogates
from trace_dataset.turns import Response

MOST_CHARACTERS = 20_000  # of a response; more is no answer to a traveller
MOST_REASON = 500  # characters of a reason that are kept
_LABEL = re.compile(r"R[0-9]{1,18}")


class Fault(Exception):
    """What is wrong with an answer, in words."""


def clean_ranking(ranking: Any, pool: Collection[str], what: str = "rank returned") -> tuple[str, ...]:
    """Return a ranking as plain strings; raises `Fault` where it is none over the pool."""
    places = _ids(ranking, pool, what)
    if not places:
        raise Fault(f"{what} no place")
    return places


def clean_response(response: Any, pool: Collection[str], ranking: tuple[str, ...]) -> Response:
    """Return a response of plain values; raises `Fault` where it is not one.

    A response without a ranking of its own gets the one that `rank` returned.
    """
    if not isinstance(response, Response):
        raise Fault(f"respond returned {type(response).__name__}, not a Response")
    if response.error is not None:
        return Response("", usage=_usage(response.usage), error=reason(response.error))
    if not isinstance(response.text, str):
        raise Fault(f"respond returned a text of type {type(response.text).__name__}")
    if len(response.text) > MOST_CHARACTERS:
        raise Fault(f"respond returned {len(response.text):,} characters; {MOST_CHARACTERS:,} are the most")
    text = without_surrogates(str(response.text))
    if not text.strip():
        raise Fault("respond returned an empty text")
    own = _ids(response.ranking, pool, "respond gave a ranking with")
    return Response(
        text,
        _ids(response.poi_ids, pool, "respond named"),
        _citations(response.citations),
        own or ranking,
        _usage(response.usage),
    )


def reason(error: object) -> str:
    """Return an exception, or a baseline's own word for one, as one short line; never raises."""
    try:
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    except Exception:  # a message that cannot even be read
        text = type(error).__name__
    return without_surrogates(" ".join(str(text).split()))[:MOST_REASON]


def attempt(call: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
    """Call a baseline's code; return what it returned, or the reason why it returned nothing.

    Whatever is raised is a reason, `SystemExit` too, but for Ctrl-C and a language model that has no answers left.
    """
    try:
        return call(*arguments), None
    except (Fault, TookTooLong) as fault:
        return None, reason(str(fault))
    except (KeyboardInterrupt, LmStopped):
        raise
    except BaseException as error:  # a stranger's code: whatever it raises costs the turn, not the run
        return None, reason(error)


def _ids(values: Any, pool: Collection[str], what: str) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)):
        raise Fault(f"{what} {type(values).__name__}, not a list of business ids")
    if set(map(type, values)) <= {str}:  # the usual case in one go; what is wrong is looked for below
        different = set(values)
        if len(different) == len(values) and different.issubset(pool):
            return tuple(values)
    for value in values:
        if not isinstance(value, str):
            raise Fault(f"{what} an id of type {type(value).__name__}")
        if value not in pool:
            raise Fault(f"{what} {str(value)[:40]!r}, which is not in the pool")
    places = tuple(str(value) for value in values)
    if len(set(places)) != len(places):
        raise Fault(f"{what} a place twice")
    return places


def _citations(values: Iterable[Any]) -> tuple[Citation, ...]:
    if not isinstance(values, (list, tuple)):
        raise Fault(f"respond cited {type(values).__name__}, not a list of Citation")
    found: dict[str, Citation] = {}
    for value in values:
        if not isinstance(value, Citation) or not all(
            isinstance(part, str) for part in (value.label, value.business_id, value.review_id)
        ):
            raise Fault("respond cited something that is no Citation(label, business_id, review_id) of strings")
        if _LABEL.fullmatch(value.label) is None:
            raise Fault(f"respond cited by the label {str(value.label)[:20]!r}; labels are R1, R2, …")
        plain = Citation(*(without_surrogates(str(part)) for part in (value.label, value.business_id, value.review_id)))
        if found.setdefault(plain.label, plain) != plain:
            raise Fault(f"respond gave the label {plain.label} to two reviews")
    return tuple(found.values())


def _usage(values: Any) -> dict[str, float]:
    """Return what is a finite number under a name; the rest says nothing that could be added up."""
    pairs = values.items() if hasattr(values, "items") else ()
    return {
        str(key): float(value)
        for key, value in pairs
        if isinstance(value, (int, float)) and math.isfinite(float(value))
    }
