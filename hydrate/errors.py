"""What a user can act on: one family of errors, each saying what, where and what to do.

`TraceError` is a `ValueError`, so code that guards against bad input in general still works. Messages never hold
review text: they name files, lines, ids, hashes and counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydrate.report import HydrationReport


class TraceError(ValueError):
    """Base of every error that this project raises for bad input or a failing machine.

    Args:
        what: what went wrong and where, in one or two sentences.
        do: what the user can do about it; printed on a line of its own.

    Example:
        >>> raise TraceError("no review file in /data/yelp", do="point yelp_path at the folder that holds it")
        Traceback (most recent call last):
        ...
        hydrate.errors.TraceError: no review file in /data/yelp
          do: point yelp_path at the folder that holds it
    """

    def __init__(self, what: str, do: str | None = None) -> None:
        self.what = what
        self.do = do
        super().__init__(f"{what}\n  do: {do}" if do else what)

    def __reduce__(self) -> tuple[type[TraceError], tuple[str, str | None]]:
        return (type(self), (self.what, self.do))


class BundleError(TraceError):
    """The Yelp bundle cannot be read: missing, cut off, not JSON, ambiguous or unsafe."""


class HydrationError(TraceError):
    """Quotes do not match the bundle, or placeholders are malformed.

    `report` holds the counts and every case where whole records were hydrated; it does not survive pickling.
    """

    report: HydrationReport | None = None


class UsageError(TraceError):
    """A name or an option that does not exist; the message lists those that do."""


class StorageError(TraceError):
    """The disk refused: read-only, full, or a damaged cache that could not be rebuilt."""


class LicensedTextError(TraceError):
    """Review text stands in something that was about to be published."""
