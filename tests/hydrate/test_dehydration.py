"""Taking text out: known quotes, found quotes, altered quotes, and flat records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hydrate
from hydrate import HydrationError, UsageError, dehydrate, dehydrate_text, span_sha256
from hydrate.similar import normalised, plain

TEXTS = {
    "r1": "Quiet patio with string lights.",
    "r2": "Best gumbo!",
    "r3": "The seafood gumbo is rich. Quiet patio too.",
}


def turn(text: str, cited: tuple[str, ...] = (), quotes: Any = ()) -> dict[str, Any]:
    citations = [{"label": f"R{key[1:]}", "business_id": f"b{key[1:]}", "review_id": key} for key in cited]
    return {"index": 0, "text": text, "quotes": list(quotes), "citations": citations}


def emptied(text: str, cited: tuple[str, ...] = (), quotes: Any = (), **options: Any) -> dict[str, Any]:
    row: dict[str, Any] = dehydrate([{"dialogue_id": "d", "turns": [turn(text, cited, quotes)]}], TEXTS, **options)[0]
    return row["turns"][0]


def spans(row: dict[str, Any]) -> list[tuple[int, str, int, int]]:
    return [(each["n"], each["review_id"], each["start"], each["end"]) for each in row["quotes"]]


def test_quotes_are_found_where_none_are_listed() -> None:
    row = emptied('They wrote "Quiet patio" and “gumbo!” [R2] [R9].', ("r2",))
    assert row["text"] == 'They wrote "[Q:0]" and “[Q:1]” [R2] \\[R9].'
    assert spans(row) == [(0, "r1", 0, 11), (1, "r2", 5, 11)]
    assert (row["quotes"][1]["label"], row["quotes"][1]["business_id"]) == ("R2", "b2")
    assert row["quotes"][1]["sha256"] == span_sha256("gumbo!")


def test_cited_reviews_come_before_others() -> None:
    assert spans(emptied('"Quiet patio"', ("r3",))) == [(0, "r3", 27, 38)]
    assert spans(emptied('"Quiet patio"', ("r2",))) == [(0, "r1", 0, 11)]


def test_listed_quotes_are_put_back_where_they_are_quoted() -> None:
    known = {
        "n": 4,
        "business_id": "b",
        "label": "R1",
        "review_id": "r1",
        "start": 0,
        "end": 5,
        "sha256": span_sha256("Quiet"),
    }
    row = emptied('Quiet it is: "Quiet", says "Best gumbo!".', quotes=[known])
    assert row["text"] == 'Quiet it is: "[Q:4]", says "[Q:5]".'
    assert row["quotes"][0] == known
    assert spans(row)[1] == (5, "r2", 0, 11)


def test_listed_quotes_in_another_order_than_their_numbers() -> None:
    first = {"n": 0, "review_id": "r2", "start": 5, "end": 10, "sha256": span_sha256("gumbo")}
    second = {"n": 1, "review_id": "r1", "start": 0, "end": 5, "sha256": span_sha256("Quiet")}
    assert emptied("Quiet, then gumbo", quotes=[first, second])["text"] == "[Q:1], then [Q:0]"


def test_a_listed_quote_that_is_not_there_is_refused() -> None:
    known = {"n": 0, "review_id": "r1", "start": 0, "end": 5, "sha256": span_sha256("Quiet")}
    with pytest.raises(HydrationError, match="dialogue d turn 0: a quote's span does not stand in the text"):
        emptied("nothing here", quotes=[known])
    with pytest.raises(HydrationError, match="quote 0 is missing in r9"):
        emptied("Quiet", quotes=[{**known, "review_id": "r9"}])
    many = [{**known, "n": number} for number in range(30)]
    with pytest.raises(HydrationError, match="does not stand"):
        emptied("Quiet " * 29, quotes=many)
    assert emptied("Quiet " * 30, quotes=many)["text"].startswith("[Q:0] [Q:1] ")


@pytest.mark.parametrize(
    "text, template, where",
    [
        ('a "quiet patio" b', 'a "[Q:0]" b', (0, "r1", 0, 11)),
        ('a "seafod gumbo" b', 'a "[Q:0]" b', (0, "r3", 4, 17)),
        ('a "QUIET  PATIO with\u00a0strings" b', 'a "[Q:0]" b', (0, "r1", 0, 23)),
    ],
)
def test_an_altered_quote_becomes_the_best_verbatim_stretch(
    text: str, template: str, where: tuple[int, str, int, int]
) -> None:
    row = emptied(text)
    assert row["text"] == template
    assert spans(row) == [where]
    with pytest.raises(HydrationError, match=r"column 4 is altered: 0\.\d\d similar|1\.00 similar") as caught:
        emptied(text, on_altered="error")
    assert "atio" not in str(caught.value)
    assert "umbo" not in str(caught.value)


def test_unlike_quotes_stay_and_a_threshold_decides() -> None:
    assert emptied('the "blue room" [Q:0]')["text"] == 'the "blue room" \\[Q:0]'
    assert spans(emptied('a "seafod gumbo" b', threshold=0.99)) == []
    with pytest.raises(UsageError, match="on_altered"):
        emptied("x", on_altered="keep")


def test_the_rest_of_a_quote_that_holds_a_known_one() -> None:
    known = {"n": 0, "review_id": "r1", "start": 0, "end": 11, "sha256": span_sha256("Quiet patio")}
    row = emptied('"Quiet patio and The seafood gumbo is rich"', quotes=[known])
    assert row["text"] in ('"[Q:0] and [Q:1]"', '"[Q:0] [Q:1]"')
    assert spans(row)[1][1] == "r3"


def test_the_worked_cases() -> None:
    reviews = {"rev1": TEXTS["r1"], "rev2": TEXTS["r2"]}
    template, found = dehydrate_text('They wrote "Quiet patio" and "gumbo!" here.', reviews)
    assert template == 'They wrote "[Q:0]" and "[Q:1]" here.'
    assert [(span.text_id, span.start, span.end) for span in found.values()] == [("rev1", 0, 11), ("rev2", 5, 11)]
    assert hydrate.render('They wrote "[Q:0]" and "[Q:1]" [R1][R2].', {0: "Quiet patio", 1: "gumbo"}) == (
        'They wrote "Quiet patio" and "gumbo" [R1][R2].'
    )
    assert hydrate.render("Nothing to fill.", {}) == "Nothing to fill."


POEMS = {
    "p1": "The brown fog rolls over the harbour walls before the ferries wake and call.",
    "p2": "A lamp, a chair, a cup of tea: the whole of winter's company.",
}
RECORDS = [
    {"id": 1, "question": 'Who wrote "a cup of tea"?', "context": POEMS["p2"], "year": 1999},
    {"id": 2, "question": "Is [Q:0] \\ odd?", "context": None},
    {"id": 3, "question": "We saw how brown fog rolls over the harbour walls before the dawn.", "context": ""},
]


def test_flat_records_lose_quotes_and_long_runs_and_get_them_back() -> None:
    rows = dehydrate(RECORDS, POEMS, fields=("question", "context"))
    assert rows[0]["question"] == 'Who wrote "[Q:0]"?'
    assert rows[0]["context"] == "[Q:0]."
    assert rows[0]["quotes"][1]["field"] == "context"
    assert rows[1] == {**RECORDS[1], "question": "Is \\[Q:0] \\\\ odd?", "quotes": []}
    assert rows[2]["question"] == "We saw how [Q:0] dawn."
    assert not any(word in json.dumps(rows) for word in ("fog", "lamp", "winter"))
    back, report = hydrate.hydrate(rows, POEMS, fields=("question", "context"))
    assert [{key: value for key, value in row.items() if key != "quotes"} for row in back] == RECORDS
    assert report.counts["verified"] == 3
    again = dehydrate(back, POEMS, fields=("question", "context"))
    assert again == rows


def test_flat_records_report_where_they_fail() -> None:
    rows = dehydrate(RECORDS, POEMS, fields=("question", "context"))
    with pytest.raises(HydrationError, match=r"record 1 field context \[Q:0\], p2\[0:"):
        hydrate.hydrate(rows, {**POEMS, "p2": "Something else."}, fields=("question", "context"))
    unquoted = dehydrate([{"id": 1, "t": POEMS["p1"]}], POEMS, fields="t", run_words=0)
    assert unquoted[0]["t"] == POEMS["p1"]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_texts_come_from_a_file(suffix: str, tmp_path: Path) -> None:
    from hydrate.tables import write_rows

    path = tmp_path / f"texts{suffix}"
    write_rows(path, [{"key": key, "body": text, "n": 1} for key, text in POEMS.items()])
    assert hydrate.read_texts(path, "key", "body") == POEMS
    assert hydrate.read_texts(path, "key", "body", only={"p2"}) == {"p2": POEMS["p2"]}
    with pytest.raises(UsageError, match="id"):
        hydrate.read_texts(path)


ODD = [*"aB \t\n\x1c\x1f'\"", "\u00a0", "\u2009", "\u201c", "e\u0301", "\ufb01", "\u0130", "\u1e9e"]


@given(st.lists(st.sampled_from(ODD), max_size=12).map("".join))
def test_a_normalised_copy_knows_where_it_comes_from(text: str) -> None:
    found = normalised(text)
    assert found.text == plain(text)
    assert len(found.origin) == len(found.text) + 1
    assert list(found.origin) == sorted(found.origin)
    assert found.text == found.text.strip()
    assert "  " not in found.text
