"""Whatever is wrong with a bundle, `load_dataset("trace", …)` ends in one TraceError that says what, where and what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import datasets
import pytest

from hydrate import TraceError

REVIEWS = "yelp_academic_dataset_review.json"


@pytest.fixture
def bundle(sample_bundle: Path, tmp_path: Path) -> Path:
    """A copy of the sample bundle to spoil."""
    return Path(shutil.copytree(sample_bundle, tmp_path / "yelp"))


def load(path: Path) -> TraceError:
    with pytest.raises(TraceError) as caught:
        datasets.load_dataset("trace", yelp_path=str(path), n_dialogues=240)
    assert caught.value.do
    assert not isinstance(caught.value.__cause__, datasets.exceptions.DatasetGenerationError)
    return caught.value


def lines(bundle: Path) -> list[str]:
    return (bundle / REVIEWS).read_text().splitlines(keepends=True)


def test_no_review_file(bundle):
    (bundle / REVIEWS).unlink()
    assert "review" in str(load(bundle))


def test_a_file_cut_off_in_the_middle_of_a_line(bundle):
    text = (bundle / REVIEWS).read_text()
    (bundle / REVIEWS).write_text(text[:-150])
    error = str(load(bundle))
    assert REVIEWS in error
    assert str(len(lines(bundle))) in error.replace(",", "")


def test_a_line_that_is_not_json(bundle):
    rows = lines(bundle)
    rows[99] = "{not json}\n"
    (bundle / REVIEWS).write_text("".join(rows))
    error = str(load(bundle))
    assert REVIEWS in error
    assert "100" in error


def test_a_review_without_text(bundle):
    rows = lines(bundle)
    row = json.loads(rows[7])
    del row["text"]
    rows[7] = json.dumps(row, separators=(",", ":")) + "\n"
    (bundle / REVIEWS).write_text("".join(rows))
    error = str(load(bundle))
    assert "text" in error
    assert "8" in error


def test_one_review_id_with_two_texts(bundle):
    rows = lines(bundle)
    copies = []
    for line in rows:
        row = json.loads(line)
        row["text"] = "Something else entirely, and long enough to matter."
        copies.append(json.dumps(row, separators=(",", ":")) + "\n")
    (bundle / REVIEWS).write_text("".join(rows + copies))
    assert json.loads(rows[0])["review_id"][:3]
    assert "twice" in str(load(bundle)) or "two" in str(load(bundle))


def test_identical_repeats_do_no_harm(bundle, sample_bundle):
    rows = lines(bundle)
    (bundle / REVIEWS).write_text("".join(rows + rows[:50]))
    again = datasets.load_dataset("trace", yelp_path=str(bundle), n_dialogues=240)
    assert again["test"][:] == datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=240)["test"][:]


def test_a_bundle_too_small_for_a_benchmark_says_what_is_there_and_what_is_needed(bundle):
    (bundle / REVIEWS).write_text("".join(lines(bundle)[:40]))
    error = str(load(bundle))
    assert "8" in error
    assert "3" in error


def test_too_few_dialogues_for_three_splits(sample_bundle):
    with pytest.raises(TraceError, match="without any"):
        datasets.load_dataset("trace", yelp_path=str(sample_bundle), n_dialogues=2)


def test_no_message_holds_review_text(bundle):
    rows = lines(bundle)
    rows[3] = rows[3][:200] + "\n"
    (bundle / REVIEWS).write_text("".join(rows))
    words = json.loads(lines(bundle)[4])["text"][:40]
    assert words not in str(load(bundle))
