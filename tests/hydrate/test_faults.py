"""Whatever is wrong with a bundle: one clear error, or the right result; never a wrong one."""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import hydrate
from hydrate import BundleError, TraceError, formats, streams
from tests.hydrate.helpers import FORMS, line, lines, review, tables, tar_bytes, write_bundle

WANTED = [review(number)["review_id"] for number in (0, 7, 49)]
FOUND = [review(number)["text"] for number in (0, 7, 49)]


def by_id(path: Path) -> list[str]:
    return [record.text for record in hydrate.open_bundle(path).reviews(review_ids=WANTED)]


def refused(path: Path, pattern: str, read: Callable[[Path], object] = by_id) -> str:
    """Check that a path is refused with a message of ours, and return it."""
    with pytest.raises(BundleError, match=pattern) as caught:
        read(path)
    assert caught.value.do
    assert "so quiet" not in str(caught.value)
    return str(caught.value)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", "nothing does not exist")


def test_a_folder_without_reviews(tmp_path: Path) -> None:
    (tmp_path / "business.json").write_bytes(tables()["business"])
    refused(tmp_path, r"holds no review\.json")


def test_a_file_cut_off_in_the_middle_of_a_line(tmp_path: Path) -> None:
    data = tables(20)["review"]
    last = data.rindex(b"{")
    path = tmp_path / "review.json"
    for cut in (*range(last + 1, len(data) - 2, 7), len(data) - 2):
        path.write_bytes(data[:cut])
        refused(tmp_path, r"review\.json line 20: .*cut off")
        refused(tmp_path, "line 20", lambda where: list(hydrate.open_bundle(where).rows("review")))
    path.write_bytes(data[:-1])
    assert by_id(tmp_path) == FOUND[:2]


@pytest.mark.parametrize("form", ["folder", "tar", "tgz", "zip"])
@pytest.mark.parametrize("bad", [b"hello", b"[1]", b"\0" * 99, b'{"review_id":"\xff"}', b'{"review_id":"a}'])
def test_a_line_that_is_not_json_is_named(form: str, bad: bytes, tmp_path: Path) -> None:
    content = tables()["review"].split(b"\n")
    content[12] = bad
    path = write_bundle(tmp_path, form, {"review": b"\n".join(content)})
    refused(path, r"review\.json line 13: not ")
    refused(path, "line 13", lambda where: list(hydrate.open_bundle(where).review_keys([review(1)["business_id"]])))


@pytest.mark.parametrize("text", ["missing", None, 7])
def test_a_review_without_text(text: object, tmp_path: Path) -> None:
    row = review(7, text="")
    if text == "missing":
        del row["text"]
    else:
        row["text"] = text
    content = lines([line(review(0)), line(row)])
    path = write_bundle(tmp_path, "folder", {"review": content})
    refused(path, rf"line 2: review {row['review_id']} has no text")
    refused(path, "has no text", lambda where: list(hydrate.open_bundle(where).review_keys([row["business_id"]])))
    assert len(list(hydrate.open_bundle(path).reviews(review_ids=WANTED[:1]))) == 1


def noticed(read: Callable[[Path], object], path: Path, right: object) -> bool:
    """Return whether a read is refused; if it is not, what it gives must be right."""
    try:
        assert read(path) == right
    except BundleError as error:
        return bool(error.do)
    return False


def n_tips(path: Path) -> int:
    return hydrate.open_bundle(path).fingerprint().tables["tip"].rows


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("folder", "file")])
def test_a_cut_at_any_byte_is_noticed(form: str, tmp_path: Path) -> None:
    whole = write_bundle(tmp_path, form)
    path = next((tmp_path / "data").glob("*review*")) if whole.is_dir() else whole
    data = path.read_bytes()
    draw = random.Random(form)
    cuts = {*range(min(64, len(data))), *draw.sample(range(len(data)), 60), *(len(data) - n for n in range(1, 40))}
    cuts |= {edge + shift for edge in range(0, len(data), 512) for shift in (0, 1) if form == "tar"}
    for cut in sorted(cuts - {len(data)}):
        path.write_bytes(data[:cut])
        os.utime(path, ns=(cut, cut))
        noticed(n_tips, whole, 3)
        if not noticed(by_id, whole, FOUND):
            assert form.startswith("tar"), cut
            assert not any(data[cut:]), cut  # only what pads the end may be missing without a word


@pytest.mark.parametrize("form", ["folder of gz", "tgz", "zip", "stored zip", "zip+tgz"])
def test_damage_at_any_byte_is_noticed(form: str, tmp_path: Path) -> None:
    whole = write_bundle(tmp_path, form)
    path = next((tmp_path / "data").glob("*review*")) if whole.is_dir() else whole
    data = path.read_bytes()
    digest = hydrate.open_bundle(whole).fingerprint().digest
    for position in random.Random(form).sample(range(len(data)), 120):
        damaged = bytearray(data)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        os.utime(path, ns=(position, position))
        noticed(by_id, whole, FOUND)
        noticed(lambda where: hydrate.open_bundle(where).fingerprint().digest, whole, digest)


@pytest.mark.parametrize("form", ["review.json.gz", "tgz", "tar of gz", "zip of tgz", "zip"])
@pytest.mark.parametrize("field", ["none", "checksum", "size"])
def test_a_wrong_checksum_or_size_is_noticed(form: str, field: str, tmp_path: Path) -> None:
    def packed(data: bytes) -> bytes:
        stream = bytearray(gzip.compress(data))
        stream[{"checksum": -8, "size": -4}.get(field, -1)] ^= field != "none"
        return bytes(stream)

    def zipped(name: str, data: bytes, method: int) -> bytes:
        with zipfile.ZipFile(buffer := io.BytesIO(), "w", method) as archive:
            archive.writestr(name, data)
        return buffer.getvalue()

    review_table = tables()["review"]
    tgz = packed(tar_bytes({"review.json": review_table}))
    data = {
        "review.json.gz": packed(review_table),
        "tgz": tgz,
        "tar of gz": tar_bytes({"review.json.gz": packed(review_table)}),
        "zip of tgz": zipped("yelp.tgz", tgz, zipfile.ZIP_STORED),
        "zip": bytearray(zipped("review.json", review_table, zipfile.ZIP_DEFLATED)),
    }[form]
    if isinstance(data, bytearray):
        data[data.index(b"PK\x01\x02") + {"checksum": 16, "size": 24}.get(field, 0)] ^= field != "none"
    path = tmp_path / ("review.json.gz" if form == "review.json.gz" else "bundle")
    path.write_bytes(data)
    if field == "none":
        assert by_id(path) == FOUND
    else:
        refused(path, "damaged or cut off")


@pytest.mark.parametrize("form", ["folder", "tgz", "zip"])
@pytest.mark.parametrize("change", ["longer", "touched", "replaced", "gone"])
def test_a_file_changed_while_it_is_read(form: str, change: str, tmp_path: Path) -> None:
    path = write_bundle(tmp_path, form, tables(3000))
    file = path / "data/yelp_academic_dataset_review.json" if path.is_dir() else path
    bundle = hydrate.open_bundle(path)
    reviews = bundle.reviews(review_ids=WANTED)
    next(reviews)
    status = file.stat()
    if change == "longer":
        with file.open("ab") as stream:
            stream.write(b"\n")
        os.utime(file, ns=(status.st_mtime_ns, status.st_mtime_ns))
    elif change == "touched":
        os.utime(file, ns=(1, 1))
    elif change == "replaced":
        (tmp_path / "other").write_bytes(file.read_bytes())
        os.utime(tmp_path / "other", ns=(status.st_mtime_ns, status.st_mtime_ns))
        (tmp_path / "other").replace(file)
    else:
        file.unlink()
    with pytest.raises(BundleError, match="changed while it was read"):
        list(reviews)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, "folder", tables(3000))
    bundle = hydrate.open_bundle(path)
    rows = bundle.rows("review")
    next(rows)
    os.truncate(path / "data/yelp_academic_dataset_review.json", 300_000)
    with pytest.raises(BundleError, match=r"cut off|changed"):
        list(rows)


def with_member(name: str, kind: bytes, target: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        archive.addfile(member)
        data = tables()["review"]
        member = tarfile.TarInfo("review.json")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name, kind, target, what",
    [
        ("a/link.json", tarfile.SYMTYPE, "/etc/passwd", "link"),
        ("hard.json", tarfile.LNKTYPE, "review.json", "link"),
        ("/etc/x.json", tarfile.REGTYPE, "", "absolute name"),
        ("C:\\x.json", tarfile.REGTYPE, "", "absolute name"),
        ("../../x.json", tarfile.REGTYPE, "", r"name with '\.\.'"),
        ("a/../x", tarfile.REGTYPE, "", r"name with '\.\.'"),
        ("pipe", tarfile.FIFOTYPE, "", "device"),
    ],
)
def test_unsafe_members_are_refused_by_name(name: str, kind: bytes, target: str, what: str, tmp_path: Path) -> None:
    data = with_member(name, kind, target)
    (tmp_path / "plain").write_bytes(data)
    (tmp_path / "packed").write_bytes(gzip.compress(data))
    for path in (tmp_path / "plain", tmp_path / "packed"):
        assert repr(name) in refused(path, what)
    if kind in (tarfile.REGTYPE, tarfile.SYMTYPE):
        with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if kind == tarfile.SYMTYPE else 0o100644) << 16
            archive.writestr(info, b"x")
            archive.writestr("review.json", tables()["review"])
        refused(tmp_path / "zip", what)


@pytest.mark.parametrize("form", ["tgz", "zip", "folder of gz", "zip+tgz"])
def test_a_compression_bomb_stops(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_bundle(tmp_path, form, {"review": line(review(0, text="a" * 9_000_000)).encode() + b"\n"})
    assert len(list(hydrate.open_bundle(path).rows("review"))) == 1
    monkeypatch.setattr(streams, "_RATIO_MATTERS", 1 << 20)
    refused(path, "compression bomb")
    monkeypatch.setattr(streams, "MOST_RATIO", 10**9)
    monkeypatch.setattr(streams, "MOST_BYTES", 2 << 20)
    refused(path, "compression bomb")


@pytest.mark.parametrize("form", ["folder", "tar", "tgz", "zip"])
def test_two_files_for_one_table(form: str, tmp_path: Path) -> None:
    path = write_bundle(tmp_path, form, extra={"sample/review.json": tables()["review"]})
    message = refused(path, "more than one review table")
    assert "sample/review.json" in message
    assert "yelp_academic_dataset_review.json" in message


@pytest.mark.parametrize(
    "data, what",
    [
        (b"", "it is empty"),
        (b"%PDF-1.7", "a PDF"),
        (b"<!DOCTYPE html>", "login page"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x80\x81\x82", "80 81 82"),
        (b'{"a":1}', "JSON, but its name"),
        (gzip.compress(b"nothing", mtime=0), "none we know"),
    ],
)
def test_what_is_no_bundle_is_named(data: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(data)
    refused(tmp_path / "bundle.zip", what)


def test_archives_in_archives_in_archives(tmp_path: Path) -> None:
    data = tar_bytes({"review.json": tables()["review"]})
    for depth in range(1, 6):
        path = tmp_path / str(depth)
        path.write_bytes(data)
        if depth <= formats.DEEPEST:
            assert by_id(path) == FOUND
        else:
            refused(path, "archives deep")
        data = tar_bytes({"inner": data})
    (tmp_path / "z").write_bytes(write_bundle(tmp_path / "b", "zip").read_bytes())
    with zipfile.ZipFile(tmp_path / "zz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "z", "inner.zip")
    refused(tmp_path / "zz", "a zip inside something compressed")


def test_a_zip_of_a_nameless_tar(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", tar_bytes({"review.json": tables()["review"]}))
    assert by_id(tmp_path / "bundle.zip") == FOUND


def test_every_error_is_a_value_error() -> None:
    assert issubclass(BundleError, TraceError)
    assert issubclass(TraceError, ValueError)
