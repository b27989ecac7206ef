"""A table as a person, LaTeX, a spreadsheet or a page wants it. A cell keeps its number, its interval and what it rests on."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_dataset.evaluation.results import Estimate

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True)
class Cell:
    """What stands in one place: a text, or a number with an interval, `n` units and `n_null` undefined ones.

    `rank` is 1 for the best and 2 for the second best of a column; None elsewhere.
    """

    text: str
    value: float | int | str | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    n_null: int | None = None
    rank: int | None = None

    @property
    def tooltip(self) -> str:
        """What the number rests on, in words."""
        parts = []
        if self.low is not None and self.high is not None:
            parts.append(f"95 % interval {self.low:.3f} to {self.high:.3f}")
        if self.n is not None:
            parts.append(f"n {self.n:,}")
        if self.n_null:
            parts.append(f"undefined {self.n_null:,}")
        return "; ".join(parts)


def words(text: object) -> Cell:
    """Return a cell of words."""
    return Cell(str(text), str(text))


def number(value: float | None, digits: int = 3, sign: bool = False) -> Cell:
    """Return a cell of one number; a dash where there is none.

    Example:
        >>> number(0.25, sign=True).text
        '+0.250'
    """
    if value is None or value != value:
        return Cell("-", None)
    shown = f"{value:+,.{digits}f}" if sign else f"{value:,.{digits}f}"
    return Cell(shown, float(value))


def count(value: int) -> Cell:
    """Return a cell of a whole number."""
    return Cell(f"{value:,}", value)


def share(part: int, whole: int) -> Cell:
    """Return a cell of a share in per cent."""
    return Cell("-", None, n=0) if not whole else Cell(f"{part / whole:.1%}", part / whole, n=whole)


def probability(p: float | None) -> Cell:
    """Return a cell of a probability; very small ones in scientific form."""
    if p is None or p != p:
        return Cell("-", None)
    if p < 1e-300:
        return Cell("<1e-300", float(p))
    return Cell(f"{p:.3f}" if p >= 0.001 else f"{p:.1e}", float(p))


def estimate(found: Estimate, rank: int | None = None) -> Cell:
    """Return a cell of an estimate with its interval."""
    return Cell(str(found), found.value, found.low, found.high, found.n, found.n_null, rank)


def points(found: Estimate) -> Cell:
    """Return a cell of a difference of shares in points, with its sign and interval.

    Example:
        >>> points(Estimate(0.125, 8, 0, 0.1, 0.15)).text
        '+12.5 [+10.0, +15.0]'
    """
    if found.value is None:
        return Cell("-", None, n=found.n, n_null=found.n_null)
    low, high = (None if end is None else 100 * end for end in (found.low, found.high))
    interval = "" if low is None or high is None else f" [{low:+.1f}, {high:+.1f}]"
    return Cell(f"{100 * found.value:+.1f}{interval}", 100 * found.value, low, high, found.n, found.n_null)


def signed(found: Estimate) -> Cell:
    """Return a cell of a difference with its sign and interval."""
    if found.value is None:
        return Cell("-", None, n=found.n, n_null=found.n_null)
    interval = "" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]"
    return Cell(f"{found.value:+.3f}{interval}", found.value, found.low, found.high, found.n, found.n_null)


@dataclass(frozen=True)
class Table:
    """A table with notes below it and, where its rows may not be compared, warnings above it.

    Attributes:
        name: stem of its files, such as `table-5`.
        rows: one row a line, as many cells as `header`.
        sources: for each row the runs that its numbers come from (keys of the report's list of runs), or nothing.
        groups: titles and numbers of columns, after the first.
    """

    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    sources: Sequence[Sequence[str]] = ()
    groups: Mapping[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """Return the table for a terminal, one block of aligned columns for each group."""
        blocks, start = [], 1
        for title, size in (self.groups or {"": len(self.header) - 1}).items():
            blocks.append(f"{title}\n{self._block([0, *range(start, start + size)])}".lstrip())
            start += size
        notes = "\n".join([*(f"  WARNING: {line}" for line in self.warnings), *(f"  {note}" for note in self.notes)])
        return "\n\n".join([*blocks, notes] if notes else blocks)

    def markdown(self) -> str:
        """Return the table as GitHub Markdown: best bold, second best in italics."""
        lines = [f"### {markdown_text(self.title)}", ""]
        for warning in self.warnings:
            lines += [f"> **WARNING: {markdown_text(warning)}**", ""]
        body = [[_markdown_cell(cell) for cell in row] for row in self.rows]
        header = [markdown_text(text) for text in self.header]
        lines += ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *body]]
        return "\n".join([*lines, "", *(f"* {markdown_text(note)}" for note in self.notes)]).rstrip() + "\n"

    def latex(self) -> str:
        """Return a `table` environment for the `booktabs` package: best bold, second best underlined."""
        lines = [f"% {line}" for line in ("needs \\usepackage{booktabs}", *map(_one_line, self.warnings))]
        lines += [r"\begin{table}", r"\centering", rf"\caption{{{latex_text(self.title)}}}"]
        lines += [rf"\textbf{{Warning: {latex_text(warning)}}}\par" for warning in self.warnings]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}", r"\toprule"]
        lines += [" & ".join(map(latex_text, self.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(map(_latex_cell, row)) + r" \\" for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        lines += [rf"\par\footnotesize {latex_text(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}", ""])

    def csv(self) -> str:
        """Return the numbers in full: a column each for value, interval, n and undefined units where a column has them."""
        parts = [self._parts(at) for at in range(len(self.header))]
        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        names = [label + suffix for label, suffixes in zip(self.header, parts, strict=True) for suffix in suffixes]
        writer.writerow([*names, *(["runs"] if self.sources else []), *(["warning"] if self.warnings else [])])
        for index, row in enumerate(self.rows):
            values = [
                _csv_value(cell, suffix) for cell, suffixes in zip(row, parts, strict=True) for suffix in suffixes
            ]
            runs = [" ".join(self.sources[index])] if self.sources else []
            writer.writerow([*values, *runs, *([" / ".join(self.warnings)] if self.warnings else [])])
        return sink.getvalue()

    def _parts(self, at: int) -> list[str]:
        cells = [row[at] for row in self.rows]
        found = [""]
        if any(cell.low is not None for cell in cells):
            found += [" low", " high"]
        if any(cell.n is not None for cell in cells):
            found.append(" n")
        if any(cell.n_null is not None for cell in cells):
            found.append(" undefined")
        return found

    def _block(self, columns: Sequence[int]) -> str:
        lines = [[self.header[i] for i in columns], *([_marked(row[i]) for i in columns] for row in self.rows)]
        widths = [max(_width(line[i]) for line in lines) for i in range(len(columns))]
        lines.insert(1, ["-" * width for width in widths])
        return "\n".join(
            "  ".join(
                cell + " " * (width - _width(cell)) if i == 0 else " " * (width - _width(cell)) + cell
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )


def missing_table(rows: Sequence[tuple[str, str]]) -> list[Table]:
    """Return a table of what is not there and what it takes; nothing where nothing is missing."""
    cells = [[words(what), words(needs)] for what, needs in rows]
    return [Table("not-here", "What is not here, and what it takes", ["not here", "it takes"], cells)] if cells else []


def markdown_text(text: str) -> str:
    """Return a text in which no sign means anything to Markdown, on one line."""
    return _MARKDOWN.sub(r"\\\1", _one_line(text))


def latex_text(text: str) -> str:
    """Return a text in which no sign means anything to LaTeX, on one line."""
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(text))


def _one_line(text: str) -> str:
    return " ".join("".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text).split())


def _marked(cell: Cell) -> str:
    """Return a cell for a terminal: 1 for the best of its column, 2 for the second best."""
    text = _one_line(cell.text)
    return f"{text} ({cell.rank})" if cell.rank else text


def _markdown_cell(cell: Cell) -> str:
    text = markdown_text(cell.text) if isinstance(cell.value, str) else cell.text
    return {1: f"**{text}**", 2: f"*{text}*"}.get(cell.rank or 0, text)


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    return {1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(cell.rank or 0, text)


def _csv_value(cell: Cell, suffix: str) -> Any:
    found: Any = {
        "": cell.value,
        " low": cell.low,
        " high": cell.high,
        " n": cell.n,
        " undefined": cell.n_null,
    }[suffix]
    if isinstance(found, str) and found[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + found  # a spreadsheet would run it as a formula
    return "" if found is None else found


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0
        if unicodedata.combining(sign) or unicodedata.category(sign) == "Cf"
        else 2
        if unicodedata.east_asian_width(sign) in "WF"
        else 1
        for sign in text
    )
