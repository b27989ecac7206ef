"""A metric's Space: what it shows is what the metric computes, whatever is typed."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from apps.spaces import metric_space

from trace_dataset.apps.widgets import reading
from trace_dataset.apps.widgets.card import Card, read_card
from trace_dataset.apps.widgets.metric_page import MetricPage, load
from trace_dataset.installed import hub_names, hub_path

NAMES = hub_names("metrics")
ATTACK = '<script>alert(1)</script><img src=x onerror=alert(2)> ${alert(3)} {{7*7}} "quiet <b>patio</b>" [R1]'


STRANGER = """
import datasets
import evaluate


class {name}(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        features = datasets.Features({{"predictions": text, "references": text}})
        return evaluate.MetricInfo(description="", citation="", features=features)

    def _compute(self, predictions, references):
        {body}
"""


@pytest.fixture(scope="module")
def pages():
    return {name: page_of(name) for name in NAMES}


def page_of(name):
    folder = hub_path("metrics", name)
    return MetricPage(load(folder, name), name, read_card(folder / "README.md"))


def stranger(folder, name, body):
    (folder / f"{name}.py").write_text(STRANGER.format(name=name.title(), body=body))
    return MetricPage(load(folder, name), name, Card())


def typed(page, **values):
    return [values.get(field.name, field.value) for field in page.form.fields]


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_there_are_twelve_metrics_and_each_has_a_form_with_examples_and_a_card(pages):
    assert len(pages) == 12
    for page in pages.values():
        assert len(page.form.examples) >= 4
        assert page.card.title
        assert page.card.lead
        assert page.card.limits
        assert page.name in page.card.outputs or page.name == "task_success" or page.name == "poi_recall"


@pytest.mark.parametrize("name", NAMES)
def test_every_example_gives_the_values_that_the_metric_itself_gives(pages, name):
    page = pages[name]
    for values in page.form.examples.values():
        named = dict(zip([field.name for field in page.form.fields], typed(page, **values), strict=True))
        score, found = page.answer(*named.values())
        assert 'role="alert"' not in score
        expected = load(hub_path("metrics", name), name).compute(**page.form.read(named))
        shown = words(found)
        for key, value in expected.items():
            if isinstance(value, float):
                assert f"{key} {value:.3f}" in shown


def test_quotes_are_marked_by_support(pages):
    page = pages["grounding_score"]
    response = '"Quiet patio" and "quite patio" and "valet parking" [R1]; "valet parking" is in [R2] only.'
    reviews = "[R1] A quiet patio.\n[R3] Valet parking."
    score, found = page.answer(*typed(page, response=response, reviews=reviews))
    marks = re.findall(r'<span class="m (verified|fuzzy|unsupported)" title="[^"]*">([^<]*)</span><sup', found)
    assert marks[:4] == [
        ("verified", "Quiet patio"),
        ("fuzzy", "quite patio"),
        ("unsupported", "valet parking"),
        ("unsupported", "valet parking"),
    ]
    assert "(not cited)" in found
    assert "0.500" in score


def test_the_reviews_show_what_was_quoted_from_them(pages):
    page = pages["cgs"]
    _, found = page.answer(
        *typed(page, response='"nobody RUSHED us" [R2]', reviews="[R2] We stayed and nobody rushed us.")
    )
    assert re.search(r'We stayed and <span class="m verified"[^>]*>nobody rushed us</span>', found)


def test_aspect_words_are_marked_with_and_without_a_label_near(pages):
    page = pages["provenance_coverage"]
    _, found = page.answer(*typed(page, response="Cheap seafood [R4]." + "." * 90 + " and a pool.", reviews=""))
    marks = re.findall(r'class="m (backed|bare)"[^>]*>([^<]+)<', found)
    assert marks[:3] == [("backed", "Cheap"), ("backed", "seafood"), ("bare", "pool")]


def test_distances_of_places_are_those_that_the_metric_counts(pages):
    page = pages["spatial_coherence"]
    _, found = page.answer(*typed(page))
    shown = words(found)
    assert "City Hall Bell Museum 1.31 ✓ near" in shown
    assert shown.count("✗ far") == 2


def test_a_refusal_is_told_to_be_recovered_or_not(pages):
    page = pages["rejection_recovery"]
    told = {title: words(page.answer(*typed(page, **values))[1]) for title, values in page.form.examples.items()}
    assert "✓ recovered" in told["Recovered"]
    assert "✗ not recovered" in told["Not recovered"]
    assert "✗ not recovered" in told["How to fool it: repeat"]


def test_a_metric_that_came_without_what_finds_quotes_is_shown_without_them(tmp_path):
    folder = metric_space(tmp_path / "app", "entailment_grounding")
    page = MetricPage(load(folder, "entailment_grounding"), "entailment_grounding", Card())
    assert not page.scoring.has("matching")
    _, found = page.answer(*typed(page))
    assert "supported" in found
    assert "no quote" not in found
    assert "nobody rushed us" in found


def test_entailment_says_that_the_stand_in_is_not_the_model_and_lists_the_claims(pages):
    page = pages["entailment_grounding"]
    _, found = page.answer(*typed(page, response="Quiet patio. Valet parking.", reviews="[R1] quiet patio. here"))
    assert "not the metric" in words(found)
    assert re.search(r"Quiet patio\. other claim 1\.00 ✓ supported", words(found))
    assert re.search(r"Valet parking\. other claim 0\.00 ✗ not supported", words(found))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_typed_stands_escaped(pages, name):
    page = pages[name]
    for field in page.form.fields:
        if field.kind != "text":
            continue
        places = f"{ATTACK}, 39.9, -75.1\n{ATTACK}x, 39.9, -75.2"
        for value in (ATTACK, f"[R1] {ATTACK}", f"system recommend: {ATTACK}", places):
            for html in page.answer(*typed(page, **{field.name: value})):
                assert "<script" not in html
                assert "<img" not in html
                assert "<b>patio" not in html


@pytest.mark.parametrize("name", NAMES)
def test_empty_input_is_answered(pages, name):
    page = pages[name]
    empty = ["" if field.kind == "text" else field.value for field in page.form.fields]
    score, _ = page.answer(*empty)
    assert 'class="wrong"' in score or 'class="score"' in score
    assert "stopped with" not in score
    assert "stopped with" not in page.answer(*[None] * len(empty))[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_megabyte_is_refused_with_the_size_and_the_way_to_go(pages, name):
    page = pages[name]
    field = next(field for field in page.form.fields if field.kind == "text")
    score, found = page.answer(*typed(page, **{field.name: "a" * 1_000_000}))
    assert "1,0" in score
    assert "evaluate.load" in score
    assert found == ""


def test_the_longest_text_that_is_taken_is_full_of_quotes_and_still_answered(pages):
    page = pages["cgs"]
    response = '"quiet patio" [R1] cheap ' * 2000
    score, found = page.answer(*typed(page, response=response, reviews="[R1] " + "A quiet patio. " * 3000))
    assert 'class="score"' in score
    assert len(found) < 3_000_000


def test_a_thousand_places_are_scored_and_a_few_pairs_are_shown(pages):
    page = pages["spatial_coherence"]
    places = "\n".join(f"place {at}, {39 + at / 1000:.3f}, -75.1" for at in range(1000))
    score, found = page.answer(*typed(page, places=places))
    assert 'class="score"' in score
    assert "499,500 pairs; the first 66 are shown" in found


def test_one_request_never_sees_the_rows_of_another(pages):
    page = pages["grounding_score"]
    assert 'class="wrong"' in page.answer(*typed(page, reviews="no label here"))[0]
    for _ in range(2):
        assert '<code>n</code></td><td class="number">1<' in page.answer(*typed(page))[1]


def test_an_output_at_a_cut_off_has_the_meaning_that_the_card_gives_for_any(pages):
    _, found = pages["poi_recall"].answer(*typed(pages["poi_recall"]))
    assert "recall_at_3 0.667 gold ids among the first k, over gold ids" in words(found)


def test_many_visitors_at_once_get_their_own_scores(pages):
    page = pages["grounding_score"]

    def visit(good):
        response = " ".join(['"quiet patio"'] * good + ['"valet parking"'] * (8 - good)) + " [R1]"
        return page.answer(*typed(page, response=response, reviews="[R1] A quiet patio."))[0]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(visit, [at % 9 for at in range(72)]))
    assert [f"<strong>{at % 9 / 8:.3f}</strong>" in answer for at, answer in enumerate(answers)] == [True] * 72


def test_rows_as_json_are_scored_and_faults_of_shape_are_told(pages):
    page = pages["poi_recall"]
    score, found = page.answer_rows('{"predictions": [["a"], ["b"]], "references": [["a"], ["c"]]}')
    assert "0.500" in score
    assert '<code>n</code></td><td class="number">2<' in found
    for text in (
        "",
        "[",
        "[]",
        "{}",
        '{"predictions": 5}',
        '{"predictions": [5], "references": [[]]}',
        "[" * 50_000,
        '{"predictions": [], "references": [], "nonsense": 1}',
        '{"predictions": [["a"]], "references": []}',
    ):
        assert 'class="wrong"' in page.answer_rows(text)[0]


def test_a_strangers_metric_gets_a_form_for_rows(tmp_path):
    page = stranger(tmp_path, "letters", 'return {"letters": float(len(predictions[0]))}')
    assert page.form is None
    assert "3.000" in page.answer_rows('{"predictions": ["abc"], "references": ["x"]}')[0]


def test_a_metric_that_raises_costs_a_message_and_nothing_of_the_text_is_shown_or_logged(tmp_path, caplog):
    page = stranger(tmp_path, "raises", "raise RuntimeError(predictions[0])")
    score, _ = page.answer_rows('{"predictions": ["secret words"], "references": ["x"]}')
    assert "RuntimeError" in score
    assert "secret" not in score
    assert "RuntimeError at raises.py:13" in caplog.text
    assert "secret" not in caplog.text


def test_lines_that_cannot_be_read_are_named_by_their_number():
    for read, text, line in [
        (reading.dialogues, "user inform\nrobot says hello", "Line 2"),
        (reading.places, "a, 1, 2\nb, 3", "Line 2"),
        (reading.places, "a, 1, north", "Line 1"),
        (reading.reviews, "[R1] one\n[R1] two", "Line 2"),
        (reading.reviews, "words without a label", "Line 1"),
    ]:
        with pytest.raises(reading.Unreadable, match=line):
            read(text)


def test_a_card_is_read_past_its_front_matter(tmp_path):
    path = tmp_path / "README.md"
    outputs = "| key | range | meaning |\n| --- | --- | --- |\n| `a`, `b` | 0 | one; two |\n"
    path.write_text(f"---\ntitle: x\n---\n\n# Title\n\nLead here.\n\n## Outputs\n\n{outputs}\n## Limits\n\n- none\n")
    assert read_card(path) == Card("Title", "Lead here.", "- none", {"a": "one", "b": "two"})
    assert read_card(Path("nowhere")) == Card()
