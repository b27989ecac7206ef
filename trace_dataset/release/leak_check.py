"""The leak guard over a folder: every text in every file, before anything is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
from rapidfuzz import fuzz, process

from hydrate.errors import BundleError, LicensedTextError
from trace_dataset.leaks import RunFinder
from trace_dataset.scoring.text import extract_quotes, normalize_text

QUOTED = 80.0  # of 100: a quoted span as like a review as this is a quote of it
SHORTEST_QUOTE = 3  # tokens
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Leak:
    """A run of review text: in which file, row and column, how many words, of which review. Never the words themselves."""

    file: str
    row: int
    column: str
    words: int
    review_id: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}, {self.column}: {self.words} words of review {self.review_id}"


def find_leaks(
    folder: Path,
    finder: RunFinder,
    progress: Callable[[int, int], None] | None = None,
    shortest_quote: int = SHORTEST_QUOTE,
) -> list[Leak]:
    """Return every place in a folder where review text stands.

    Looked for are runs of eight words, whatever their case, spacing and punctuation, and whatever stands in double quotes
    and matches a review at 0.80 or more. Every string is looked at: of parquet and JSON files each value, of others each
    line. Raises `BundleError` for a file that cannot be read, since what cannot be read cannot be cleared.

    Args:
        shortest_quote: tokens of a quoted span that is compared; records take the default, code takes more, since a short
            string of a program matches some review by chance.
    """
    reviews = {review_id: normalize_text(text) for review_id, text in finder.texts.items()}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    quotes: dict[str, tuple[str, int] | None] = {}
    leaks = []
    for number, path in enumerate(files, 1):
        for row, column, text in _texts(path):
            run = finder.any_run(text)
            if run is not None:
                words = len(text[run.start : run.end].split())
                leaks.append(Leak(path.relative_to(folder).as_posix(), row, column, words, run.review_id))
                continue
            for quote in extract_quotes(text, shortest_quote):
                if quote not in quotes:
                    quotes[quote] = _quoted_review(quote, reviews)
                found = quotes[quote]
                if found is not None:
                    leaks.append(Leak(path.relative_to(folder).as_posix(), row, column, found[1], found[0]))
        if progress is not None:
            progress(number, len(files))
    return leaks


def refuse_leaks(leaks: list[Leak]) -> None:
    """Raise one `LicensedTextError` that counts the leaks and names the first of them."""
    if leaks:
        first = "; ".join(str(leak) for leak in leaks[:SHOWN])
        raise LicensedTextError(
            f"review text stands in {len(leaks):,} places that would be published, first: {first}",
            do="remove these texts, or build the release again; nothing was published",
        )


def _quoted_review(quote: str, reviews: dict[str, str]) -> tuple[str, int] | None:
    plain = normalize_text(quote)
    best = process.extractOne(plain, reviews, scorer=fuzz.partial_ratio, processor=None, score_cutoff=QUOTED)
    if best is None or len(plain) > len(best[0]):
        return None
    return str(best[2]), len(plain.split())


def _texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and text of every string in a file."""
    try:
        if path.suffix == ".parquet":
            for row, values in enumerate(pq.read_table(path).to_pylist()):
                yield from _strings(row, "", values)
        elif path.suffix == ".json":
            yield from _strings(0, "", orjson.loads(path.read_bytes()))
        elif path.suffix == ".jsonl":
            for row, line in enumerate(path.read_bytes().splitlines()):
                yield from _strings(row, "", orjson.loads(line))
        else:
            text = path.read_text(encoding="utf-8")
            yield 0, "text", text  # a run may go over a line's end
    except (OSError, ValueError) as error:
        raise BundleError(
            f"{path} cannot be read, so it cannot be cleared for publication: {type(error).__name__}",
            do="remove it, or mend it",
        ) from error


def _strings(row: int, column: str, value: Any) -> Iterator[tuple[int, str, str]]:
    if isinstance(value, str):
        yield row, column or "text", value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield row, f"{column} (key)" if column else "key", str(name)
            yield from _strings(row, f"{column}.{name}" if column else str(name), item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(row, column, item)
