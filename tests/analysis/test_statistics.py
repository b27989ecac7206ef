"""Statistics against SciPy, and the bootstrap against the loop it stands for."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrate.errors import TraceError
from trace_dataset.analysis import agreement, statistics
from trace_dataset.evaluation import bootstrap

scipy_stats = pytest.importorskip("scipy.stats")
# TRACE_EXAMPLES=5000 pytest … is the long run
FEW = settings(max_examples=int(os.environ.get("TRACE_EXAMPLES", "60")), deadline=None)
numbers = st.integers(-5, 5).map(float)
pairs = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20)


@FEW
@given(pairs)
def test_correlations(rows) -> None:
    x, y = (list(side) for side in zip(*rows, strict=True))
    for ours, theirs in (
        (statistics.pearson, scipy_stats.pearsonr),
        (statistics.spearman, scipy_stats.spearmanr),
        (statistics.kendall_tau_b, scipy_stats.kendalltau),
    ):
        found = ours(x, y)
        if len(set(x)) < 2 or len(set(y)) < 2:
            assert found is None
        else:
            assert found == pytest.approx(theirs(x, y).statistic)
            assert ours(y, x) == pytest.approx(found)


@FEW
@given(pairs)
def test_paired_tests(rows) -> None:
    x, y = (list(side) for side in zip(*rows, strict=True))
    found = statistics.paired_t(x, y)
    if len({a - b for a, b in rows}) > 1:
        wanted = scipy_stats.ttest_rel(x, y)
        assert found["t"] == pytest.approx(wanted.statistic)
        assert statistics.student_t_p(found["t"], found["df"]) == pytest.approx(wanted.pvalue, abs=1e-12)
    else:
        assert found is None
    moved = [(a, b) for a, b in rows if a != b]
    found_w = statistics.wilcoxon_w(x, y)
    if moved:
        wanted = scipy_stats.wilcoxon(*zip(*moved, strict=True))
        assert found_w == wanted.statistic
        assert statistics.wilcoxon_p(x, y) == pytest.approx(wanted.pvalue)
    else:
        assert found_w is None


@FEW
@given(st.lists(st.lists(numbers, min_size=1, max_size=6), min_size=2, max_size=4))
def test_kruskal(groups) -> None:
    found = statistics.kruskal_h(groups)
    if len({value for group in groups for value in group}) < 2:
        assert found is None
    else:
        wanted = scipy_stats.kruskal(*groups)
        assert found == pytest.approx(wanted.statistic, abs=1e-9)
        assert statistics.chi_squared_p(found, len(groups) - 1) == pytest.approx(wanted.pvalue, abs=1e-9)


@FEW
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm(probabilities) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    wanted = multitest.multipletests(probabilities, method="holm")[1]
    assert statistics.holm(probabilities) == pytest.approx(list(wanted))


@FEW
@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar(b: int, c: int) -> None:
    wanted = scipy_stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert statistics.mcnemar_exact(b, c) == pytest.approx(wanted)


def test_dunn_is_symmetric_and_bounded() -> None:
    found = statistics.dunn_bonferroni({"a": [1, 2, 3], "b": [2, 3, 4], "c": [9, 9, None]})
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert all(0 <= p <= 1 for _, p in found.values())
    assert found["a", "c"][0] < found["a", "b"][0] < 0


ratings = st.integers(2, 4).flatmap(
    lambda units: st.lists(
        st.lists(st.none() | st.integers(1, 5), min_size=units, max_size=units), min_size=2, max_size=4
    )
)


@FEW
@given(ratings)
def test_alpha_ignores_the_order_of_raters_and_units(rows) -> None:
    for level in agreement.LEVELS:
        found = agreement.krippendorff_alpha(rows, level)
        assert found is None or found <= 1 + 1e-12
        assert agreement.krippendorff_alpha(rows[::-1], level) == pytest.approx(found)
        assert agreement.krippendorff_alpha([row[::-1] for row in rows], level) == pytest.approx(found)


@FEW
@given(ratings)
def test_alpha_is_that_of_the_krippendorff_package(rows) -> None:
    package = pytest.importorskip("krippendorff")
    table = np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)
    shared = [column[~np.isnan(column)] for column in table.T if (~np.isnan(column)).sum() > 1]
    if len({value for column in shared for value in column}) < 2:
        assert all(agreement.krippendorff_alpha(rows, level) is None for level in agreement.LEVELS)
        return
    for level in agreement.LEVELS:
        wanted = package.alpha(reliability_data=table, level_of_measurement=level)
        assert agreement.krippendorff_alpha(rows, level) == pytest.approx(wanted, abs=1e-12)


def test_alpha_refuses_ragged_ratings() -> None:
    with pytest.raises(TraceError, match="different lengths"):
        agreement.krippendorff_alpha([[1, 2], [1]])


@FEW
@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=5))
def test_kendall_w_is_in_range(scores) -> None:
    found = agreement.kendall_w(scores)
    assert found is None or -1e-12 <= found <= 1 + 1e-12


def by_loop(a, b, n_boot: int, seed: int) -> list[float]:
    draws = np.random.default_rng(seed).integers(0, len(a), size=(n_boot, len(a)))
    means = []
    for row in draws:
        together = [(x, y) for at in row for x, y in zip(a[at], b[at], strict=True) if x is not None and y is not None]
        if together:
            means.append(sum(x for x, _ in together) / len(together) - sum(y for _, y in together) / len(together))
    return list(np.percentile(means, [2.5, 97.5]))


def dialogues(n: int, seed: int):
    draw = np.random.default_rng(seed)
    return [[None if draw.random() < 0.2 else float(draw.random()) for _ in range(1 + at % 4)] for at in range(n)]


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_bootstrap_equals_the_loop(n: int) -> None:
    a, b = dialogues(n, 1), dialogues(n, 2)
    if bootstrap.bootstrap_delta(a, b) is None:
        pytest.skip("nothing in common")
    assert bootstrap.bootstrap_ci(a, b, n_boot=500) == pytest.approx(by_loop(a, b, 500, 42))


def test_draws_in_pieces_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.vstack(list(bootstrap.resamples(37, 300)))
    monkeypatch.setattr(bootstrap, "BLOCK", 37 * 11)
    pieces = list(bootstrap.resamples(37, 300))
    assert len(pieces) == 28
    assert np.array_equal(np.vstack(pieces), whole)
    draws = np.random.default_rng(42).integers(0, 37, size=(300, 37))
    assert np.array_equal(whole, [np.bincount(row, minlength=37) for row in draws])


def test_comparison_says_what_it_rests_on() -> None:
    a = [[1.0, None], [1.0], [None]]
    b = [[0.0, 1.0], [0.0], [1.0]]
    found = bootstrap.compare(a, b, n_boot=200)
    assert (found.delta, found.n_dialogues, found.n_turns, found.significant) == (1.0, 2, 2, True)
    assert bootstrap.compare([[None]], [[1.0]]) is None
    assert not math.isnan(found.low)


def test_probability_of_a_difference_beyond_all_resamples() -> None:
    draw = np.random.default_rng(1)
    far = draw.normal(5.0, 1.0, 1_000)
    assert far.min() > 0
    wanted = 2 * scipy_stats.t.sf(far.mean() / far.std(), 39)
    assert bootstrap.two_sided_p(far, 40) == pytest.approx(wanted)
    assert bootstrap.two_sided_p(far, 3) == 2 / 1_001, "few dialogues have heavy tails, and the share is the smaller"
    assert bootstrap.two_sided_p(np.full(1_000, 0.5), 40) == 2 / 1_001, "no spread says nothing of a tail"
    near = np.append(far, -1.0)
    assert bootstrap.two_sided_p(near, 40) == pytest.approx(4 / 1_002)
    assert not bootstrap.Comparison(0.1, math.nan, math.nan, 1, 1).significant


def test_bootstrap_refuses_turns_that_do_not_match() -> None:
    with pytest.raises(TraceError, match="different lengths"):
        bootstrap.bootstrap_ci([[1.0]], [[1.0, 2.0]])
