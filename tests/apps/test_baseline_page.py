"""A baseline's Space: it talks over invented places, refusals reach it, and nothing that goes wrong ends the page."""

import re
import threading
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from hydrate.errors import UsageError
from trace_dataset.apps import baseline_page, places
from trace_dataset.apps.baseline_page import BaselinePage, with_model
from trace_dataset.apps.place_map import draw_map
from trace_dataset.apps.talk import LONGEST_MESSAGE, MOST_TURNS
from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.installed import hub_names
from trace_dataset.kb import KnowledgeBase
from trace_dataset.turns import Response

ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)> ${alert(3)} {{7*7}}"


@pytest.fixture(scope="module")
def kb():
    return places.sample_places(24 * 12)


@pytest.fixture
def tfidf(kb):
    return BaselinePage(lambda: load_baseline("tfidf"), kb, "TF-IDF")


def begin(page, pool="8", persona=""):
    city = page.kb.cities[0]
    return page.start(city, places.types_of(page.kb, city)[0], pool, persona)[0]


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


class Fixed(Baseline):
    """Ranks the pool as it comes and says what it is told to."""

    text = "Go there."

    def rank(self, turn):
        return list(turn.pool)

    def respond(self, turn, ranking):
        return Response(self.text, ranking=tuple(ranking))


@pytest.mark.parametrize("name", hub_names("baselines"))
def test_every_baseline_answers_or_says_what_it_lacks(name, kb, monkeypatch):
    monkeypatch.delenv("TRACE_LM", raising=False)
    page = BaselinePage(lambda: with_model(load_baseline(name)), kb)
    talk, _, conversation, ranking, *_ = page.send(begin(page), "Somewhere quiet with kind staff", "recommend")
    if page.host.fault is not None:
        assert "pip install" in str(page.host.fault) or "TRACE_LM" in str(page.host.fault)
        assert 'role="alert"' in conversation
        return
    assert [turn.role for turn in talk.turns] == ["user", "system"]
    assert sorted(talk.answer.ranking) == sorted(talk.pool)
    assert all(
        kb.pois[place].name in words(ranking).replace("&amp;", "&").replace("&#x27;", "'") for place in talk.pool
    )


def test_quotes_are_shown_in_their_reviews_and_places_on_a_map(tfidf):
    talk, text, conversation, _, chart, sources = tfidf.send(begin(tfidf), "Good coffee and free parking", "recommend")
    assert text == ""
    quoted = re.search(r'class="m verified"[^>]*>([^<]+)<', conversation).group(1)
    assert re.search(r'class="m verified"[^>]*>([^<]+)<', sources).group(1) == quoted
    assert "1 quote: 1 ✓ verified." in sources
    svg = ElementTree.fromstring(re.search(r"<svg.*?</svg>", chart, re.DOTALL).group(0))
    assert len(svg.findall("g")) == 8
    assert tfidf.kb.pois[talk.named[0]].name in svg.get("aria-label")


def test_a_refusal_reaches_the_baseline_and_is_drawn(kb):
    seen = []

    class Avoids(Fixed):
        def rank(self, turn):
            seen.append(turn)
            return sorted(turn.pool, key=lambda place: place in turn.rejected)

        def respond(self, turn, ranking):
            return Response(f"Try {self.kb.pois[ranking[0]].name}.", (ranking[0],), (), tuple(ranking))

    page = BaselinePage(Avoids, kb)
    first = page.send(begin(page), "Something quiet", "recommend")[0]
    second, _, conversation, ranking, *_ = page.refuse(first, "")
    assert seen[-1].rejected == first.named
    assert [turn.action for turn in second.turns] == ["inform", "recommend", "reject_and_refine", "recommend"]
    assert second.named != first.named
    assert "refuses" in conversation
    assert "<sup" in ranking.rpartition("★ named")[0]
    third = page.refuse(second, "cheaper, please")[0]
    assert third.turns[-2].text == "cheaper, please"
    assert third.rejected == {*first.named, *second.named}


def test_a_place_that_is_named_again_after_a_refusal_is_told(kb):
    class Stubborn(Fixed):
        def respond(self, turn, ranking):
            return Response(f"Try {self.kb.pois[ranking[0]].name}.", (ranking[0],), (), tuple(ranking))

    page = BaselinePage(Stubborn, kb)
    talk = page.send(begin(page), "Something quiet", "recommend")[0]
    assert "again, which you refused" in page.refuse(talk, "")[2]


def test_there_is_nothing_to_refuse_before_an_answer(tfidf):
    talk, text, conversation, *_ = tfidf.refuse(begin(tfidf), "hm")
    assert "names no place" in conversation
    assert talk.turns == ()
    assert text == "hm"


class Raises(Fixed):
    def rank(self, turn):
        raise KeyError("boom")


class Leaves(Fixed):
    def rank(self, turn):
        raise SystemExit(3)


class Strays(Fixed):
    def rank(self, turn):
        return ["nowhere"]


class Mute(Fixed):
    def respond(self, turn, ranking):
        return Response("")


class Wrong(Fixed):
    def respond(self, turn, ranking):
        return "text"


class Broken(Fixed):
    def prepare(self, kb):
        raise RuntimeError("no index")


@pytest.mark.parametrize(
    "kind, told",
    [(Raises, "boom"), (Leaves, "SystemExit"), (Strays, "not in the pool"), (Mute, "empty text"), (Wrong, "not a Response"),
     (Broken, "no index")],
)  # fmt: skip
def test_a_baseline_that_fails_costs_its_answer_and_not_the_page(kind, told, kb):
    page = BaselinePage(kind, kb)
    talk = begin(page)
    for _ in range(2):
        talk, text, conversation, *_ = page.send(talk, "Somewhere quiet", "recommend")
        assert told in conversation
        assert 'role="alert"' in conversation
        assert "Traceback" not in conversation
        assert text == "Somewhere quiet"
        assert [turn.role for turn in talk.turns] == ["user"]


def test_after_a_failure_the_next_message_takes_the_place_of_the_last_and_keeps_its_refusal(kb):
    class Picky(Fixed):
        def rank(self, turn):
            if "poison" in turn.query:
                raise ValueError("no")
            return list(turn.pool)

        def respond(self, turn, ranking):
            return Response(f"Try {self.kb.pois[ranking[0]].name}.", (ranking[0],), (), tuple(ranking))

    page = BaselinePage(Picky, kb)
    first = page.send(begin(page), "quiet", "recommend")[0]
    talk = page.refuse(first, "poison")[0]
    talk = page.send(talk, "a cheap one", "recommend")[0]
    assert [turn.role for turn in talk.turns] == ["user", "system", "user", "system"]
    assert talk.rejected == set(first.named)


def test_empty_and_endless_messages_are_refused_with_words(tfidf):
    talk = begin(tfidf)
    for text in ("", "   \n ", None):
        assert "nothing to answer" in tfidf.send(talk, text, "recommend")[2]
    talk, kept, conversation, *_ = tfidf.send(talk, "a" * 1_000_000, "recommend")
    assert "1,000,000 characters" in conversation
    assert len(conversation) < 5_000
    assert len(kept) <= LONGEST_MESSAGE + 1
    turn = tfidf.send(begin(tfidf), "quiet", "recommend")[0].turns
    full = replace(talk, turns=turn * (MOST_TURNS // 2))
    assert "as long as it gets" in tfidf.send(full, "more", "recommend")[2]


def test_what_visitors_and_baselines_write_stands_escaped(kb):
    class Hostile(Fixed):
        text = ATTACK + ' "' + ATTACK + '" [R1]'

    page = BaselinePage(Hostile, kb, ATTACK)
    for html in page.send(begin(page, persona=ATTACK), ATTACK, "recommend")[2:]:
        assert "<script" not in html
        assert "<img" not in html


def test_a_conversation_that_the_server_lost_begins_anew(tfidf):
    city = tfidf.kb.cities[1]
    talk = tfidf.send(None, "quiet", "recommend", city, "hotel", "8", "")[0]
    assert (talk.city, talk.poi_type, len(talk.turns)) == (city, "hotel", 2)
    assert "names no place" in tfidf.refuse(None, "", city, "hotel", "8", "")[2]


def test_an_unknown_action_pool_or_city_is_no_way_in(tfidf):
    talk = tfidf.send(begin(tfidf), "quiet", "<b>")[0]
    assert talk.turns[-1].action == "recommend"
    with pytest.raises(UsageError, match="there is no pool"):
        tfidf.start("Atlantis", "hotel", "8", "")
    with pytest.raises(UsageError, match="there is no pool"):
        tfidf.start(tfidf.kb.cities[0], "hotel", "9", "")


def test_pools_are_nested_and_the_same_for_everybody(kb):
    city = kb.cities[0]
    sizes = [places.pool_of(kb, city, "hotel", size) for size in ("8", "16", "open")]
    assert [len(pool) for pool in sizes] == [8, 12, 12]
    assert sizes[1][:8] == sizes[0] == places.pool_of(kb, city, "hotel", "8")


class Remembers(Fixed):
    """Keeps what it saw since the last reset, and says it."""

    def reset(self, dialogue_id):
        self.seen = []

    def observe(self, turn):
        self.seen.append(turn.text)

    def respond(self, turn, ranking):
        time.sleep(0.002)
        return Response(
            "I heard: " + " / ".join(text for text in self.seen if text.startswith("visitor")), ranking=tuple(ranking)
        )


def test_many_conversations_at_once_never_mix(kb):
    page = BaselinePage(Remembers, kb)
    answers = {}

    def visit(number):
        talk = begin(page)
        for step in range(4):
            talk = page.send(talk, f"visitor {number} step {step}", "recommend")[0]
        answers[number] = talk.turns[-1].text

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {
        number: "I heard: " + " / ".join(f"visitor {number} step {step}" for step in range(4)) for number in range(24)
    }


def test_a_baseline_that_remembers_visitors_has_one_memory_for_each(kb):
    class Diary(Remembers):
        session_isolated = False

        def prepare(self, kb):
            super().prepare(kb)
            self.diary = []

        def respond(self, turn, ranking):
            self.diary.append(turn.history[-1].text)
            return Response("diary: " + " ".join(self.diary), ranking=tuple(ranking))

    page = BaselinePage(Diary, kb)
    one, two = begin(page), begin(page)
    one = page.send(one, "alpha", "recommend")[0]
    two = page.send(two, "beta", "recommend")[0]
    one = page.send(one, "gamma", "recommend")[0]
    assert one.turns[-1].text == "diary: alpha gamma"
    assert two.turns[-1].text == "diary: beta"


def test_a_baseline_that_asks_a_model_says_so_where_none_is_configured(kb, monkeypatch):
    class Asks(Fixed):
        uses_lm = True

    monkeypatch.delenv("TRACE_LM", raising=False)
    page = BaselinePage(lambda: with_model(Asks()), kb)
    conversation = page.send(begin(page), "Somewhere quiet", "recommend")[2]
    assert "asks a language model, and this Space has none configured" in conversation
    assert "TRACE_LM" in conversation


def test_a_thousand_places_are_ranked_drawn_and_folded(kb):
    pois, reviews = [], []
    for copy in range(4):
        for poi in kb.pois.values():
            pois.append(replace(poi, business_id=f"{poi.business_id}-{copy}", city="Tampa", poi_type="hotel"))
            some = [kb.reviews[review_id] for review_id in kb.reviews_of[poi.business_id][:2]]
            reviews += [
                replace(item, review_id=f"{item.review_id}-{copy}", business_id=pois[-1].business_id) for item in some
            ]
    wide = KnowledgeBase.from_tables(pois[:1000], reviews)
    page = BaselinePage(lambda: load_baseline("tfidf"), wide)
    started = time.monotonic()
    wish = "Good coffee and free parking. " + " ".join(f"word{at}" for at in range(600))
    talk, _, _, ranking, chart, _ = page.send(begin(page, "open"), wish, "recommend")
    assert len(talk.pool) == 1000
    assert "Ranks 11 to 100, of 1,000" in ranking
    assert len(ranking) + len(chart) < 500_000
    assert time.monotonic() - started < 20


def test_places_without_coordinates_are_counted_and_a_map_without_any_is_words(kb):
    some = list(kb.pois.values())[:4]
    lost = [replace(poi, latitude=None, longitude=None) for poi in some]
    assert "2 places have no coordinates" in draw_map(some[:2] + lost[2:], (), ())
    assert "there is no map" in draw_map(lost, (), ())
    assert "<svg" in draw_map([some[0]], (some[0].business_id,), (some[0].business_id,))


def test_the_number_of_sample_places_is_checked(monkeypatch):
    monkeypatch.setenv("TRACE_SPACE_PLACES", "many")
    with pytest.raises(UsageError, match="TRACE_SPACE_PLACES"):
        places.sample_places()
    monkeypatch.setenv("TRACE_SPACE_PLACES", "192")
    assert len(places.sample_places().pois) == 192


def test_wishes_to_click_are_answered_with_words_found_in_the_data(tfidf):
    for wish in baseline_page.WISHES:
        talk, _, _, ranking, *_ = tfidf.send(begin(tfidf), wish, "recommend")
        assert talk.named
        assert words(ranking).count(" none ") < 8
