"""Packs the five files the ways Yelp and Kaggle do, the same bytes every time."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
import zipfile
from pathlib import Path

FORMS = ("folder", "tar", "tgz", "zip", "yelp-zip")
ARCHIVE_NAMES = {
    "tar": "yelp_dataset.tar",
    "tgz": "yelp_dataset.tgz",
    "zip": "archive.zip",
    "yelp-zip": "Yelp-JSON.zip",
}

_MOMENT = 1_643_673_600  # 2022-02-01, as a Unix time
_MOMENT_FIELDS = (2022, 2, 1, 0, 0, 0)
_AGREEMENT = "Yelp JSON/Dataset_User_Agreement.pdf"
_BUFFER = 1 << 20


def pack(files: list[Path], form: str, target: Path) -> None:
    """Write an archive of the files to `target`.

    The compressed forms are the same bytes under the same zlib; their content is the same everywhere.
    """
    if form == "tar":
        with target.open("wb") as out:
            _tar(files, out)
    elif form == "tgz":
        with target.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, _MOMENT) as out:
            _tar(files, out)
    elif form == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            for path in files:
                _add(archive, path, path.name)
    else:
        inner = target.with_name(target.name + ".tar.partial")
        pack(files, "tar", inner)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            archive.writestr(_entry(_AGREEMENT), _agreement())
            _add(archive, inner, "Yelp JSON/yelp_dataset.tar")
        inner.unlink()


def _tar(files: list[Path], out: io.BufferedIOBase | gzip.GzipFile) -> None:
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT, bufsize=_BUFFER) as archive:
        for path in files:
            member = tarfile.TarInfo(path.name)
            member.size, member.mtime, member.mode = path.stat().st_size, _MOMENT, 0o644
            with path.open("rb") as content:
                archive.addfile(member, content)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT_FIELDS)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    entry = _entry(name)
    entry.file_size = path.stat().st_size  # decides on the 64-bit form of large members
    with path.open("rb") as content, archive.open(entry, "w") as out:
        shutil.copyfileobj(content, out, _BUFFER)


def _agreement() -> bytes:
    """Return a one-page PDF that stands where Yelp's agreement stands."""
    text = b"BT /F1 12 Tf 72 720 Td (Synthetic sample: invented places and reviews, no agreement applies.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + (
        b"xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (table, len(out))
    )
