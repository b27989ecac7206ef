"""Properties of every scoring function on whatever hypothesis comes up with: no crash, in range, monotone where defined."""

from __future__ import annotations

import os
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from trace_dataset.scoring import (
    aggregate,
    calibration,
    composite,
    entailment,
    grounding,
    human,
    inventory,
    judge,
    practical,
    ranking,
    recovery,
    text,
)

# TRACE_EXAMPLES=5000 pytest … is the long run
FEW = settings(max_examples=int(os.environ.get("TRACE_EXAMPLES", "60")), deadline=None)
MARKS = "\"“”„«»'‘’[]R0123456789,;.!? \n\r\u2028$éＡﬁ漢א"
words = st.text(alphabet=st.sampled_from(MARKS + "abcdefgh"), max_size=60)
texts = st.one_of(
    words,
    st.text(max_size=60),
    st.lists(st.sampled_from(["quiet", "pool", '"nobody rushed us"', "[R1]", "[R2, R9]", "cheap", "."])).map(" ".join),
)
reviews = st.lists(texts, max_size=3)
unit = st.floats(0, 1)
ids = st.lists(st.sampled_from("abcdef"), max_size=6)
values = st.lists(st.none() | unit, max_size=6)
turns = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "system"]),
            "action": st.sampled_from(["inform", "reject_and_refine", "recommend", "compare", "clarify"]),
        },
        optional={"pred": ids, "rejected": ids},
    ),
    max_size=8,
)


@FEW
@given(texts)
def test_text_primitives(raw: str) -> None:
    plain = text.normalize_text(raw)
    assert plain == plain.strip()
    assert "  " not in plain
    assert text.tokenize(raw) == text.tokenize(raw)
    assert all(token and not token.isspace() for token in text.tokenize(raw))
    numbers = text.parse_citations(raw)
    assert len(numbers) == len(set(numbers))
    spans = text.quote_spans(raw)
    assert all(first.end < second.start for first, second in pairwise(spans))
    assert [raw[start:end] for start, end, _ in spans] == text.extract_quotes(raw)
    assert all(n >= 1 and "\n" not in raw[start:end] for start, end, n in spans)
    assert text.extract_quotes(raw, min_tokens=3) == [raw[a:b] for a, b, n in spans if n >= 3]
    joined = "".join("".join(text.split_sentences(raw)).split())
    assert joined == "".join(raw.split())


@FEW
@given(texts, texts)
def test_similarity_is_partial_ratio_with_a_guard(quote: str, review: str) -> None:
    found = text.quote_similarity(quote, review)
    plain_quote, plain_review = text.normalize_text(quote), text.normalize_text(review)
    assert 0 <= found <= 1
    if not plain_quote or not plain_review:
        assert found == 0
    elif len(plain_quote) <= len(plain_review):
        assert found == pytest.approx(fuzz.partial_ratio(plain_quote, plain_review) / 100)
    else:
        assert found == pytest.approx(fuzz.ratio(plain_quote, plain_review) / 100)


noise = st.sampled_from(["", "x", " ", "  ", "\n", "é", "e\u0301", "\u0301", "İ", "ﬁ", "’", '"', "S"])
longer = st.lists(
    st.sampled_from("a b c quiet patio Staff café nobody rushed us İx".split(" ")) | noise, max_size=25
).map(" ".join)


@FEW
@given(longer, longer, st.data())
def test_shortcuts_reach_the_verdict_of_the_definition(review: str, other: str, data) -> None:
    start = data.draw(st.integers(0, len(review)))
    quote = list(review[start : start + data.draw(st.integers(0, 60))])
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(quote)))
        quote[at : at + data.draw(st.integers(0, 1))] = data.draw(noise)
    altered = "".join(quote)
    for threshold in (0.6, 0.8, 0.95, "exact"):
        least = 1.0 if threshold == "exact" else threshold
        best = max(text.quote_similarity(altered, given) for given in (review, other))
        assert grounding.match_quotes([[altered]], [[review, other]], threshold) == [[best >= least - 1e-9]]


@FEW
@given(texts, texts)
def test_overlap_of_two_texts(reference: str, hypothesis: str) -> None:
    bleu, rouge = text.bleu4(reference, hypothesis), text.rouge_l(reference, hypothesis)
    assert 0 <= bleu <= 1
    assert 0 <= rouge <= 1
    assert rouge == text.rouge_l(hypothesis, reference)
    if len(text.tokenize(reference)) >= 4:
        assert text.bleu4(reference, reference) == pytest.approx(1)
    assert text.bleu4(reference, "") == text.rouge_l(reference, "") == 0


@FEW
@given(texts, reviews, st.booleans())
def test_grounding(response: str, cited: list[str], recommends: bool) -> None:
    columns = grounding.score_turns([response], cited, [0, len(cited)], [recommends])
    assert 0 <= columns.gs[0] <= 1
    assert 0 <= columns.cd[0] <= 1
    assert (columns.pc[0] is None) == (not recommends)
    assert columns.pc[0] is None or 0 <= columns.pc[0] <= 1
    assert columns.cgs[0] is None or 0 <= columns.cgs[0] <= 1
    assert columns.n_matched[0] <= columns.n_quotes[0]
    by_threshold = [grounding.grounding_score(response, cited, t) for t in (0.5, 0.7, 0.8, 0.9, "exact")]
    assert by_threshold == sorted(by_threshold, reverse=True)
    assert grounding.grounding_score(response, [*cited, response]) >= columns.gs[0]
    assert columns.cd[0] <= grounding.citation_density(response, cited, count="quoted")
    assert grounding.gs0(response, cited) in (columns.gs[0], 0.0)


@FEW
@given(texts, st.integers(0, 100), st.integers(0, 100))
def test_provenance_grows_with_the_window(response: str, small: int, more: int) -> None:
    near = grounding.provenance_coverage(response, window=small)
    far = grounding.provenance_coverage(response, window=small + more)
    valid = grounding.provenance_coverage(response, window=small, valid_labels={1, 2})
    assert 0 <= valid <= near <= far <= 1


@FEW
@given(unit, unit, unit, unit)
def test_composites_are_in_range_and_monotone(gs: float, cd: float, pc: float, more: float) -> None:
    value = composite.cgs(gs, cd, pc)
    assert 0 <= value <= 1
    assert value <= composite.cgs(max(gs, more), cd, pc)
    assert value <= composite.cgs(gs, max(cd, more), pc)
    assert value <= composite.cgs(gs, cd, max(pc, more))
    for formula in composite.FORMULAS:
        assert 0 <= composite.cgs_alternative(gs, cd, pc, formula) <= 1 + 1e-12


@FEW
@given(st.lists(st.tuples(unit, unit, st.none() | unit), max_size=6))
def test_both_corpus_values(triples) -> None:
    for method in ("product_of_means", "mean_of_turns"):
        value = composite.cgs_corpus(triples, method)
        assert (value is None) == all(pc is None for _, _, pc in triples)
        assert value is None or 0 <= value <= 1 + 1e-12


@FEW
@given(ids, ids, ids, st.integers(1, 7))
def test_ranking(predicted, gold, others, k) -> None:
    recall, hit = ranking.recall_at_k(predicted, gold, k), ranking.hit_at_k(predicted, gold, k)
    rank, gain = ranking.reciprocal_rank(predicted, gold), ranking.ndcg_at_k(predicted, gold, k)
    for value in (recall, hit, rank, gain):
        assert (value is None) == (not gold)
    if gold:
        assert 0 <= recall <= hit <= 1
        assert 0 <= rank <= 1
        assert 0 <= gain <= 1 + 1e-12
        assert recall <= ranking.recall_at_k(predicted, gold, k + 1)
        assert ranking.multi_ref_recall_at_k(predicted, gold, others, k) >= hit
    pooled = ranking.pooled_recall_at_k([{"predicted": predicted, "relevant": gold}], k)
    assert pooled == recall


coordinate = st.none() | st.floats(-200, 200) | st.just(float("nan")) | st.just("39.9")


@FEW
@given(st.lists(st.tuples(st.sampled_from("abcd"), coordinate, coordinate), max_size=5), st.floats(0.1, 50))
def test_spatial_coherence_grows_with_the_radius(places, radius) -> None:
    value, wider = (practical.spatial_coherence(places, km) for km in (radius, radius * 2))
    assert (value is None) == (wider is None)
    assert value is None or 0 <= value <= wider <= 1
    assert practical.spatial_coherence(places, 30_000) in (None, 1.0)


@FEW
@given(
    st.lists(texts, max_size=3), st.lists(st.none() | st.integers(0, 5) | st.sampled_from(["$$", "2", "x"]), max_size=4)
)
def test_practical_value(said, prices) -> None:
    aligned = practical.price_alignment(said, prices)
    assert aligned is None or 0 <= aligned <= 1
    covered = practical.preference_coverage(said, said)
    assert covered in (None, 1.0)
    assert practical.preference_coverage(said, []) in (None, 0.0)


@FEW
@given(turns, ids, ids)
def test_recovery(dialogue, gold, more) -> None:
    success, wider = recovery.tsr(dialogue, gold), recovery.tsr(dialogue, [*gold, *more])
    assert success is None or success <= wider
    literal = recovery.rejection_recovery(dialogue, gold)
    strict = recovery.rejection_recovery(dialogue, gold, exclude_rejected=True)
    assert (literal is None) == (strict is None) == all(turn["action"] != "reject_and_refine" for turn in dialogue)
    assert literal is None or 0 <= strict <= literal <= 1
    for mode in ("system_turns", "rec_turns"):
        hit = recovery.t2r(dialogue, gold, mode, misses="drop")
        charged = recovery.t2r(dialogue, gold, mode)
        assert charged == (hit if hit is not None else len(dialogue) if gold else None)
        assert hit is None or (success == 1 and 1 <= hit <= len(dialogue))


@FEW
@given(st.lists(values, max_size=4))
def test_averages(dialogues) -> None:
    for level in ("turn", "dialogue"):
        mean = aggregate.aggregate(dialogues, level)
        assert mean is None or -1e-12 <= mean <= 1 + 1e-12
    spread = aggregate.turn_sd(dialogues)
    assert spread is None or spread >= 0


@FEW
@given(st.lists(st.lists(unit, max_size=3), max_size=4), unit, unit)
def test_entailment_falls_with_the_threshold(claims, low, high) -> None:
    strict = entailment.entailment_grounding(claims, max(low, high))
    lenient = entailment.entailment_grounding(claims, min(low, high))
    assert (strict is None) == (not claims)
    assert strict is None or 0 <= strict <= lenient <= 1


@FEW
@given(texts)
def test_sentences_have_one_category(sentence: str) -> None:
    assert entailment.sentence_category(sentence) in entailment.CATEGORIES
    assert all(text.tokenize(claim) for claim in entailment.claims_of(sentence))
    assert set(inventory.find_terms(sentence)) <= set(inventory.TERMS)


@FEW
@given(st.one_of(texts, st.text(alphabet='{}":,0123456 relevance')))
def test_a_judge_s_answer_is_ratings_or_none(answer: str) -> None:
    ratings = judge.judge_parse(answer)
    assert list(ratings) == list(judge.SCALES)
    assert all(rating is None or 1 <= rating <= 5 for rating in ratings.values())


labels = st.none() | st.sampled_from(human.QUOTE_LABELS)


@FEW
@given(st.lists(st.lists(st.lists(labels, max_size=5), max_size=3), max_size=3))
def test_annotations(items) -> None:
    for level in ("pooled", "item"):
        value = human.citation_precision(items, level)
        assert value is None or 0 <= value <= 1
    for item in items:
        selections = [[label for label in quote if label] for quote in item]
        for rate in (human.error_free_rate(selections), human.flag_rate(selections)):
            assert rate is None or 0 <= rate <= 1
    assert 0 <= human.strict_majority([[["a"], ["b"]]]) <= 1


scores = st.lists(st.none() | st.integers(-2, 2), min_size=1, max_size=5)


@FEW
@given(scores, st.data())
def test_calibration(judged, data) -> None:
    humans = [data.draw(scores) for _ in judged]
    aligned = calibration.alignment_with_majority(judged, humans)
    assert 0 <= aligned <= 1
    medians = [calibration.median_score(row) for row in humans]
    assert set(calibration.misaligned(judged, medians, 3)) <= set(calibration.misaligned(judged, medians, 2))
    assert calibration.majority_vote(judged) == calibration.majority_vote(judged[::-1])


def test_normal_form_is_stable_for_every_character() -> None:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cn", "Co"):
            continue
        plain = text.normalize_text(character)
        assert plain == plain.strip()
