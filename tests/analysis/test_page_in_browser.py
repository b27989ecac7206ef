"""The page in a real browser, without a network: sorting, the viewer, the keyboard, and contrast."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trace_dataset.analysis.page import page as page_of
from trace_dataset.analysis.report import write_report
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation import run_baseline, score_run
from trace_dataset.evaluation.controls import control

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra browser)")
CHROMIUM = shutil.which("chromium")
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def page_file(benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page")
    systems = [
        load_baseline("tfidf"),
        load_baseline("popularity"),
        control("random", []),
        control("oracle", benchmark.dialogues),
    ]
    runs = [run_baseline(item, benchmark, out / item.name, limit=20) for item in systems]
    write_report(
        runs, [score_run(run, benchmark) for run in runs], out / "report", benchmark, dialogues=5, resamples=100
    )
    return out / "report" / "report.html"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no chromium on the path")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def page(browser, page_file: Path):
    opened = browser.new_page(viewport={"width": 1300, "height": 900})
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda message: opened.problems.append(message.text) if message.type == "error" else None)
    opened.on(
        "request",
        lambda asked: opened.problems.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None,
    )
    opened.goto(page_file.as_uri())
    yield opened
    assert opened.problems == []  # no error, and nothing asked of any network
    opened.close()


def first_column(page, table: str) -> list[str]:
    return page.locator(f"#{table} tbody tr th").all_inner_texts()


def test_tables_sort_by_number_both_ways(page) -> None:
    head = page.locator("#table-5-closed thead th", has_text="R@1").first
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    down = page.locator("#table-5-closed tbody tr td:nth-child(2)").evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.v))"
    )
    assert down == sorted(down, reverse=True)
    assert first_column(page, "table-5-closed")[0] == "oracle †"
    head.locator("button").press("Enter")  # the keyboard does the same
    assert head.get_attribute("aria-sort") == "ascending"
    up = page.locator("#table-5-closed tbody tr td:nth-child(2)").evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.v))"
    )
    assert up == down[::-1]


def test_the_page_is_no_wider_than_the_window(page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(
        "document.querySelector('#table-5-closed').offsetWidth > innerWidth"
    )  # the table scrolls in its box


def test_a_number_leads_to_its_run(page) -> None:
    link = page.locator("#table-5-closed td.runs a").first
    target = link.get_attribute("href").removeprefix("#")
    link.click()
    assert page.locator(f"[id='{target}']").is_visible()


def test_viewer_shows_reference_and_three_systems_turn_by_turn(page, benchmark) -> None:
    assert page.locator("#talk thead th").all_inner_texts()[:3] == ["turn", "reference", "tfidf, pool closed"]
    assert page.locator("#talk thead th").count() == 5
    identifier = page.locator("#dialogue option").first.inner_text().split(" ")[0]
    reference = next(item for item in benchmark.dialogues if item.dialogue_id == identifier)
    assert page.locator("#talk tbody tr").count() == len(reference.turns)
    page.locator("select.system").nth(1).select_option("")
    assert page.locator("#talk thead th").count() == 4
    before = page.locator("#about").inner_text()
    page.locator("#next").click()
    assert page.locator("#dialogue").input_value() == "1"
    page.locator("#previous").click()
    assert page.locator("#about").inner_text() == before
    assert page.locator("#map circle").count() >= len(reference.candidates)


def test_a_quote_shows_its_review_by_mouse_and_by_keyboard(page, benchmark) -> None:
    quote = page.locator("#talk .q.verified").first
    words = quote.evaluate("node => node.firstChild.data")
    quote.hover()
    box = page.locator("#review")
    assert box.is_visible()
    shown = box.locator("p").first.inner_text()
    assert words in shown
    assert any(" ".join(shown.split()) == " ".join(text.split()) for text in benchmark.texts.values())
    page.mouse.move(0, 0)
    assert not box.is_visible()
    quote.focus()
    assert box.is_visible()
    page.keyboard.press("Escape")
    assert not box.is_visible()


def test_text_is_dark_on_light_with_enough_contrast(page) -> None:
    """Every colour pair of the page has the 4.5 to 1 that WCAG asks of small text."""
    worst = page.evaluate(
        """() => {
          const parse = text => text.match(/[\\d.]+/g).map(Number);
          const lum = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
            .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
          const behind = node => { for (; node; node = node.parentElement) { const c = parse(getComputedStyle(node).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
          let worst = 21;
          for (const node of document.querySelectorAll("main *, header *")) {
            if (node.closest("svg") || ![...node.childNodes].some(child => child.nodeType === 3 && child.data.trim())) continue;
            const [a, b] = [lum(parse(getComputedStyle(node).color)), lum(behind(node))];
            worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
          }
          return worst;
        }"""  # noqa: E501
    )
    assert worst >= 4.5


def test_every_picture_has_words_and_every_control_a_name(page) -> None:
    assert all(alt for alt in page.locator("figure img").evaluate_all("nodes => nodes.map(node => node.alt)"))
    assert all(
        wide > 0 for wide in page.locator("figure img").evaluate_all("nodes => nodes.map(node => node.naturalWidth)")
    )
    named = page.locator("select").evaluate_all("nodes => nodes.map(node => node.labels.length)")
    assert all(named)


def test_names_and_texts_are_never_markup_and_may_run_right_to_left(browser, tmp_path) -> None:
    bad = "<img src=x onerror=document.title='bad'>"
    quote = {"t": "שקט מאוד", "status": "fuzzy", "reviews": ["r"]}
    turn = {
        "role": "system", "action": "recommend", "text": [{"t": "שלום </script><b>"}, quote], "places": ["p"], "rejected": [],
        "gold": ["p"], "alternatives": [],
        "answers": {"k": {"text": [{"t": bad}], "places": [], "error": bad, "scores": {"gs": 1.0, "cd": None}}},
    }  # fmt: skip
    row = {"id": bad, "about": [bad] * 5, "persona": bad, "candidates": ["p"], "turns": [turn]}
    viewer = {
        "systems": [{"key": "k", "name": bad}], "dialogues": [row], "reviews": {"r": bad}, "total": 1,
        "places": {"p": {"name": bad, "at": [None, None]}},
    }  # fmt: skip
    (tmp_path / "page.html").write_text(page_of("t", bad, [], [bad], viewer, "1"), encoding="utf-8")
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    opened.locator("#talk .q").focus()
    assert opened.locator("#review").is_visible()
    assert opened.title() == "t"
    assert opened.locator("img").count() == 0
    assert opened.locator("#talk .q").evaluate("node => getComputedStyle(node.parentElement).direction") == "rtl"
    assert "fewer than two places" in opened.locator("#map").text_content()
    opened.close()
