"""Invented bundles in every form, for the tests of `hydrate`."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
FORMS = (
    "folder",
    "folder of gz",
    "file",
    "tar",
    "tgz",
    "tar of gz",
    "tgz of gz",
    "zip",
    "stored zip",
    "zip+tar",
    "zip+tgz",
    "stored zip+tar",
)


def identifier(key: object, length: int = 22) -> str:
    """Return an id as Yelp's look, the same for the same key."""
    digest = hashlib.sha512(str(key).encode()).digest()
    return "".join(ALPHABET[byte % 64] for byte in digest[:length])


def review(number: int, text: str | None = None, place: int | None = None, **changes: Any) -> dict[str, Any]:
    """Return a review row in the order of the real files."""
    draw = random.Random(number)
    return {
        "review_id": identifier(f"review {number}"),
        "user_id": identifier(f"user {number}"),
        "business_id": identifier(f"place {number % 7 if place is None else place}"),
        "stars": float(number % 5 + 1),
        "useful": draw.randrange(9),
        "funny": 0,
        "cool": draw.randrange(3),
        "text": f'Room {number} was so quiet.\nWe "slept" well.' if text is None else text,
        "date": "2018-07-07 22:09:11",
        **changes,
    }


def line(row: Mapping[str, Any], **options: Any) -> str:
    """Return a row as the real files have it: compact, ASCII, slashes escaped."""
    return json.dumps(row, separators=(",", ":"), **options).replace("/", "\\/")


def business(number: int) -> dict[str, Any]:
    """Return a short business row."""
    return {
        "business_id": identifier(f"place {number}"),
        "name": f"Inn {number}",
        "city": "Springfield",
        "attributes": None,
        "categories": "Hotels, Hotels & Travel",
    }


def tables(reviews: int = 50) -> dict[str, bytes]:
    """Return the bytes of a small bundle's tables."""
    return {
        "business": lines(line(business(number)) for number in range(7)),
        "review": lines(line(review(number)) for number in range(reviews)),
        "tip": lines(line({"text": "Go early", "likes": number}) for number in range(3)),
    }


def lines(rows: Iterable[str]) -> bytes:
    """Return rows as the bytes of a file."""
    return "".join(f"{row}\n" for row in rows).encode()


def write_bundle(
    folder: Path,
    form: str,
    content: Mapping[str, bytes] | None = None,
    *,
    order: Sequence[str] | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> Path:
    """Write a bundle in one of `FORMS` and return what to open."""
    content = tables() if content is None else content
    files = {f"data/yelp_academic_dataset_{table}.json": content[table] for table in order or content}
    files = {**(extra or {}), **files}
    folder.mkdir(parents=True, exist_ok=True)
    if form == "file":
        (folder / "review.json").write_bytes(content["review"])
        return folder / "review.json"
    if form.endswith(" of gz"):
        files = {f"{name}.gz": gzip.compress(data, 6, mtime=0) for name, data in files.items()}
    if form.startswith("folder"):
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return folder
    path = folder / "bundle"
    outer, _, inner = form.removesuffix(" of gz").partition("+")
    data = tar_bytes(files) if "tar" in form or "tgz" in form else b""
    if "tgz" in form:
        data = gzip.compress(data, 6, mtime=0)
    if "zip" in outer:
        method = zipfile.ZIP_STORED if "stored" in outer else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, each in (
                {"Dataset_Agreement.pdf": b"%PDF-1.4 terms", f"yelp.{inner}": data} if inner else files
            ).items():
                archive.writestr(name, each)
    else:
        path.write_bytes(data)
    return path


def tar_bytes(files: Mapping[str, bytes]) -> bytes:
    """Return a tar of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
