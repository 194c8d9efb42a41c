"""Pairwise combinations contain every pair of values."""

import itertools

import pytest
from tests.browser.inside.pairs import pairwise

pytestmark = pytest.mark.fast

PLACES = (["a", "b", "c"], [1, 2, 3, 4], [True, False], ["x", "y", "z"])


def pairs_of(rows: list[tuple[object, ...]]) -> set[tuple[object, ...]]:
    return {pair for row in rows for pair in itertools.combinations(enumerate(row), 2)}


def test_each_pair_occurs_in_fewer_rows() -> None:
    every = list(itertools.product(*PLACES))
    chosen = pairwise(every)
    assert pairs_of(chosen) == pairs_of(every)
    assert len(every) == 72
    assert len(chosen) <= 16  # at least 12: 4 × 3 pairs of the two longest
    assert set(chosen) <= set(every)


def test_impossible_combinations_are_not_selected() -> None:
    able = [row for row in itertools.product(*PLACES) if (row[0], row[1]) != ("a", 4)]
    chosen = pairwise(able)
    assert not any((row[0], row[1]) == ("a", 4) for row in chosen)
    assert pairs_of(chosen) == pairs_of(able)


def test_the_choice_is_the_same_each_time() -> None:
    assert pairwise(itertools.product(*PLACES)) == pairwise(itertools.product(*PLACES))


def test_two_parameters_keep_all_their_combinations() -> None:
    every = list(itertools.product([1, 2], "abc"))
    assert sorted(pairwise(every)) == every


def test_no_rows_are_no_rows() -> None:
    assert pairwise([]) == []
