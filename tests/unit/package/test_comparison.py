"""Comparison of variants in autotuning, with given durations."""

from __future__ import annotations

import pytest

from browsergpu.engine.device.comparison import MOST_TURNS, READINGS, Candidate, Comparison
from browsergpu.engine.kernels.base.family import Variant

pytestmark = pytest.mark.fast

MS = 1e-3


def comparison(*names: str) -> Comparison:
    """Return a comparison of the named variants: first the default, last the general one."""
    candidates = [Candidate(Variant(name, "gemm")) for name in names]
    return Comparison("gemm", "large", candidates, candidates[-1])


def turn(of: Comparison, place: int, seconds: float) -> None:
    of.candidates[place].running += 1
    of.candidates[place].note(seconds)
    of.sort_out()


def left(of: Comparison) -> list[str]:
    return [candidate.variant.name for candidate in of.left]


def test_the_median_decides() -> None:
    made = comparison("picked", "other", "general")
    for seconds in (3 * MS, 3 * MS, 3 * MS):
        turn(made, 0, seconds)
        assert made.winner is None
    for seconds in (2 * MS, 30 * MS, 2 * MS):  # one outlier
        turn(made, 1, seconds)
    assert made.winner is None
    for _ in range(READINGS):
        turn(made, 2, 4 * MS)
    assert made.winner is made.candidates[1]
    assert made.best is made.winner


def test_the_default_stays_if_little_is_gained() -> None:
    made = comparison("picked", "general")
    for _ in range(READINGS):
        turn(made, 0, 1.00 * MS)
        turn(made, 1, 0.97 * MS)
    assert made.winner is made.candidates[0]


def test_one_turn_tells_the_hopeless() -> None:
    made = comparison("picked", "slow", "general")
    turn(made, 1, 41 * MS)
    assert left(made) == ["picked", "slow", "general"], "not before the general one had its turn"
    turn(made, 2, 10 * MS)
    assert left(made) == ["picked", "general"]
    assert not made.candidates[1].may_run


def test_the_default_may_be_excluded_too() -> None:
    made = comparison("picked", "other", "general")
    turn(made, 0, 50 * MS)
    turn(made, 2, 10 * MS)
    turn(made, 1, 8 * MS)
    assert left(made) == ["other", "general"]
    assert made.best.variant.name == "other"


def test_two_readings_of_twice_the_quickest_end_it() -> None:
    made = comparison("picked", "general")
    turn(made, 0, 1 * MS)
    turn(made, 1, 2.1 * MS)
    assert left(made) == ["picked", "general"]
    turn(made, 1, 2.1 * MS)
    assert left(made) == ["picked"]
    assert made.winner is made.candidates[0]


def test_short_work_is_read_over_many_turns() -> None:
    """A clock with a resolution of 0.1 ms reads 0 or 0.1 ms for work of 0.03 ms."""
    candidate = Candidate(Variant("a", "gemm"))
    for number in range(MOST_TURNS):
        assert not candidate.readings
        candidate.running += 1
        candidate.note(0.1 * MS if number % 4 == 0 else 0.0)
    assert candidate.readings == [pytest.approx(0.025 * MS)]
    assert not candidate.turns


def test_rounded_times_do_not_make_one_hopeless() -> None:
    made = comparison("picked", "general")
    turn(made, 1, 0.0)
    turn(made, 0, 0.1 * MS)
    assert left(made) == ["picked", "general"]


def test_the_first_turn_is_alone() -> None:
    candidate = Candidate(Variant("a", "gemm"))
    assert candidate.may_run
    candidate.running += 1
    assert not candidate.may_run
    candidate.note(-1)  # it was not timed
    assert candidate.may_run
    assert candidate.first is None
    candidate.running += 1
    candidate.note(1 * MS)
    candidate.running += 2
    assert candidate.may_run
