"""The text form: what is escaped, what stands plain, what is refused."""

from __future__ import annotations

import pytest

from hydrate import HydrationError, escape, quoted_spans, render
from hydrate.placeholders import placeholder_numbers


@pytest.mark.parametrize(
    "text, labels, template",
    [
        ("plain", (), "plain"),
        ("a \\ b", (), "a \\\\ b"),
        ("[Q:1]", (), "\\[Q:1]"),
        ("[Q: x", (), "\\[Q: x"),
        ("[R2] and [R3]", ("R3",), "\\[R2] and [R3]"),
        ("[R2, R3] [R3; R5]", ("R3", "R5"), "\\[R2, R3] [R3; R5]"),
        ("[R] [Rx] [ R1] [q:1]", (), "[R] [Rx] [ R1] [q:1]"),
        ("[R33] [R3", ("R3",), "\\[R33] \\[R3"),
        ("\\[Q:0]", (), "\\\\\\[Q:0]"),
        ("[[Q:0]]", (), "[\\[Q:0]]"),
        ("[R٣]", (), "\\[R٣]"),
    ],
)
def test_escape_and_back(text: str, labels: tuple[str, ...], template: str) -> None:
    assert escape(text, labels) == template
    assert render(template, {}) == text


def test_render_fills_without_reading_what_it_fills_in() -> None:
    assert render('"[Q:1]" [R3] \\[Q:0] "[Q:0]"', {0: "\\ [Q:1] [R9]", 1: "b"}) == '"b" [R3] [Q:0] "\\ [Q:1] [R9]"'
    assert placeholder_numbers("[Q:10] \\[Q:2] [Q:0]") == [10, 0]


@pytest.mark.parametrize(
    "template, quotes, message",
    [
        ("x [Q:1]", {0: "a"}, r"\[Q:1\] at column 3 has no quote"),
        ("x", {0: "a"}, "quote 0 has no placeholder"),
        ("[Q:0] [Q:0]", {0: "a"}, "stands twice, again at column 7"),
        ("ab [Q:x]", {}, "malformed placeholder at column 4"),
        ("[Q:01]", {1: "a"}, "malformed"),
        ("[Q: 1]", {1: "a"}, "malformed"),
        ("[Q:1", {1: "a"}, "malformed"),
        ("[Q:٣]", {3: "a"}, "malformed"),
        ("a \\", {}, "backslash at column 3"),
        ("\\n", {}, "backslash at column 1"),
        ("[ Q:0 ]", {0: "a"}, "quote 0 has no placeholder"),
    ],
)
def test_malformed_templates_are_refused(template: str, quotes: dict[int, str], message: str) -> None:
    with pytest.raises(HydrationError, match=message):
        render(template, quotes)


@pytest.mark.parametrize(
    "text, found",
    [
        ('say "so quiet" and " big bar ".', ["so quiet", "big bar"]),
        ("“quiet “inner” patio” x", ["quiet “inner” patio"]),
        ('never "closed', []),
        ('“closed by straight" x', ["closed by straight"]),
        ('"closed by curly” x', ["closed by curly"]),
        ('"one\ntwo"', []),
        ('"" "..." "a"', ["a"]),
        ("it's the guests' own", []),
        ("«Bon» «x", ["Bon"]),
        ("“a « b", []),
    ],
)
def test_quoted_spans(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in quoted_spans(text)] == found
