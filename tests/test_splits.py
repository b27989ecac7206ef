"""Splits are the paper's: 70/15/15 within each city and type."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_dataset.splits import assign_splits, split_sizes


def test_the_papers_strata_give_the_papers_test_split():
    sizes = [417] * 16 + [416] * 8
    assert sum(sizes) == 10_000
    totals = [sum(column) for column in zip(*(split_sizes(size) for size in sizes), strict=True)]
    assert totals == [7_000, 1_504, 1_496]


@pytest.mark.parametrize(
    ("n", "expected"), [(417, (292, 63, 62)), (416, (291, 62, 63)), (10, (7, 2, 1)), (1, (1, 0, 0)), (0, (0, 0, 0))]
)
def test_sizes(n, expected):
    assert split_sizes(n) == expected


@given(st.integers(0, 5_000))
def test_sizes_add_up_and_are_never_negative(n):
    sizes = split_sizes(n)
    assert sum(sizes) == n
    assert min(sizes) >= 0


def test_a_dialogue_does_not_move_when_another_stratum_grows_after_it():
    first = [(f"d{i}", ("A", "hotel")) for i in range(40)]
    more = first + [(f"e{i}", ("B", "hotel")) for i in range(17)]
    assert {key: value for key, value in assign_splits(more).items() if key.startswith("d")} == assign_splits(first)


def test_order_of_arrival_does_not_matter():
    rows = [(f"d{i}", ("A" if i % 3 else "B", "hotel")) for i in range(90)]
    assert assign_splits(rows) == assign_splits(reversed(rows))
    assert Counter(assign_splits(rows).values()) == {"train": 63, "validation": 14, "test": 13}
