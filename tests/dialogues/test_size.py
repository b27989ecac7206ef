"""The paper's size: 2,400 places, 10,000 dialogues. A minute or more."""

import re
from collections import Counter, defaultdict

import pytest

import hydrate
from trace_dataset.dialogues import TemplateWriter, build_dialogues
from trace_dataset.dialogues.build import _Maker
from trace_dataset.dialogues.plan import make_plan
from trace_dataset.dialogues.planned import Plan
from trace_dataset.dialogues.scenario import draw_scenario
from trace_dataset.kb import build_knowledge_base, collect_evidence
from trace_dataset.sample import write_sample
from trace_dataset.schema import TIERS
from trace_dataset.scoring.text import tokenize

PLACEHOLDER = re.compile(r'"\[Q:\d+\]" \[R\d+\]')
SLOTS = frozenset(["thing", "where", "lacks", "topic", "city", "kind", "name", "quote", "cat"])


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("large") / "yelp", places=2400)
    kb, _ = build_knowledge_base(hydrate.open_bundle(folder))
    return kb, collect_evidence(kb)


@pytest.mark.slow
def test_the_bounds_of_the_paper(large):
    kb, evidence = large
    dialogues, report = build_dialogues(kb, evidence, n_dialogues=10_000)
    assert len(dialogues) == 10_000
    assert abs(report.turns_mean - 10.5) <= 0.5
    assert 1.5 <= report.turns_sd <= 2.2
    assert abs(report.places_mean - 3.3) <= 0.3
    assert abs(report.rejection_share - 0.294) <= 0.02
    assert abs(report.recommending_share - 0.61) <= 0.04
    assert report.closing_share <= 0.04
    for tier, share in zip(TIERS, (0.248, 0.348, 0.306, 0.098), strict=True):
        assert abs(report.tiers[tier] / 10_000 - share) <= 0.02
    grams = Counter(gram for dialogue in dialogues for gram in six_grams(kb, dialogue))
    assert max(grams.values()) <= 300


def six_grams(kb, dialogue):
    """Return the runs of six words of ours: names and quotes break them, the ends of sentences do not."""
    found = set()
    for turn in dialogue.turns:
        text = PLACEHOLDER.sub("\n", turn.text)
        for key in dialogue.candidates:
            text = text.replace(kb.pois[key].name, "\n")
        for part in text.split("\n"):
            words = tokenize(part)
            found.update(tuple(words[index : index + 6]) for index in range(len(words) - 5))
    return found


@pytest.mark.slow
def test_frames_are_varied(large):
    kb, evidence = large
    maker = _Maker(kb, evidence, 42, TemplateWriter())
    frames = defaultdict(Counter)
    for index in range(3000):
        scenario = draw_scenario(42, index, maker.cells)
        plan = make_plan(maker.views[scenario.city, scenario.poi_type], scenario, 42)
        assert isinstance(plan, Plan)
        names = {key: kb.pois[key].name for key in plan.candidates}
        for turn, text in zip(plan.turns, TemplateWriter(SLOTS).write(plan, names, 42, 1), strict=True):
            frames[turn.role, turn.action][text] += 1
    users = [frames[key] for key in frames if key[0] == "user"]
    total = sum(sum(counts.values()) for counts in users)
    assert max(max(counts.values()) for counts in users) <= 0.01 * total
    assert all(len(counts) >= 40 for counts in frames.values())
