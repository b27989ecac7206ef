"""The text form of a release: `[Q:n]` stands for a verbatim span, everything else is literal and escaped.

Grammar: `\\\\` is a backslash, `\\[` a bracket, `[Q:0]`, `[Q:1]`, … a placeholder (ASCII digits, no leading zero). A
`[R3]` that cites a review stands plain; one that a person wrote is escaped, and so is a literal `[Q:`. Every other
character stands for itself. Filling a template undoes the escaping, so any text survives the round trip exactly.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from hydrate.errors import HydrationError

_SPECIAL = re.compile(r"\\|\[Q:|\[R(?=\d)")
_GROUP = re.compile(r"\[(R\d+(?:\s*[,;]\s*R\d+)*)\]")
_TOKEN = re.compile(r"\\[\\\[]|\\|\[Q:(?:(0|[1-9][0-9]{0,8})\])?")


def escape(text: str, labels: Collection[str] = ()) -> str:
    """Return text as it stands in a release: backslashes, `[Q:` and `[R` with a digit are escaped.

    Args:
        text: any text that holds no placeholders.
        labels: the labels this turn cites, such as `R3`; `[R3]` and `[R3, R5]` of these alone stand plain.

    Example:
        >>> escape("see [R3] and [R9]", {"R3"})
        'see [R3] and \\\\[R9]'
    """
    known = set(labels)

    def protect(match: re.Match[str]) -> str:
        found = match.group()
        if found == "\\":
            return "\\\\"
        group = _GROUP.match(text, match.start()) if found == "[R" and known else None
        if group and known.issuperset(re.split(r"\s*[,;]\s*", group[1])):
            return found
        return "\\" + found

    return _SPECIAL.sub(protect, text)


def render(template: str, quotes: Mapping[int, str]) -> str:
    """Return the text of a template: each `[Q:n]` replaced by `quotes[n]`, the rest unescaped.

    Raises:
        HydrationError: a placeholder that is malformed, unknown or stands twice, a quote that no placeholder uses, or
            a backslash that escapes nothing. The message gives the column and no text.

    Example:
        >>> render('They say "[Q:0]" [R3].', {0: "so quiet"})
        'They say "so quiet" [R3].'
    """
    used: set[int] = set()
    pieces: list[str] = []
    for piece, number, column in _parse(template):
        if number is None:
            pieces.append(piece)
            continue
        if number not in quotes:
            raise HydrationError(
                f"placeholder [Q:{number}] at column {column} has no quote",
                do="check that the record's quotes were kept beside its text, and that it is not hydrated already",
            )
        if number in used:
            raise HydrationError(
                f"placeholder [Q:{number}] stands twice, again at column {column}",
                do="number every span of a text anew",
            )
        used.add(number)
        pieces.append(quotes[number])
    unused = sorted(set(quotes) - used)
    if unused:
        raise HydrationError(
            f"quote {unused[0]} has no placeholder in the text",
            do="give the release form; text that is hydrated already holds no placeholders",
        )
    return "".join(pieces)


def placeholder_numbers(template: str) -> list[int]:
    """Return the numbers of a template's placeholders, in the order in which they stand."""
    return [number for _, number, _ in _parse(template) if number is not None]


def _parse(template: str) -> Iterator[tuple[str, int | None, int]]:
    """Yield literal pieces (unescaped) and placeholder numbers, each with its column from 1."""
    position = 0
    for match in _TOKEN.finditer(template):
        start, found = match.start(), match.group()
        if start > position:
            yield template[position:start], None, position + 1
        position = match.end()
        if found in ("\\\\", "\\["):
            yield found[1], None, start + 1
        elif match[1] is not None:
            yield "", int(match[1]), start + 1
        elif found == "\\":
            raise HydrationError(
                f"a backslash at column {start + 1} escapes nothing",
                do="write a literal backslash as two; hydrate.escape does it",
            )
        else:
            raise HydrationError(
                f"a malformed placeholder at column {start + 1}",
                do="write [Q:0], [Q:1], …; a literal [Q: is written \\[Q: (hydrate.escape does it)",
            )
    if position < len(template):
        yield template[position:], None, position + 1
