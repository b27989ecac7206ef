"""Writes a sample bundle: place by place to disk, in blocks, so that memory does not grow with its size."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, BinaryIO

from hydrate.errors import StorageError, UsageError
from trace_dataset.sample import archives, rows
from trace_dataset.sample.bank import Bank, load_bank
from trace_dataset.sample.clutter import clutter_count, make_clutter
from trace_dataset.sample.data import BANKS
from trace_dataset.sample.places import Place, identifier, make_place
from trace_dataset.sample.reviews import Writing, draw_stars, place_slots, write_review
from trace_dataset.streams import stream

Progress = Callable[[int, int], None]

TABLES = ("business", "checkin", "review", "tip", "user")
NOTE_NAME = "ABOUT-THIS-SAMPLE.txt"
_BLOCK = rows.CROWD_PLACES
_USERS_PER_CROWD = 40


@dataclass(frozen=True, slots=True)
class Order:
    """What to write."""

    places: int
    reviews_per_place: float
    seed: int
    bank: str


@dataclass(slots=True)
class Block:
    """Lines of some places, shuffled before they are written, since real files group nothing."""

    lines: dict[str, list[bytes]] = field(default_factory=lambda: {table: [] for table in TABLES})
    truth: list[bytes] = field(default_factory=list)


def write_sample(
    folder: str | Path,
    *,
    places: int = 240,
    reviews_per_place: float = 14,
    seed: int = 42,
    form: str = "folder",
    truth: str | Path | None = None,
    bank: str = "first",
    progress: Progress | None = None,
) -> Path:
    """Write a synthetic bundle in the exact format of the Yelp Open Dataset and return where it is.

    Places, people and sentences are invented; the file format, its quirks and the shares of its values are the real
    ones. Same arguments, same bytes. A larger sample holds every place and review of a smaller one.

    Args:
        folder: made if it does not exist. An earlier sample in it is replaced, anything else is left alone.
        places: usable places, at least 1, spread evenly over eight U.S. cities and three types (24 makes one each);
            other businesses come on top, one for about every five places.
        reviews_per_place: mean number of reviews of a usable place, at least 3; single places have 3 to about twice
            as many.
        seed: any integer.
        form: `folder` (five JSON files), `tar`, `tgz`, `zip` (as from Kaggle) or `yelp-zip` (a zip that holds a tar).
        truth: also write, to this path, a JSONL file that says for each review which sentence (start and end in code
            points) was meant to praise (+1), mention (0) or blame (-1) which aspect. For tests only.
        bank: `first` or `second`, two sets of sentences in different words.
        progress: called with the number of places done and their total.

    Returns:
        The folder, or the archive in it.

    Raises:
        UsageError: an argument out of range.
        StorageError: the disk refused, or a file of that name exists and is not from an earlier sample.

    Example:
        >>> import tempfile
        >>> sorted(path.name for path in write_sample(tempfile.mkdtemp(), places=24).glob("*_review.json"))
        ['yelp_academic_dataset_review.json']
    """
    _check(places, reviews_per_place, form, bank)
    order = Order(places, reviews_per_place, seed, bank)
    target = Path(folder).expanduser()
    try:
        target.mkdir(parents=True, exist_ok=True)
        _refuse_strangers(target, form)
        return _write(target, order, form, None if truth is None else Path(truth).expanduser(), progress)
    except OSError as error:
        raise StorageError(
            f"could not write the sample into {target}: {error}", do="choose a folder with room that you may write to"
        ) from error


def _check(places: int, reviews_per_place: float, form: str, bank: str) -> None:
    if places < 1:
        raise UsageError(f"places is {places}", do="give a number of places of at least 1; 240 is the default")
    if reviews_per_place < 3:
        raise UsageError(f"reviews_per_place is {reviews_per_place}", do="give at least 3, fewer make a place unusable")
    if form not in archives.FORMS:
        raise UsageError(f"no form {form!r} of a bundle", do=f"use one of: {', '.join(archives.FORMS)}")
    if bank not in BANKS:
        raise UsageError(f"no sentence bank {bank!r}", do=f"use one of: {', '.join(BANKS)}")


def _names(form: str) -> list[str]:
    if form == "folder":
        return [f"yelp_academic_dataset_{table}.json" for table in TABLES]
    return [archives.ARCHIVE_NAMES[form]]


def _refuse_strangers(target: Path, form: str) -> None:
    """Never replace what may be somebody's copy of the real files."""
    found = [name for name in _names(form) if (target / name).exists()]
    if found and not (target / NOTE_NAME).exists():
        raise StorageError(
            f"{target / found[0]} exists and is not from an earlier sample",
            do="choose another folder, or remove the file if you do not need it",
        )


def _write(target: Path, order: Order, form: str, truth: Path | None, progress: Progress | None) -> Path:
    working = target / ".sample.partial"
    shutil.rmtree(working, ignore_errors=True)
    working.mkdir()
    try:
        files = [working / f"yelp_academic_dataset_{table}.json" for table in TABLES]
        _write_files(dict(zip(TABLES, files, strict=True)), working / "truth", order, truth is not None, progress)
        if form != "folder":
            archive = working / archives.ARCHIVE_NAMES[form]
            archives.pack(files, form, archive)
            files = [archive]
        (target / NOTE_NAME).write_text(_note(order), encoding="ascii")
        for path in files:
            path.replace(target / path.name)
        if truth is not None:
            truth.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(working / "truth", truth)
    finally:
        shutil.rmtree(working, ignore_errors=True)
    return target if form == "folder" else target / archives.ARCHIVE_NAMES[form]


def _note(order: Order) -> str:
    return (
        f"Synthetic data in the format of the Yelp Open Dataset, written by trace_dataset.sample.\n"
        f"All places, people and reviews are invented.\n"
        f"places {order.places}, reviews per place {order.reviews_per_place}, seed {order.seed}, "
        f"sentence bank {order.bank}\n"
    )


def _write_files(
    paths: dict[str, Path], truth: Path, order: Order, with_truth: bool, progress: Progress | None
) -> None:
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {table: stack.enter_context(path.open("wb")) for table, path in paths.items()}
        truth_file = stack.enter_context(truth.open("wb")) if with_truth else None
        for number, (block, done) in enumerate(_blocks(order)):
            for table, lines in block.lines.items():
                stream(order.seed, "shuffle", number, table).shuffle(lines)
                files[table].writelines(lines)
            if truth_file is not None:
                truth_file.writelines(block.truth)
            if progress is not None:
                progress(done, order.places)


def _blocks(order: Order) -> Iterator[tuple[Block, int]]:
    used_names: dict[str, set[str]] = {}
    clutter_done = 0
    for start in range(0, order.places, _BLOCK):
        block, done = Block(), min(start + _BLOCK, order.places)
        for index in range(start, done):
            _place_lines(block, order, make_place(order.seed, index, used_names))
        wanted = clutter_count(done)
        for number in range(clutter_done, wanted):
            business = make_clutter(order.seed, number, used_names)
            block.lines["business"].append(rows.line(business.row))
            block.lines["review"].extend(rows.line(row) for row in business.reviews)
        clutter_done = wanted
        crowd = start // _BLOCK
        for number in range(_USERS_PER_CROWD):
            uniform = stream(order.seed, "user", crowd, number).random
            block.lines["user"].append(rows.line(rows.user_row(order.seed, crowd, number, uniform)))
        yield block, done


def _place_lines(block: Block, order: Order, place: Place) -> None:
    seed, index = order.seed, place.index
    bank = load_bank(order.bank, place.poi_type)
    slots = place_slots(bank, place)
    crowd = index // _BLOCK
    ratings = []
    for number in range(review_count(order.reviews_per_place, stream(seed, "review count", index))):
        uniform = stream(seed, "review", index, number).random
        stars = draw_stars(place, uniform)
        writing = write_review(bank, slots, place, stars, uniform)
        review = identifier(seed, "review", index, number)
        ratings.append(stars)
        block.lines["review"].append(
            rows.line(rows.review_row(seed, place.business_id, review, crowd, stars, writing.text, uniform))
        )
        block.truth.append(_truth_line(review, place.business_id, writing))
    uniform = stream(seed, "business", index).random
    block.lines["business"].append(rows.line(rows.business_row(place, ratings, uniform)))
    _small_lines(block, order, place, bank, uniform)


def _small_lines(block: Block, order: Order, place: Place, bank: Bank, uniform: Callable[[], float]) -> None:
    crowd = place.index // _BLOCK
    if uniform() < 0.25:
        writing = write_review(bank, place_slots(bank, place), place, 4, uniform)
        text = writing.text[: writing.marks[0].end]
        block.lines["tip"].append(rows.line(rows.tip_row(order.seed, place.business_id, crowd, text, uniform)))
    if uniform() < 0.3:
        block.lines["checkin"].append(rows.line(rows.checkin_row(place.business_id, uniform)))


def review_count(mean: float, draws: Random) -> int:
    """Return a number of reviews from 3 to about twice the mean, small numbers more often, with that mean."""
    span = 2.2 * mean - 3
    share = (mean - 3) / span
    if share <= 0:
        return 3
    return 3 + int(span * draws.random() ** (1 / share - 1) + 0.5)


def _truth_line(review: str, business: str, writing: Writing) -> bytes:
    sentences: list[dict[str, Any]] = [
        {"start": mark.start, "end": mark.end, "aspect": mark.aspect, "polarity": mark.polarity}
        for mark in writing.marks
    ]
    row = {"review_id": review, "business_id": business, "sentences": sentences}
    return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"
