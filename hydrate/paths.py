"""Hydrating what lies on disk: a release folder, or one file of records; the same comes out, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydrate.bundle import Bundle, open_bundle
from hydrate.cache import local_path
from hydrate.dehydration import dehydrate
from hydrate.errors import BundleError, HydrationError, UsageError
from hydrate.hydration import ON_MISMATCH, changed_texts, fill, text_ids
from hydrate.report import HydrationReport, mismatch
from hydrate.shapes import Row, Shape, located, shape_of, string, whole
from hydrate.sources import SourceTexts, gather
from hydrate.spans import AMBIGUOUS_ID, MISSING, REVIEW_CHANGED, VERIFIED, span_sha256
from hydrate.tables import read_rows, write_rows
from hydrate.writing import refuse_existing, storing, whole_file, whole_folder

Progress = Callable[[int, int], None]
Source = Bundle | Mapping[str, str] | str | os.PathLike[str]
REVIEWS, MANIFEST, REPORT = "reviews.parquet", "manifest.json", "hydration.json"
_LEFT_OUT = (MANIFEST, "croissant.json", REPORT)  # these describe the files as they were
_WARNING = (
    "\n> This copy is hydrated: it holds licensed text. Keep it to yourself; publish the release it was made from.\n"
)


@dataclass
class _Files:
    """What is to be hydrated: files of records, and the reviews table beside them."""

    records: dict[Path, list[Row]]
    reviews: list[Row]
    shape: Shape

    def wanted(self) -> list[str]:
        ids = [each for rows in self.records.values() for each in text_ids(rows, self.shape)]
        return [*ids, *self.hashes()]

    def hashes(self) -> dict[str, tuple[int, str]]:
        hashes = {}
        for position, row in enumerate(self.reviews):
            with located(f"review {position} of the reviews table"):
                hashes[string(row, "review_id")] = whole(row, "n_chars"), string(row, "sha256")
        return hashes


def hydrate_path(
    source: str | os.PathLike[str],
    bundle: Source,
    out: str | os.PathLike[str] | None = None,
    *,
    on_mismatch: str = "error",
    fields: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> HydrationReport:
    """Hydrate a release folder, or a parquet or JSON-lines file of dialogues or other records.

    Args:
        source: a release folder (`dialogues/*.parquet`, `reviews.parquet`, …), or one file.
        bundle: an opened bundle or its path, or id to text.
        out: what to write, of the same form as `source`; must not exist. None only verifies.
        on_mismatch: as for `hydrate`.
        fields: of a file of flat records, the fields that hold text.
        progress: called with bytes done and bytes in all while the bundle is read.

    Returns:
        The report; it is also written into a release folder as `hydration.json`.

    Raises:
        HydrationError: under `error`, when anything cannot be verified; nothing is written.
        BundleError: the source or the bundle cannot be read, or a file differs from the release's manifest.
        StorageError: the disk refused.

    Example:
        >>> hydrate_path("trace-release", "~/Yelp-JSON.zip", "trace-hydrated")  # doctest: +SKIP
    """
    where, target = local_path(source), None if out is None else local_path(out)
    if on_mismatch not in ON_MISMATCH:
        raise UsageError(f"on_mismatch={on_mismatch!r} does not exist", do=f"use one of: {', '.join(ON_MISMATCH)}")
    if target is not None:
        refuse_existing(target)
        if where.resolve() in target.resolve().parents:
            raise UsageError(f"{target} lies inside the release, which may be published", do="write it elsewhere")
    files = _read(where, fields)
    opened = bundle if isinstance(bundle, (Bundle, Mapping)) else open_bundle(bundle)
    texts = gather(opened, files.wanted(), progress)
    report = HydrationReport(
        reviews_wanted=texts.wanted,
        reviews_found=len(texts.texts),
        repeated_ids=texts.repeated,
        replaced_surrogates=texts.replaced_surrogates,
    )
    changed = changed_texts(texts.texts, files.hashes())
    filled = {
        path: fill(rows, files.shape, texts, on_mismatch, report, changed) for path, rows in files.records.items()
    }
    reviews = [_with_text(row, texts, report) for row in files.reviews]
    if on_mismatch == "error" and not report.ok:
        raise _explained(mismatch(report), where, opened)
    if target is not None:
        with storing(target):
            if where.is_dir():
                _write_folder(where, target, filled, reviews, report)
            else:
                with whole_file(target) as part:
                    write_rows(part, reviews or next(iter(filled.values())), where)
    return report


def dehydrate_path(
    source: str | os.PathLike[str],
    texts: Mapping[str, str],
    out: str | os.PathLike[str],
    *,
    fields: Sequence[str] | str | None = None,
    on_altered: str = "replace",
) -> int:
    """Take licensed text out of a file of dialogues or of flat records; returns how many records were written.

    A parquet file of flat records that has no `quotes` column yet comes out as parquet with one.
    """
    where, target = local_path(source), local_path(out)
    refuse_existing(target)
    rows = dehydrate(_some(read_rows(where), where), texts, fields=fields, on_altered=on_altered)
    with storing(target), whole_file(target) as part:
        write_rows(part, rows, where)
    return len(rows)


def _read(where: Path, fields: Sequence[str] | str | None) -> _Files:
    if where.is_dir():
        paths = sorted((where / "dialogues").glob("*.parquet"))
        if not paths:
            raise BundleError(
                f"{where} is no release folder: it holds no dialogues/*.parquet",
                do="give a folder that `trace-dataset build` wrote, or one file of records",
            )
        if (where / REPORT).exists():
            raise UsageError(f"{where} is hydrated already: it holds {REPORT}", do="give the release it was made from")
        _check_manifest(where)
        table = where / REVIEWS
        records = {path: read_rows(path) for path in paths}
        _some([row for rows in records.values() for row in rows], where)
        return _Files(records, read_rows(table) if table.exists() else [], shape_of(None))
    rows = _some(read_rows(where), where)
    if fields is None and "turns" not in rows[0]:
        if {"review_id", "n_chars", "sha256"} <= rows[0].keys():
            return _Files({}, rows, shape_of(None))
        raise UsageError(
            f"{where} holds no dialogues: a record has {', '.join(sorted(rows[0]))}",
            do="name the fields that hold text with fields=… (--fields)",
        )
    return _Files({where: rows}, [], shape_of(fields, rows))


def _some(rows: list[Row], where: Path) -> list[Row]:
    """Return records; raises `BundleError` for none, which would pass for all verified."""
    if not rows:
        raise BundleError(f"{where} holds no records", do="give the file that was released")
    return rows


def _check_manifest(folder: Path) -> None:
    """Raise `BundleError` where a file is not what the manifest says it was."""
    files = _manifest(folder).get("files")
    for name, wanted in files.items() if isinstance(files, dict) else ():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BundleError(
                f"{folder / name} cannot be read: {error.strerror}", do="download the release again"
            ) from None
        if found != wanted:
            raise BundleError(f"{folder / name} differs from its SHA256 in {MANIFEST}", do="download the release again")


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        values = json.loads(path.read_bytes())
    except ValueError as error:
        raise BundleError(f"{path} is not JSON: {error}", do="download the release again") from None
    return values if isinstance(values, dict) else {}


def _with_text(row: Row, texts: SourceTexts, report: HydrationReport) -> Row:
    """Return a row of the reviews table with its text, if it is the text that was hashed."""
    key, text = row["review_id"], None
    if key in texts.ambiguous:
        status = AMBIGUOUS_ID
    elif key not in texts.texts:
        status = MISSING
    else:
        text = texts.texts[key][: row["n_chars"]]
        status = VERIFIED if span_sha256(text) == row["sha256"] else REVIEW_CHANGED
    report.table[status] = report.table.get(status, 0) + 1
    return {**row, "text": text if status == VERIFIED else None}


def _explained(error: HydrationError, where: Path, source: Bundle | Mapping[str, str]) -> HydrationError:
    """Say in the error whether the release was made from this bundle."""
    made_from = _manifest(where).get("bundle_fingerprint") if where.is_dir() else None
    if not isinstance(made_from, str) or not isinstance(source, Bundle):
        return error
    given = source.fingerprint().digest
    same = "this very bundle" if given == made_from else f"bundle {made_from[:12]}, yours is {given[:12]}"
    explained = HydrationError(f"{error.what}\n  the release was made from {same}", do=error.do)
    explained.report = error.report
    return explained


def _write_folder(
    where: Path, target: Path, filled: Mapping[Path, list[Row]], reviews: list[Row], report: HydrationReport
) -> None:
    with whole_folder(target) as part:
        (part / ".gitignore").write_text("# hydrated: licensed text, not to be published\n*\n")
        for file in sorted(where.rglob("*")):
            name = file.relative_to(where)
            if not file.is_file() or name.name in _LEFT_OUT or any(each.startswith(".") for each in name.parts):
                continue
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            if file in filled:
                write_rows(part / name, filled[file], file)
            elif name == Path(REVIEWS):
                write_rows(part / name, reviews, file)
            else:
                shutil.copyfile(file, part / name)
        readme = part / "README.md"
        if readme.exists():
            readme.write_bytes(readme.read_bytes() + _WARNING.encode())
        (part / REPORT).write_text(report.to_json() + "\n")
