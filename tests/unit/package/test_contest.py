"""Comparison of variants in autotuning, with given times."""

from __future__ import annotations

import pytest

from browsergpu.device.contest import MOST_TURNS, READINGS, Contest, Entrant
from browsergpu.kernels.base.family import Variant

pytestmark = pytest.mark.fast

MS = 1e-3


def contest(*names: str) -> Contest:
    """Of so many variants: the first is what is picked anyway, the last the general one."""
    entrants = [Entrant(Variant(name, "gemm")) for name in names]
    return Contest("gemm", "large", entrants, entrants[-1])


def turn(of: Contest, place: int, seconds: float) -> None:
    of.entrants[place].running += 1
    of.entrants[place].note(seconds)
    of.sort_out()


def left(of: Contest) -> list[str]:
    return [entrant.variant.name for entrant in of.left]


def test_the_median_decides() -> None:
    made = contest("picked", "other", "general")
    for seconds in (3 * MS, 3 * MS, 3 * MS):
        turn(made, 0, seconds)
        assert made.winner is None
    for seconds in (2 * MS, 30 * MS, 2 * MS):  # one was disturbed
        turn(made, 1, seconds)
    assert made.winner is None
    for _ in range(READINGS):
        turn(made, 2, 4 * MS)
    assert made.winner is made.entrants[1]
    assert made.best is made.winner


def test_what_is_picked_stays_where_little_is_won() -> None:
    made = contest("picked", "general")
    for _ in range(READINGS):
        turn(made, 0, 1.00 * MS)
        turn(made, 1, 0.97 * MS)
    assert made.winner is made.entrants[0]


def test_one_turn_tells_the_hopeless() -> None:
    made = contest("picked", "slow", "general")
    turn(made, 1, 41 * MS)
    assert left(made) == ["picked", "slow", "general"], "not before the general one had its turn"
    turn(made, 2, 10 * MS)
    assert left(made) == ["picked", "general"]
    assert not made.entrants[1].may_run


def test_what_is_picked_may_be_too_slow_itself() -> None:
    made = contest("picked", "other", "general")
    turn(made, 0, 50 * MS)
    turn(made, 2, 10 * MS)
    turn(made, 1, 8 * MS)
    assert left(made) == ["other", "general"]
    assert made.best.variant.name == "other"


def test_two_readings_of_twice_the_quickest_end_it() -> None:
    made = contest("picked", "general")
    turn(made, 0, 1 * MS)
    turn(made, 1, 2.1 * MS)
    assert left(made) == ["picked", "general"]
    turn(made, 1, 2.1 * MS)
    assert left(made) == ["picked"]
    assert made.winner is made.entrants[0]


def test_short_work_is_read_over_many_turns() -> None:
    """A clock of 0.1 ms tells 0 or 0.1 ms of what takes 0.03 ms."""
    entrant = Entrant(Variant("a", "gemm"))
    for number in range(MOST_TURNS):
        assert not entrant.readings
        entrant.running += 1
        entrant.note(0.1 * MS if number % 4 == 0 else 0.0)
    assert entrant.readings == [pytest.approx(0.025 * MS)]
    assert not entrant.turns


def test_rounded_times_do_not_make_one_hopeless() -> None:
    made = contest("picked", "general")
    turn(made, 1, 0.0)
    turn(made, 0, 0.1 * MS)
    assert left(made) == ["picked", "general"]


def test_the_first_turn_is_alone() -> None:
    entrant = Entrant(Variant("a", "gemm"))
    assert entrant.may_run
    entrant.running += 1
    assert not entrant.may_run
    entrant.note(-1)  # it was not timed
    assert entrant.may_run
    assert entrant.first is None
    entrant.running += 1
    entrant.note(1 * MS)
    entrant.running += 2
    assert entrant.may_run
