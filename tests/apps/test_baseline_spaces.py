"""The Spaces of the baselines in a browser: conversations, failures, many visitors at once."""

import pytest
from apps.spaces import ATTACK

from trace_dataset.installed import hub_names

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", hub_names("baselines"))
def test_a_baselines_space_answers_or_says_what_it_lacks(name, baseline_spaces, visit):
    one = visit(baseline_spaces.addresses[name.replace("_", "-")])
    one.see("invented places")
    one.click("Somewhere quiet with kind staff, please")
    one.page.wait_for_selector("li.system, [role='alert']")
    if one.page.locator("li.system").count() == 0:
        words = one.page.locator('[role="alert"]').first.inner_text()
        assert "TRACE_LM" in words or "pip install" in words
    else:
        assert one.page.locator("svg g").count() == 8
        assert one.page.locator(".wide table tbody tr").count() == 8
    assert one.width() <= 1200


def test_a_conversation_from_wish_to_refusal_with_the_keyboard(baseline_spaces, visit):
    one = visit(baseline_spaces.addresses["tfidf"], width=400)
    one.see("Say what you are looking for")
    one.page.get_by_label("hotel", exact=True).check()
    one.page.get_by_label("Your message").focus()
    one.page.keyboard.type("Quiet rooms and free parking")
    while one.page.evaluate("document.activeElement.innerText") != "Send":
        one.page.keyboard.press("Tab")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector("li.system")
    one.see("verified", ".trace")
    one.page.keyboard.press("Tab")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector("li.system >> nth=1")
    assert one.page.get_by_label("Your message").input_value() == ""
    one.see("refuses", "li.user")
    assert one.width() <= 400
    one.click("Start over")
    one.see("Say what you are looking for")


def test_another_city_and_a_wider_pool_begin_a_new_conversation(baseline_spaces, visit):
    one = visit(baseline_spaces.addresses["popularity"])
    one.click("Somewhere quiet with kind staff, please")
    one.page.wait_for_selector("li.system")
    one.page.get_by_label("City").click()
    one.page.get_by_role("option", name="Tampa").click()
    one.see("Say what you are looking for")
    one.click("Somewhere quiet with kind staff, please")
    one.page.wait_for_selector("li.system")


def test_what_is_said_to_a_baseline_is_shown_and_never_run(baseline_spaces, visit):
    one = visit(baseline_spaces.addresses["tfidf"])
    one.see("Say what you are looking for")
    one.fill("Your message", ATTACK)
    one.click("Send")
    one.see("${window.hit=3} {{7*7}}", "li.user")
    one.page.wait_for_selector("li.system")
    assert one.page.evaluate("window.hit") is None


def test_a_strangers_baseline_needs_nothing_more(baseline_spaces, visit):
    one = visit(baseline_spaces.addresses["longest-name"])
    one.see("A stranger's idea.")
    one.click("A lively place close to the center")
    one.page.wait_for_selector("li.system")


@pytest.mark.parametrize("name, words", [("raises", "of no use"), ("does-not-import", "does not import")])
def test_a_baseline_that_fails_says_so_and_the_page_stays(name, words, baseline_spaces, visit):
    one = visit(baseline_spaces.addresses[name])
    for _ in range(2):
        one.click("A lively place close to the center")
        one.see(words, '[role="alert"]')
    assert one.page.title() != "1"


def test_eight_visitors_at_once_see_their_own_conversation_only(baseline_spaces, visit):
    visitors = [visit(baseline_spaces.addresses["aspect"]) for _ in range(8)]
    for at, one in enumerate(visitors):
        one.see("Say what you are looking for")
        one.fill("Your message", f"Visitor number {at} wants quiet")
    for one in visitors:
        one.click("Send")
    for at, one in enumerate(visitors):
        one.page.wait_for_selector("li.system")
        assert one.page.locator("li.user .said").all_inner_texts() == [f"Visitor number {at} wants quiet"]


def test_no_process_of_a_baseline_asked_anybody(baseline_spaces, visit):
    visit(baseline_spaces.addresses["tfidf"]).see("invented places")
    assert baseline_spaces.reached() == []
