"""Systems against each other: any pair, any metric, from one set of draws, equal to the loop that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from analysis.made import dialogue, hits, results, turn

from hydrate.errors import UsageError
from trace_dataset.analysis.catalogue import COMPARABLE
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


def test_a_clear_difference_survives_the_correction_for_many_comparisons() -> None:
    """A share of 200 resamples cannot fall below 0.01, and 24 times that is 0.24: what is far from 0 must not be lost so."""
    names = [*"abcd"]
    systems = [results(name, [[turn(float(at % 9 < 2 * i))] for at in range(90)]) for i, name in enumerate(names)]
    found = contrasts(systems, ["recall_at_1", "recall_at_3", "mrr", "gs"], n_boot=200)
    assert len(found) * 2 / 201 > 0.2
    far = next(item for item in found if (item.a.name, item.b.name, item.metric) == ("a", "d", "recall_at_1"))
    assert far.p_holm < 1e-6
    same = next(item for item in found if item.metric == "gs")
    assert (same.found.p, same.p_holm) == (1.0, 1.0)


def test_runs_of_other_metric_versions_are_warned_of_in_paired_tables() -> None:
    runs = [hits("a", [[1.0], [0.0], [1.0]]), hits("b", [[0.0], [0.0], [1.0]], scored={"scores": 99})]
    corpus = corpora(runs, 100)["closed"]
    for table in (*bootstrap_table(corpus), *paired_tests_table(corpus)):
        assert any("version of the metrics" in warning for warning in table.warnings)


def test_what_has_no_row_is_counted() -> None:
    corpus = corpora([hits("a", [[1.0], [0.0], [1.0]]), hits("b", [[0.0], [0.0], [1.0]])], 100)["closed"]
    [table] = bootstrap_table(corpus, ["recall_at_1", "price_alignment"])
    assert any(note.startswith("1 of 2 comparisons have no row") for note in table.notes)
    [table] = paired_tests_table(corpus, ["recall_at_1", "gs"])
    assert any(note.startswith("1 of 2 comparisons have no row") for note in table.notes)


def test_price_is_compared_by_dialogue() -> None:
    def run(name: str, rows):
        return results(name, [[turn(1.0, price_alignment=value) for value in mine] for mine in rows])

    a, b = run("a", [[1.0, 1.0, 1.0], [0.0], [None]]), run("b", [[0.0, 0.0, 0.0], [0.0], [1.0]])
    assert a.estimates(100)["price_alignment"].value == 0.5  # of two dialogues; 0.75 of four turns
    assert (a.estimates(100)["price_alignment"].n, a.estimates(100)["price_alignment"].n_null) == (2, 1)
    [found] = contrasts([a, b], ["price_alignment"], n_boot=50)
    assert (found.found.delta, found.found.n_turns) == (0.5, 2)


@pytest.mark.parametrize("metric", COMPARABLE)
def test_any_metric_can_be_compared(metric: str) -> None:
    own = [dialogue(t2r=float(at), t2r_hits=3.0) for at in range(3)]
    rows = [[turn(1.0, price_alignment=1.0)] for _ in own]
    [found] = contrasts([results("a", rows, own), results("b", rows, own)], [metric], n_boot=20)
    assert found.found.delta == 0


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
    assert table.rows[0][at].n == 3
    sizes = dict(zip(table.header, (cell.value for cell in table.rows[0]), strict=True))
    assert (sizes["turns n"], sizes["recommending turns n"]) == (4, 3)
