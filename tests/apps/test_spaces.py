"""The Spaces in a browser: each starts, shows what it should, asks nobody else, and survives what visitors do."""

import pytest

from trace_dataset.installed import hub_names

pytestmark = pytest.mark.browser

ATTACK = '<img src=x onerror="window.hit=1"><script>window.hit=2</script> ${window.hit=3} {{7*7}} "quiet patio" [R1]'
METRICS, BASELINES = hub_names("metrics"), hub_names("baselines")


@pytest.mark.parametrize("name", METRICS)
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


@pytest.mark.parametrize("name", BASELINES)
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
