"""Every placeholder gets one status, and a span is emitted only when its hash matches."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hydrate
from hydrate import HydrationError, UsageError, span_sha256
from tests.hydrate.helpers import identifier, line, lines, review, write_bundle

R1, R2, R3 = (identifier(f"r{number}") for number in (1, 2, 3))
TEXTS = {R1: "The patio was so quiet. We liked it.", R2: "Wow \U0001f32e great tacos, caf\u00e9 style", R3: "Loud."}


def quote(text_id: str, start: int, end: int, n: int = 0, text: str | None = None) -> dict[str, Any]:
    span = TEXTS[text_id][start:end] if text is None else text
    return {
        "n": n,
        "business_id": "b",
        "label": "R1",
        "review_id": text_id,
        "start": start,
        "end": end,
        "sha256": span_sha256(span),
    }


def dialogue(*quotes: dict[str, Any], text: str | None = None, name: str = "d1") -> dict[str, Any]:
    template = " ".join(f'"[Q:{each["n"]}]"' for each in quotes) if text is None else text
    return {
        "dialogue_id": name,
        "turns": [
            {"index": 0, "role": "user", "text": "Hi", "quotes": []},
            {"index": 1, "role": "system", "text": template, "quotes": list(quotes)},
        ],
    }


def test_verified_spans_are_filled_in_and_all_else_is_kept() -> None:
    row = {**dialogue(quote(R1, 14, 22), quote(R2, 4, 11, 1)), "city": "Reno"}
    before = json.dumps(row)
    (filled,), report = hydrate.hydrate([row], TEXTS)
    assert filled["turns"][1]["text"] == '"so quiet" "\U0001f32e great"'
    assert filled["turns"][1]["quotes"] == row["turns"][1]["quotes"]
    assert filled["city"] == "Reno"
    assert json.dumps(row) == before
    assert report.ok
    assert (report.counts["verified"], report.quotes, report.reviews_wanted, report.reviews_found) == (2, 2, 2, 2)


@pytest.mark.parametrize(
    "each, source, status, ok",
    [
        (quote(R1, 14, 22), {R1: "But: " + TEXTS[R1]}, "moved", True),
        (quote(R1, 14, 22), {R1: TEXTS[R1].replace("quiet", "Quiet")}, "changed", False),
        (quote(R1, 14, 22), {}, "missing", False),
        (quote(R1, 30, 99, text="x" * 69), TEXTS, "out_of_range", False),
        (quote(R1, 5, 5, text=""), TEXTS, "out_of_range", False),
        (quote(R1, -3, 5, text="The patio"), TEXTS, "out_of_range", False),
        (quote(R1, 14, 22), {R1: "so quiet"}, "moved", True),
    ],
)
def test_statuses(each: dict[str, Any], source: dict[str, str], status: str, ok: bool) -> None:
    rows, report = hydrate.hydrate([dialogue(each)], source, on_mismatch="placeholder")
    assert report.counts[status] == 1
    assert report.quotes == 1
    assert report.ok is ok
    assert rows[0]["turns"][1]["text"] == ('"so quiet"' if ok else '"[Q:0]"')
    assert report.kept_placeholders == (not ok)
    assert [case.status for case in report.examples(status)] == [status]


def test_a_review_that_changed_elsewhere_is_counted_and_emitted() -> None:
    hashes = {R1: span_sha256(TEXTS[R1]), R2: (4, span_sha256(TEXTS[R2][:4])), R3: (2, span_sha256("lo"))}
    quotes = [quote(R1, 14, 22), quote(R2, 4, 11, 1), quote(R3, 0, 4, 2)]
    rows, report = hydrate.hydrate([dialogue(*quotes)], {**TEXTS, R1: TEXTS[R1] + " Again!"}, review_sha256=hashes)
    assert report.counts == {
        "verified": 1,
        "review_changed": 2,
        **dict.fromkeys(("moved", "changed", "missing", "out_of_range", "ambiguous_id"), 0),
    }
    assert report.ok
    assert "so quiet" in rows[0]["turns"][1]["text"]


@pytest.mark.parametrize("start, end, unit", [(7, 12, "UTF-16 code units"), (9, 14, "UTF-8 bytes")])
def test_offsets_in_another_unit_are_moved_and_said(start: int, end: int, unit: str) -> None:
    rows, report = hydrate.hydrate([dialogue(quote(R2, start, end, text="great"))], TEXTS)
    assert report.counts["moved"] == 1
    assert report.cases[0].unit == unit
    assert unit in str(report)
    assert rows[0]["turns"][1]["text"] == '"great"'
    end = {"UTF-16 code units": 12, "UTF-8 bytes": 14}[unit]  # longer than the span is in code points
    rows, report = hydrate.hydrate([dialogue(quote(R2, 4, end, text="\U0001f32e great"))], TEXTS)
    assert (report.counts["moved"], report.cases[0].unit) == (1, unit)
    assert rows[0]["turns"][1]["text"] == '"\U0001f32e great"'


def test_one_error_after_everything_was_looked_at_names_five_and_no_text() -> None:
    rows = [dialogue(quote(R1, 14, 22), name=f"d{number}") for number in range(7)]
    rows.append(dialogue(quote(R2, 0, 3)))
    with pytest.raises(HydrationError) as caught:
        hydrate.hydrate(rows, {R1: "so loud", R2: TEXTS[R2]})
    message = str(caught.value)
    assert message.startswith("7 of 8 quotes cannot be verified against this bundle (7 out_of_range)")
    assert message.count("\n  out_of_range: dialogue d") == 5
    assert f"turn 1 [Q:0], {R1}[14:22], wanted {span_sha256('so quiet')[:12]} of length 8" in message
    assert "and 2 more" in message
    assert "so quiet" not in message
    assert "so loud" not in message
    report = caught.value.report
    assert report is not None
    assert len(report.cases) == 7
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_ids_that_went_through_a_spreadsheet_are_pointed_out() -> None:
    broken = {**quote(R1, 14, 22), "review_id": "1.23457E+21"}
    with pytest.raises(HydrationError, match="spreadsheet"):
        hydrate.hydrate([dialogue(broken)], TEXTS)


def test_drop_leaves_the_dialogue_out_and_says_so() -> None:
    rows, report = hydrate.hydrate(
        [dialogue(quote(R1, 14, 22), name="a"), dialogue(quote(R3, 0, 4), name="b")],
        {R1: TEXTS[R1]},
        on_mismatch="drop",
    )
    assert [row["dialogue_id"] for row in rows] == ["a"]
    assert (report.dropped, report.dialogues, report.ok) == (1, 2, False)
    assert "1 records left out" in str(report)


def test_the_report_is_json_with_every_case_and_no_text() -> None:
    _, report = hydrate.hydrate([dialogue(quote(R1, 14, 22), quote(R3, 0, 4, 1))], {R1: "so quiet"}, "placeholder")
    values = json.loads(report.to_json())
    assert values["counts"]["moved"] == values["counts"]["missing"] == 1
    assert (values["ok"], values["quotes"], len(values["cases"])) == (False, 2, 2)
    assert values["cases"][1]["text_id"] == R3
    assert "quiet" not in report.to_json() + str(report)


@pytest.mark.parametrize(
    "text, quotes, message",
    [
        ("[Q:1]", [quote(R1, 14, 22)], r"dialogue d1 turn 1: placeholder \[Q:1\]"),
        ("none", [quote(R1, 14, 22)], "dialogue d1 turn 1: quote 0 has no placeholder"),
        ("[Q:0]", [quote(R1, 14, 22), quote(R1, 0, 3)], "two quotes have one number"),
        ("[Q:0]", [{"n": 0, "review_id": R1}], "turn 1: start is missing"),
        (None, [], "turn 1: text is of type NoneType and not a text"),
    ],
)
def test_what_is_malformed_is_named(text: Any, quotes: list[dict[str, Any]], message: str) -> None:
    row = dialogue(text="")
    row["turns"][1].update(text=text, quotes=quotes)
    with pytest.raises(HydrationError, match=message):
        hydrate.hydrate([row], TEXTS, "drop")
    with pytest.raises(UsageError, match="on_mismatch='ignore'"):
        hydrate.hydrate([], TEXTS, "ignore")


def test_a_bundle_as_source(tmp_path: Path) -> None:
    rows = [
        review(1, "caf\u00e9 \U0001f600 was so quiet"),
        review(2),
        review(2),
        review(3),
        review(3, "other"),
        review(4, "lone \ud83d sign"),
    ]
    content = lines(line(row) for row in rows)
    bundle = hydrate.open_bundle(write_bundle(tmp_path, "tgz", {"review": content}))
    spans = [(1, 11, 19, "so quiet"), (2, 0, 4, "Room"), (3, 0, 4, "Room"), (4, 0, 6, "lone \ufffd"), (5, 0, 4, "Room")]
    quotes = [
        {"n": n, "review_id": review(number)["review_id"], "start": start, "end": end, "sha256": span_sha256(text)}
        for n, (number, start, end, text) in enumerate(spans)
    ]
    _, report = hydrate.hydrate([dialogue(*quotes)], bundle, "placeholder")
    assert {status: count for status, count in report.counts.items() if count} == {
        "verified": 3,
        "ambiguous_id": 1,
        "missing": 1,
    }
    assert (report.repeated_ids, report.replaced_surrogates) == (1, 1)
    assert (report.reviews_wanted, report.reviews_found) == (5, 4)


def test_lone_surrogates_in_a_mapping_are_replaced_and_counted() -> None:
    rows, report = hydrate.hydrate([dialogue(quote(R1, 0, 6, text="lone \ufffd"))], {R1: "lone \ud83d"})
    assert rows[0]["turns"][1]["text"] == '"lone \ufffd"'
    assert report.replaced_surrogates == 1


def test_hydrate_needs_no_hugging_face_package_and_works_without_what_makes_it_fast(tmp_path: Path) -> None:
    path = write_bundle(tmp_path, "zip+tgz")
    program = f"""
import sys
for name in ("datasets", "huggingface_hub", "evaluate", "pyarrow", "numpy", "orjson", "isal", "rapidfuzz", "trace_dataset"):
    sys.modules[name] = None
import hydrate
bundle = hydrate.open_bundle({str(path)!r})
record = next(bundle.reviews(review_ids=[{review(3)["review_id"]!r}]))
rows = hydrate.dehydrate([{{"turns": [{{"text": 'They say "so quiet".'}}]}}], {{record.review_id: record.text}})
filled, report = hydrate.hydrate(rows, bundle)
assert filled[0]["turns"][0]["text"] == 'They say "so quiet".' and report.ok and bundle.fingerprint().digest
assert "numpy" not in [name for name, module in sys.modules.items() if module]
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2], timeout=60)


def test_importing_hydrate_loads_nothing_heavy() -> None:
    program = (
        "import sys, hydrate; heavy = {'numpy', 'pyarrow', 'datasets', 'rapidfuzz', 'multiprocessing'} & "
        "set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2], timeout=60)
