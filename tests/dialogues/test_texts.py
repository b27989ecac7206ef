"""What is said: verbatim evidence, no names from users, no worn phrases."""

import re
from collections import Counter

import pytest

from hydrate import span_sha256
from trace_dataset.dialogues.grammar import Voice, compiled, wording_file
from trace_dataset.dialogues.scenario import personas
from trace_dataset.schema import RECOMMENDING
from trace_dataset.scoring.text import extract_quotes, parse_citations, tokenize

WEIGHTED = {"say", "brief_wish", "plain_wish", "clarify", "second", "aside", "ask", "instead", "fails", "quote", "so"}
PLACEHOLDER = re.compile(r'"\[Q:(\d+)\]" \[(R\d+)\]')


def test_quotes_are_verbatim_numbered_and_labelled_right_behind(built):
    for dialogue in built.dialogues:
        labels = built.kb.labels(dialogue.candidates)
        for turn in dialogue.turns:
            found = PLACEHOLDER.findall(turn.text)
            assert [(int(n), label) for n, label in found] == sorted((quote.n, quote.label) for quote in turn.quotes)
            assert turn.text.count("[Q:") == len(found) == len(turn.quotes)
            for quote in turn.quotes:
                text = built.kb.reviews[quote.review_id].text[quote.start : quote.end]
                assert quote.sha256 == span_sha256(text)
                assert quote.label == labels[quote.review_id]
                assert quote.business_id == built.kb.reviews[quote.review_id].business_id
            assert {item.label for item in turn.citations} == {quote.label for quote in turn.quotes}


def test_hydrated_texts_quote_what_the_plan_says(built):
    for dialogue in built.dialogues[:200]:
        for turn, text in zip(dialogue.turns, built.texts(dialogue), strict=True):
            spans = [built.kb.reviews[quote.review_id].text[quote.start : quote.end] for quote in turn.quotes]
            assert extract_quotes(text) == spans
            assert [f"R{number}" for number in parse_citations(text)] == list(
                dict.fromkeys(q.label for q in turn.quotes)
            )


def test_each_place_that_is_recommended_is_quoted_and_named_in_order(built):
    for dialogue in built.dialogues:
        for turn in dialogue.turns:
            if turn.action in RECOMMENDING:
                assert {quote.business_id for quote in turn.quotes} == set(turn.poi_ids)
            positions = [turn.text.replace("\\\\", "\\").find(built.kb.pois[key].name) for key in turn.poi_ids]
            assert positions == sorted(positions)
            assert all(position >= 0 for position in positions)


def test_no_span_is_quoted_twice_in_a_dialogue(built):
    repeated = 0
    for dialogue in built.dialogues:
        spans = [(quote.review_id, quote.start, quote.end) for turn in dialogue.turns for quote in turn.quotes]
        repeated += len(spans) != len(set(spans))
    assert repeated <= 10  # only where everything good about a place has been said


def test_users_name_no_place(built):
    for dialogue in built.dialogues:
        names = [f" {' '.join(tokenize(built.kb.pois[key].name))} " for key in dialogue.candidates]
        for turn in dialogue.turns:
            if turn.role == "user":
                said = f" {' '.join(tokenize(turn.text))} "
                assert not any(name in said for name in names)


def test_texts_are_sentences(built):
    for dialogue in built.dialogues:
        for turn in dialogue.turns:
            assert turn.text == turn.text.strip()
            assert not re.search(r"  |\s[.,?!]|[?!]\.|\.\.|[{}<>|\x01\x02]|,,", turn.text), turn.text
            if turn.role == "system":
                assert turn.text[-1] in ".!?"


def test_users_words_share_some_words_with_reviews_but_not_all(built):
    vocabulary = {token for review in built.kb.reviews.values() for token in tokenize(review.text)}
    said = [
        token for item in built.dialogues for turn in item.turns if turn.role == "user" for token in tokenize(turn.text)
    ]
    wishes = [turn for item in built.dialogues for turn in item.turns if turn.constraints]
    literal = sum(all(tokenize(wish.value)[0] in tokenize(turn.text) for wish in turn.constraints) for turn in wishes)
    assert 0.5 < sum(token in vocabulary for token in said) / len(said) < 0.98
    assert literal / len(wishes) < 0.5  # most wishes are put in other words than the catalogue's key


def six_grams(built, dialogue):
    found = set()
    for turn in dialogue.turns:
        text = PLACEHOLDER.sub("\n", turn.text)
        for key in dialogue.candidates:
            text = text.replace(built.kb.pois[key].name, "\n")
        for part in text.split("\n"):
            words = tokenize(part)
            found.update(tuple(words[index : index + 6]) for index in range(len(words) - 5))
    return found


def test_no_six_words_of_ours_are_worn_out(built):
    counts = Counter(gram for dialogue in built.dialogues for gram in six_grams(built, dialogue))
    worn = {
        gram: count for gram, count in counts.items() if count > 0.045 * len(built.dialogues)
    }  # 3 % and noise of 1,000
    assert not worn


def test_turns_repeat_rarely(built):
    texts = Counter(turn.text for item in built.dialogues for turn in item.turns if turn.role == "user")
    assert max(texts.values()) / sum(texts.values()) < 0.01


@pytest.mark.parametrize("name", ["user.json", "system.json"])
def test_every_line_of_the_wording_files_compiles_and_stands_once_a_list(name):
    for key, lines in wording_file(name).items():
        assert lines, key
        for line in lines:
            compiled(line)
        if key not in WEIGHTED:
            assert len(lines) == len(set(lines)), key


@pytest.mark.parametrize("line", ["(a|b", "a)b", "<open", "{slot"])
def test_broken_lines_are_refused(line):
    with pytest.raises(ValueError, match="bracket"):
        compiled(line)


def test_grammar_draws_branches_lists_and_slots():
    class Fixed:
        def random(self):
            return 0.99

    voice = Voice({"what": ["tea", "(hot|cold) {drink}"]}, Fixed())
    assert voice.line(["I want (some|any) <what>"], {"drink": "milk"}) == "I want any cold milk"
    assert Voice({}, Fixed(), frozenset({"drink"})).line(["{drink}!"], {"drink": "milk"}) == "_!"


def test_a_voice_does_not_repeat_a_line_while_others_are_left():
    import random

    voice = Voice({"x": [str(number) for number in range(40)]}, random.Random(1))
    said = [voice.say("x") for _ in range(12)]
    assert len(set(said)) == 12


def test_personas_speak_in_sentences_of_their_own():
    everyone = personas()
    openers = [line for persona in everyone for line in persona.openers]
    assert len(openers) == len(set(openers))
    assert all(len(persona.openers) >= 4 and len(persona.reasons) >= 3 for persona in everyone)
