"""Systems against each other: any pair, any metric, from one set of draws, equal to the loop that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from analysis.made import dialogue, hits, results, turn

from hydrate.errors import UsageError
from trace_dataset.analysis.comparisons import bootstrap_table, contrasts, paired_tests_table, spread_table
from trace_dataset.analysis.corpus import corpora
from trace_dataset.analysis.statistics import holm
from trace_dataset.evaluation.bootstrap import bootstrap_ci, bootstrap_delta

TURNS = ("recall_at_1", "gs", "cd", "pc", "cgs_mean_of_turns", "bleu4")


def made(name: str, seed: int, size: int = 30):
    draw = np.random.default_rng(seed)
    rows = []
    for at in range(size):
        mine = [turn(None, bleu4=float(draw.random()))]
        for _ in range(1 + at % 3):
            gone = None if draw.random() < 0.2 else float(draw.random())
            mine.append(
                turn(float(draw.random() < 0.4), gs=float(draw.random()), cd=float(draw.random()), pc=gone, cgs=gone)
            )
        rows.append(mine)
    own = [
        dialogue(rejections=at % 3, recovered=min(at % 3, int(draw.integers(0, 3))), tsr=float(draw.random()))
        for at in range(size)
    ]
    return results(name, rows, own)


def by_dialogue(result, metric: str):
    column = "cgs" if metric == "cgs_mean_of_turns" else metric
    rows = [[] for _ in result.dialogues["dialogue_id"]]
    for owner, value in zip(result.owner, result.turns[column], strict=True):
        rows[owner].append(value)
    return rows


def test_every_contrast_is_the_pairwise_bootstrap() -> None:
    systems = [made("a", 1), made("b", 2), made("c", 3)]
    found = contrasts(systems, TURNS, n_boot=300)
    assert len(found) == 3 * len(TURNS)
    for item in found:
        a, b = by_dialogue(item.a, item.metric), by_dialogue(item.b, item.metric)
        assert item.found.delta == pytest.approx(bootstrap_delta(a, b), abs=1e-12)
        assert [item.found.low, item.found.high] == pytest.approx(bootstrap_ci(a, b, n_boot=300), abs=1e-12)


def test_recovery_is_paired_by_episode() -> None:
    a, b = made("a", 1), made("b", 2)
    [found] = contrasts([a, b], ["rejection_recovery"], n_boot=200)
    episodes = sum(a.dialogues["rejections"])
    assert found.found.n_turns == episodes
    assert found.found.delta == pytest.approx(
        (sum(a.dialogues["recovered"]) - sum(b.dialogues["recovered"])) / episodes
    )


def test_holm_covers_all_comparisons_at_once() -> None:
    found = contrasts([made("a", 1), made("b", 2), made("c", 3)], TURNS, n_boot=200)
    assert [item.p_holm for item in found] == holm([item.found.p for item in found])


def test_a_metric_without_a_common_turn_is_left_out() -> None:
    a = hits("a", [[1.0, None], [0.0]])
    assert contrasts([a, hits("b", [[0.0, None], [0.0]])], ["price_alignment"], n_boot=50) == []


def test_equal_systems_do_not_differ() -> None:
    a, b = hits("a", [[1.0], [0.0], [1.0]]), hits("b", [[1.0], [0.0], [1.0]])
    [found] = contrasts([a, b], ["recall_at_1"], n_boot=100)
    assert (found.found.delta, found.found.low, found.found.high, found.found.significant) == (0.0, 0.0, 0.0, False)
    assert found.found.p == 1.0
    assert paired_tests_table(corpora([a, b])["closed"]) == []  # all differences are equal: t has no value


def test_runs_over_other_dialogues_are_not_paired() -> None:
    with pytest.raises(UsageError, match="different dialogues"):
        contrasts([hits("a", [[1.0], [0.0]]), hits("b", [[1.0]])])
    [table] = bootstrap_table(
        corpora([hits("a", [[1.0], [0.0]]), hits("b", [[1.0], [1.0]]), hits("c", [[1.0]])])["closed"]
    )
    assert {row[0].text for row in table.rows} | {row[1].text for row in table.rows} == {"a", "b"}


def test_one_dialogue_has_no_spread_between_dialogues() -> None:
    [found] = contrasts([hits("a", [[1.0, 0.0]]), hits("b", [[0.0, 0.0]])], ["recall_at_1"], n_boot=100)
    assert (found.found.low, found.found.high) == (0.5, 0.5)


def test_spread_is_the_sample_deviation_over_turns() -> None:
    table = spread_table(corpora([hits("a", [[1.0, 0.0], [1.0, None]])])["closed"])
    at = list(table.header).index("R@1 sd")
    assert table.rows[0][at].value == pytest.approx(np.std([1, 0, 1], ddof=1))
