"""One bundle in every form reads the same."""

from __future__ import annotations

import json
import pickle
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hydrate
from hydrate import BundleError
from tests.hydrate.helpers import FORMS, identifier, line, lines, review, tables, tar_bytes, write_bundle

MULTIPLE = [form for form in FORMS if form != "file"]


@pytest.fixture(scope="module", params=FORMS)
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> hydrate.Bundle:
    return hydrate.open_bundle(write_bundle(tmp_path_factory.mktemp("bundle"), request.param))


def test_rows_are_those_of_the_file(bundle: hydrate.Bundle) -> None:
    assert list(bundle.rows("review")) == [review(number) for number in range(50)]


def test_reviews_by_id_come_whole_and_in_order(bundle: hydrate.Bundle) -> None:
    wanted = [review(number) for number in (3, 30, 41)]
    found = list(bundle.reviews(review_ids={row["review_id"] for row in reversed(wanted)} | {identifier("absent")}))
    assert found == [(row["review_id"], row["business_id"], row["text"], row["stars"]) for row in wanted]


def test_reviews_by_place_and_both_filters(bundle: hydrate.Bundle) -> None:
    places = {identifier("place 2"), identifier("place 5")}
    of_places = [row for row in map(review, range(50)) if row["business_id"] in places]
    assert [record.review_id for record in bundle.reviews(business_ids=places)] == [r["review_id"] for r in of_places]
    both = bundle.reviews(review_ids=[review(2)["review_id"], review(3)["review_id"]], business_ids=places)
    assert [record.review_id for record in both] == [review(2)["review_id"]]
    assert len(list(bundle.reviews())) == 50
    assert list(bundle.reviews(review_ids=[])) == []


def test_review_keys_are_pairs(bundle: hydrate.Bundle) -> None:
    place = identifier("place 4")
    assert list(bundle.review_keys([place])) == [
        (row["review_id"], place) for row in map(review, range(50)) if row["business_id"] == place
    ]


@pytest.mark.parametrize("form", MULTIPLE)
def test_fingerprint_and_members_are_those_of_a_folder(form: str, tmp_path: Path) -> None:
    plain = hydrate.open_bundle(write_bundle(tmp_path / "plain", "folder"))
    bundle = hydrate.open_bundle(write_bundle(tmp_path / "other", form, order=["tip", "review", "business"]))
    assert bundle.fingerprint() == plain.fingerprint()
    assert [(m.table, m.bytes) for m in bundle.members] == [(t, len(data)) for t, data in sorted(tables().items())]
    assert bundle.fingerprint().tables["review"].rows == 50
    assert bundle.kind == form.replace("stored ", "").replace(" of gz", "")


def test_a_business_table_is_read_in_its_order(tmp_path: Path) -> None:
    bundle = hydrate.open_bundle(write_bundle(tmp_path, "zip+tgz"))
    assert [row["name"] for row in bundle.rows("business")] == [f"Inn {number}" for number in range(7)]
    with pytest.raises(BundleError, match=r"holds no user\.json"):
        list(bundle.rows("user"))


@pytest.mark.parametrize("form", ["folder", "tgz", "zip", "zip+tar"])
def test_what_a_mac_leaves_behind_is_ignored(form: str, tmp_path: Path) -> None:
    litter = {
        "__MACOSX/data/._yelp_academic_dataset_review.json": b"\0\5\x16\7" * 20,
        "data/._yelp_academic_dataset_review.json": b"\0\5\x16\7" * 20,
        ".DS_Store": b"Bud1",
        "readme.txt": b"hi",
    }
    bundle = hydrate.open_bundle(write_bundle(tmp_path, form, extra=litter))
    assert len(list(bundle.reviews())) == 50


@pytest.mark.parametrize("form", ["folder", "tgz", "zip"])
def test_one_byte_order_mark_is_stripped_and_no_other(form: str, tmp_path: Path) -> None:
    marked = review(0, text="\ufeffquiet\ufeff")
    content = {"review": b"\xef\xbb\xbf" + lines([line(marked, ensure_ascii=False), line(review(1))])}
    bundle = hydrate.open_bundle(write_bundle(tmp_path, form, content))
    wanted = [marked["review_id"]]
    assert [record.text for record in bundle.reviews(review_ids=wanted)] == ["\ufeffquiet\ufeff"]
    assert [row["text"] for row in bundle.rows("review")] == ["\ufeffquiet\ufeff", review(1)["text"]]
    twice = {"review": b"\xef\xbb\xbf" + content["review"]}
    with pytest.raises(BundleError, match="line 1"):
        list(hydrate.open_bundle(write_bundle(tmp_path / "b", form, twice)).reviews(review_ids=wanted))


def test_a_bundle_can_be_sent_to_another_process(tmp_path: Path) -> None:
    for form in ("folder of gz", "tgz", "zip"):
        bundle = pickle.loads(pickle.dumps(hydrate.open_bundle(write_bundle(tmp_path / form, form))))
        assert len(list(bundle.reviews())) == 50


READS: dict[str, Callable[[hydrate.Bundle, Any], Any]] = {
    "reviews": lambda bundle, progress: list(bundle.reviews(review_ids=[review(1)["review_id"]], progress=progress)),
    "rows": lambda bundle, progress: list(bundle.rows("review", progress)),
    "fingerprint": lambda bundle, progress: bundle.fingerprint(progress),
}


@pytest.mark.parametrize("read", READS)
def test_progress_reaches_the_whole(bundle: hydrate.Bundle, read: str) -> None:
    seen: list[tuple[int, int]] = []
    READS[read](bundle, lambda *done: seen.append(done))
    assert seen
    assert all(0 <= done <= total for done, total in seen)
    assert sorted(seen) == seen
    assert read != "rows" or seen[-1][0] == seen[-1][1]


def test_identical_repeats_merge_and_conflicting_ones_raise_only_when_asked_for(tmp_path: Path) -> None:
    rows = [review(0), review(1), review(1), review(2), review(2, text="other words")]
    bundle = hydrate.open_bundle(write_bundle(tmp_path, "folder", {"review": lines(map(line, rows))}))
    ids = [row["review_id"] for row in rows]
    assert len(list(bundle.reviews(review_ids=ids[:2]))) == 2
    assert bundle.repeated_reviews == 1
    with pytest.raises(BundleError, match=rf"{ids[3]} stands twice .*lines 4, 5"):
        list(bundle.reviews(review_ids=ids))
    conflicts: set[str] = set()
    assert len(list(bundle.reviews(review_ids=ids, conflicts=conflicts))) == 3
    assert conflicts == {ids[3]}


@pytest.mark.parametrize("numpy", [True, False])
def test_review_keys_compare_repeats_and_refuse_conflicts(
    numpy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    rows = [review(0, place=1), review(0, place=1), review(3, place=1)]
    bundle = hydrate.open_bundle(write_bundle(tmp_path / "a", "folder", {"review": lines(map(line, rows))}))
    assert [key for key, _ in bundle.review_keys([identifier("place 1")])] == [row["review_id"] for row in rows]
    assert bundle.repeated_reviews == 1
    assert list(bundle.review_keys([identifier("absent")])) == []
    rows.append(review(0, place=1, text="other words"))
    bundle = hydrate.open_bundle(write_bundle(tmp_path / "b", "folder", {"review": lines(map(line, rows))}))
    with pytest.raises(BundleError, match=r"stands twice.* see lines 1, 2, 4"):
        list(bundle.review_keys([identifier("place 1")]))


def test_ids_that_share_a_hash_are_not_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydrate.ids.hash", lambda _: 7, raising=False)
    monkeypatch.setattr("hydrate.bundle.hash", lambda _: 7, raising=False)
    bundle = hydrate.open_bundle(write_bundle(tmp_path, "folder"))
    assert len(list(bundle.review_keys([identifier("place 1")]))) == 7
    assert bundle.repeated_reviews == 0


def test_review_keys_leave_out_blank_text(tmp_path: Path) -> None:
    texts = ["", "  \n", "\u00a0", "\u00a0x", "x", "\\", '"', "é"]
    rows = [review(number, text=text, place=1) for number, text in enumerate(texts)]
    for ascii_only in (True, False):
        content = lines(line(row, ensure_ascii=ascii_only) for row in rows)
        bundle = hydrate.open_bundle(write_bundle(tmp_path / str(ascii_only), "folder", {"review": content}))
        found = [key for key, _ in bundle.review_keys([identifier("place 1")])]
        assert found == [row["review_id"] for row, text in zip(rows, texts, strict=True) if text.strip()]


def test_lone_surrogates_become_replacement_characters_and_are_counted(tmp_path: Path) -> None:
    texts = ["pair \ud83d\ude00", "lone \ud83d end", "two \udc00\ud83d"]
    rows = [review(number).copy() for number in range(3)]
    content = lines(
        json.dumps({**row, "text": text}, separators=(",", ":")) for row, text in zip(rows, texts, strict=True)
    )
    for form in ("folder", "zip"):
        bundle = hydrate.open_bundle(write_bundle(tmp_path / form, form, {"review": content}))
        found = [record.text for record in bundle.reviews(review_ids=[row["review_id"] for row in rows])]
        assert found == ["pair \U0001f600", "lone \ufffd end", "two \ufffd\ufffd"]
        assert bundle.replaced_surrogates == 3
        assert [row["text"] for row in bundle.rows("review")] == found


def test_a_table_may_lie_in_any_folder_of_an_archive_under_a_long_name(tmp_path: Path) -> None:
    deep = "/".join(["a-rather-long-folder-name"] * 8) + "/review.json"
    (tmp_path / "x").write_bytes(tar_bytes({deep: tables()["review"]}))
    assert len(list(hydrate.open_bundle(tmp_path / "x").reviews())) == 50
    with tarfile.open(tmp_path / "y", "w:gz", format=tarfile.GNU_FORMAT) as archive:
        (tmp_path / "review.json").write_bytes(tables()["review"])
        archive.add(tmp_path / "review.json", deep)
    assert len(list(hydrate.open_bundle(tmp_path / "y").reviews())) == 50


def test_a_requested_review_needs_its_ids(tmp_path: Path) -> None:
    rows = [review(0), {**review(1), "review_id": None}, {**review(2), "business_id": 7}]
    bundle = hydrate.open_bundle(write_bundle(tmp_path, "folder", {"review": lines(map(line, rows))}))
    assert len(list(bundle.reviews(review_ids=[rows[0]["review_id"], "None", "7"]))) == 1
    with pytest.raises(BundleError, match="line 2: review None has no review_id"):
        list(bundle.reviews(business_ids=[rows[1]["business_id"]]))
    with pytest.raises(BundleError, match="has no business_id"):
        list(bundle.reviews(review_ids=[rows[2]["review_id"]]))
    with pytest.raises(BundleError, match="has no review_id"):
        list(bundle.reviews())


def test_a_folder_that_holds_the_archive_beside_other_things(tmp_path: Path) -> None:
    (tmp_path / "Dataset_Agreement.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\0\0")
    with pytest.raises(BundleError, match=r"holds no review\.json"):
        hydrate.open_bundle(tmp_path)
    write_bundle(tmp_path / "other", "tgz").rename(tmp_path / "yelp_dataset")
    bundle = hydrate.open_bundle(tmp_path)
    assert bundle.kind == "folder+tgz"
    assert len(list(bundle.reviews())) == 50
    write_bundle(tmp_path / "other", "zip").rename(tmp_path / "second")
    with pytest.raises(BundleError, match="more than one review table: second, yelp_dataset"):
        hydrate.open_bundle(tmp_path)
