"""The Spaces of the metrics and of the leaderboard in a browser, where this project cannot be imported."""

import sys

import pytest
from apps.boards import board
from apps.spaces import ATTACK, leaderboard_space, serve_one

from trace_dataset.installed import hub_names

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", hub_names("metrics"))
def test_a_metrics_space_computes_its_first_example_and_every_other_at_both_widths(name, plain_spaces, visit):
    one = visit(plain_spaces.addresses[name])
    one.page.wait_for_selector(".score strong")
    one.see("Limits, and how it can be fooled")
    for button in one.page.locator("button.small").all():
        button.click()
        one.page.wait_for_timeout(150)
        assert one.page.locator('[role="alert"]').count() == 0
    assert one.width() <= 1200
    narrow = visit(plain_spaces.addresses[name], width=400)
    narrow.page.wait_for_selector(".score strong")
    assert narrow.width() <= 400


def test_what_is_typed_into_a_metrics_space_is_shown_and_never_run(plain_spaces, visit):
    one = visit(plain_spaces.addresses["cgs"])
    one.page.wait_for_selector(".score strong")
    one.fill("The recommender's response", ATTACK)
    one.fill("The reviews", "[R1] A quiet patio. " + ATTACK)
    one.click("Compute")
    one.see("${window.hit=3} {{7*7}}", ".said")
    assert one.page.evaluate("window.hit") is None
    assert "quiet patio" in one.page.locator(".said .verified").all_inner_texts()


def test_a_megabyte_in_a_metrics_space_is_refused_and_the_page_goes_on(plain_spaces, visit):
    one = visit(plain_spaces.addresses["grounding_score"])
    one.page.wait_for_selector(".score strong")
    one.fill("The recommender's response", "a" * 1_000_000)
    one.click("Compute")
    one.see("this page takes 100,000", '[role="alert"]')
    one.click("A good answer")
    one.page.wait_for_selector(".score strong")


def test_text_that_runs_right_to_left_stands_so(plain_spaces, visit):
    one = visit(plain_spaces.addresses["grounding_score"])
    one.click("Right to left")
    one.see("جرّب", ".said")
    said = one.page.locator(".said").first
    assert said.evaluate("element => getComputedStyle(element).direction") == "rtl"
    left = said.evaluate("element => element.getBoundingClientRect().left")
    right = said.evaluate("element => element.getBoundingClientRect().right")
    span = said.locator(".m").first.evaluate("element => element.getBoundingClientRect().right")
    assert right - span < span - left


def test_a_metrics_space_is_used_with_the_keyboard_alone(plain_spaces, visit):
    one = visit(plain_spaces.addresses["spatial_coherence"])
    one.page.wait_for_selector(".score strong")
    one.page.get_by_label("Places that a dialogue recommends").focus()
    one.page.keyboard.press("Control+A")
    one.page.keyboard.type("a, 39.95, -75.16\nb, 39.951, -75.161\n")
    for _ in range(12):
        one.page.keyboard.press("Tab")
        if one.page.evaluate("document.activeElement.innerText") == "Compute":
            break
    one.page.keyboard.press("Enter")
    one.see("1.000", ".score")


def test_the_leaderboard_filters_and_keeps_kinds_of_dialogues_apart(plain_spaces, visit):
    one = visit(plain_spaces.addresses["leaderboard"])
    one.see("llm_zero_shot", "table")
    one.page.get_by_label("language model", exact=True).uncheck()
    one.page.locator("table b", has_text="llm_zero_shot").first.wait_for(state="detached")
    one.see("random", "table")
    one.page.get_by_label("open", exact=True).check()
    one.see("pool open", "caption")
    one.page.get_by_label("Set of dialogues").click()
    one.page.get_by_role("option").filter(has_text="LM-written").click()
    one.see("LM-written dialogues (60)", "caption")
    assert one.page.locator("svg.figure").count() == 1
    assert visit(plain_spaces.addresses["leaderboard"], width=400).width() <= 400


def test_no_process_of_a_metric_or_the_leaderboard_asked_anybody(plain_spaces, visit):
    visit(plain_spaces.addresses["cgs"]).page.wait_for_selector(".score strong")
    assert plain_spaces.reached() == []


def test_app_py_on_its_own_asks_nobody(browser, visit, tmp_path):
    folder = leaderboard_space(tmp_path / "space", board())
    served = serve_one(tmp_path, folder, sys.executable)
    one = visit(served.addresses["space"])
    one.see("llm_zero_shot", "table")
    one.close()
    served.stop()
    assert served.reached() == []
