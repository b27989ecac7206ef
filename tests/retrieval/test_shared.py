"""What the retrieval baselines share, by hand: evidence, consensus, states, memory, dense scores."""

from __future__ import annotations

import math

import pytest

from trace_dataset.retrieval.cards import PromptSize, history_text, place_cards
from trace_dataset.retrieval.consensus import Consensus
from trace_dataset.retrieval.dense import dense_scores, place_summary
from trace_dataset.retrieval.evidence import ReviewSentences, jaccard_retrieval, rag_citation_check
from trace_dataset.retrieval.memory import PreferenceMemory, memory_weight, term_cosine
from trace_dataset.retrieval.spatial import ProximityGraph
from trace_dataset.retrieval.state import DialogueState, dst_filter, filter_row
from trace_dataset.retrieval.tracking import delta_of
from trace_dataset.schema import POI
from trace_dataset.scoring.practical import haversine_km
from trace_dataset.turns import PastTurn


def test_a_quote_of_ten_tokens_counts_whatever_its_punctuation():
    evidence = ["The rooms are small but spotless, and the front desk found us a late checkout."]
    said = "Rooms are small but spotless and the front desk found"
    assert rag_citation_check(f"They say “{said},” and so do I.", evidence)
    assert not rag_citation_check(f'They say "{said[6:]}".', evidence)
    assert not rag_citation_check(f"They say {said}.", evidence)


def test_a_quote_over_two_sentences_of_evidence_is_none():
    parts = ["We loved the quiet patio behind the house.", "The tacos were smoky and tender."]
    assert not rag_citation_check(f'"{" ".join(parts)}"', parts)
    assert rag_citation_check(f'"{" ".join(parts)}"', [" ".join(parts)])


def test_ties_of_jaccard_keep_their_order():
    assert [position for position, _ in jaccard_retrieval("patio", ["quiet", "loud", "patio", "bar"], top=3)] == [
        2,
        0,
        1,
    ]
    assert jaccard_retrieval("patio", []) == []


def test_sentences_of_a_place_stand_in_its_reviews(benchmark):
    sentences = ReviewSentences(benchmark.kb)
    place = next(iter(benchmark.kb.pois))
    for sentence in sentences.of(place):
        assert sentence.text in " ".join(benchmark.kb.reviews[sentence.review_id].text.split())
    nearest = sentences.nearest(sentences.of(place)[3].text, [place], top=2)
    assert nearest[0].text == sentences.of(place)[3].text


def test_consensus_counts_sentences(benchmark):
    found = Consensus(benchmark.kb)
    for place in list(benchmark.kb.pois)[:30]:
        for each in found.of(place).values():
            assert each.n_total > 0
            assert each.n_pos + each.n_neg <= each.n_total
            assert -1 <= each.value <= 1
        assert found.score(place, "nothing of the kind") == pytest.approx(0.1 * benchmark.kb.pois[place].stars)


STATE_POIS = [
    {"id": "a", "price": 3, "categories": ["Sushi Bars"], "noise": "loud", "features": []},
    {"id": "b", "price": 4, "categories": ["Thai"], "noise": "average", "features": ["wifi"]},
]


@pytest.mark.parametrize(
    ("state", "left"),
    [
        (
            {"price": 3, "cuisine_like": ["sushi"], "noise": "quiet", "features": ["parking"]},
            ["a"],
        ),  # features, then noise
        ({"price": 2, "cuisine_like": ["pizza"], "noise": "quiet"}, ["a", "b"]),  # all of them, price at last
        ({"price": 3, "cuisine_like": ["thai"]}, ["a"]),  # cuisine before price
        ({"noise": "quiet"}, ["b"]),  # a neighbouring level will do
        ({"cuisine_avoid": ["bars"]}, ["b"]),
        ({"features": ["WiFi"]}, ["b"]),
        ({"rejected": ["a", "b"]}, ["a", "b"]),  # nothing else is left
        ({}, ["a", "b"]),
    ],
)
def test_what_a_state_leaves_and_the_order_in_which_constraints_are_given_up(state, left):
    assert dst_filter(state, STATE_POIS) == left


def test_a_filter_on_no_place_leaves_none():
    assert dst_filter({"price": 1}, []) == []


def test_a_later_turn_overrides_and_lists_grow():
    first = DialogueState(price=2, cuisine_like=("thai",), rejected=("a",), noise="quiet")
    state = first.merged(DialogueState(price=4, cuisine_like=("sushi", "thai"), rejected=("b",)))
    assert (state.price, state.cuisine_like, state.rejected, state.noise) == (4, ("thai", "sushi"), ("a", "b"), "quiet")
    assert "turned down: Elm, Oak" in state.described({"a": "Elm", "b": "Oak"})
    assert DialogueState().described({}) == "nothing yet"


def test_a_delta_keeps_only_features_that_can_be_looked_up():
    values = {
        "price": "$$",
        "noise": "unstated",
        "cuisine_like": [" Thai "],
        "cuisine_avoid": [],
        "ambience": ["Cozy", ""],
        "features": ["free parking", "a good feeling"],
        "location": ["near the river"],
    }
    delta = delta_of(values)
    assert (delta.price, delta.noise, delta.cuisine_like, delta.ambience) == (2, None, ("thai",), ("cozy",))
    assert (delta.features, delta.location) == (("parking",), "near the river")


def test_a_row_of_the_filter_reads_yelps_attributes(benchmark):
    rows = [filter_row(benchmark.kb, place) for place in benchmark.kb.pois]
    assert {row["noise"] for row in rows} >= {"quiet", "loud", None}
    with_wifi = [row for row in rows if benchmark.kb.pois[row["id"]].attributes.get("WiFi") in ("free", "paid")]
    assert with_wifi
    assert all("wifi" in row["features"] for row in with_wifi)


def test_memory_is_by_persona_and_halves_in_a_week():
    memory = PreferenceMemory()
    memory.add("family", "a quiet patio", 0.0)
    memory.add("family", "quiet patio with shade", 167.0)
    memory.add("family", "loud bars", 167.0)
    memory.add("business", "a quiet patio", 168.0)
    recalled = memory.recall("family", "quiet patio", 168.0)
    assert [text for text, _ in recalled] == ["quiet patio with shade", "a quiet patio"]
    assert recalled[1][1] == pytest.approx(0.5)
    assert recalled[0][1] == pytest.approx(
        memory_weight(2 / math.sqrt(6), 1.0)
    )  # two of three terms; "with" is a stop word
    assert memory.recall("nobody", "quiet", 0.0) == []


def test_saying_the_same_again_makes_a_memory_young_and_only_five_are_recalled():
    memory = PreferenceMemory()
    for hour in range(8):
        memory.add("family", f"quiet place number {hour}", float(hour))
    memory.add("family", "quiet place number 0", 9.0)
    recalled = memory.recall("family", "quiet place", 10.0)
    assert len(recalled) == 5
    assert recalled[0][0] == "quiet place number 0"


def test_cosine_of_terms_ignores_stop_words():
    assert term_cosine("the quiet patio", "quiet and patio") == pytest.approx(1.0)
    assert term_cosine("the", "the") == 0.0


def test_rejected_places_pull_the_query_away_and_lose_one():
    docs = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    scores = dense_scores([1.0, 1.0], docs, ["a", "elsewhere"])
    assert scores == pytest.approx({"a": 0.5 / math.sqrt(1.25) - 1, "b": 1 / math.sqrt(1.25)})
    assert dense_scores([0.0, 0.0], docs, []) == {"a": 0.0, "b": 0.0}
    assert dense_scores([1.0, 0.0], docs, ["a", "b"])["a"] < 0


def test_a_dense_document_is_three_reviews_cut_to_200_characters(benchmark):
    place = next(iter(benchmark.kb.pois))
    lines = place_summary(benchmark.kb, place)
    reviews = [benchmark.kb.reviews[review].text for review in benchmark.kb.reviews_of[place][:3]]
    head = f"{benchmark.kb.pois[place].name}\n{', '.join(benchmark.kb.pois[place].categories)}\n"
    assert lines == head + "\n".join(review[:200] for review in reviews)


def test_a_card_cuts_at_a_word_and_labels_are_the_pools(benchmark):
    pool = tuple(sorted(benchmark.kb.pois)[:3])
    cards = place_cards(benchmark.kb, pool[1:2], pool, PromptSize(reviews=2, review_chars=40))
    labels = benchmark.kb.labels(pool)
    lines = cards.splitlines()
    assert lines[0].startswith(f"{benchmark.kb.pois[pool[1]].name} | ")
    for line, review in zip(lines[1:], benchmark.kb.reviews_of[pool[1]], strict=False):
        label, _, text = line.strip().partition(" ")
        whole = " ".join(benchmark.kb.reviews[review].text.split())
        assert label == f"[{labels[review]}]"
        assert len(text) <= 40
        assert whole.startswith(text)
        assert whole[len(text) : len(text) + 1] in (" ", "")


def test_history_is_one_line_a_turn():
    turns = [
        PastTurn("user", "inform", "Hello\nthere"),
        PastTurn("system", "greet", "Hi"),
        PastTurn("user", "inform", "Tacos"),
    ]
    assert history_text(turns, PromptSize()) == "traveller: Hello there\nassistant: Hi\ntraveller: Tacos"
    assert history_text(turns, PromptSize(turns=1)) == "traveller: Tacos"


def test_neighbours_are_of_another_type_in_the_same_city_nearest_first():
    def place(name, kind, latitude, city="Here"):
        return POI(name, name, "", city, "", kind, latitude, -75.0, (), 4.0, 5, None)

    graph = ProximityGraph(
        [
            place("a", "restaurant", 39.95),
            place("b", "hotel", 39.953),
            place("c", "hotel", 39.951),
            place("d", "restaurant", 39.9501),
            place("e", "hotel", 39.96),
            place("f", "hotel", 39.95, "There"),
        ]
    )
    assert [name for name, _ in graph.neighbours("a")] == ["c", "b"]
    assert graph.neighbours("a")[0][1] == pytest.approx(haversine_km((39.95, -75.0), (39.951, -75.0)))
    assert graph.neighbours("f") == []
