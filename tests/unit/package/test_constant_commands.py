"""The search for the constant commands of a capture, without a GPU."""

from __future__ import annotations

import pytest

from browsergpu.arrays.graphs.constants import Found, find
from browsergpu.engine.gpu.port import Captured

pytestmark = pytest.mark.fast

W, X, A, B, C, Y = 1, 2, 10, 11, 12, 20  # a weight, an argument, temporaries, the result
OWN = dict.fromkeys((A, B, C, Y), 1024)


def capture(*steps: tuple[str, tuple[int, ...]] | int) -> Captured:
    """Return a capture of allocated buffers and of dispatches, each with its access and buffers."""
    made = Captured()
    for step in steps:
        if isinstance(step, int):
            made.allocate(step)
        else:
            made.add(step[1], step[0], is_dispatch=True)
    return made


def found(made: Captured, most: int = 1 << 20, lent: tuple[int, ...] = (X, Y)) -> Found:
    return find(made, OWN, {W}, {Y}, lent, most)


def test_values_of_unchanged_arrays() -> None:
    made = capture(A, ("rw", (W, A)), B, ("rw", (A, B)), Y, ("rrw", (X, B, Y)))
    result = found(made)
    assert result.commands == {0, 1}
    assert [life.identity for life in result.lives] == [B]  # only kept commands read A
    assert {number: [*own] for number, own in result.renamed.items()} == {1: [B], 2: [B]}


def test_a_buffer_that_serves_twice() -> None:
    """The later value in the buffer depends on X, so the constant value gets its own memory."""
    first = (A, ("rw", (W, A)), B, ("rrw", (A, X, B)))
    made = capture(*first, A, ("rw", (X, A)), Y, ("rrw", (A, B, Y)))
    result = found(made)
    assert result.commands == {0}
    assert {number: [*own] for number, own in result.renamed.items()} == {0: [A], 1: [A]}


def test_a_value_that_a_later_command_changes() -> None:
    made = capture(A, ("rw", (W, A)), ("rw", (X, A)), Y, ("rw", (A, Y)))
    assert not found(made).commands


def test_an_array_that_the_graph_changes_is_no_input() -> None:
    made = capture(A, ("rw", (3, A)), Y, ("rrw", (A, X, Y)), ("rw", (A, 3)))
    assert not found(made).commands


def test_open_steps_and_steps_that_depend_on_them() -> None:
    made = capture(A, ("rw", (W, A)), B, ("rw", (A, B)), Y, ("rrw", (X, B, Y)))
    made.open.add(0)
    assert not found(made).commands
    made.open = {1}
    assert found(made).commands == {0}


def test_results_are_computed_each_time() -> None:
    made = capture(Y, ("rw", (W, Y)))
    assert not found(made).commands
    made = capture(A, ("rw", (W, A)), Y, ("rw", (A, Y)))
    assert found(made).commands == {0}


def test_an_earlier_use_of_the_results_buffer() -> None:
    """The caller owns the buffer after the block."""
    made = capture(Y, ("rw", (W, Y)), A, ("rw", (Y, A)), Y, ("rrw", (A, X, Y)))
    result = found(made)
    assert result.commands == {0, 1}
    assert sorted(life.identity for life in result.lives) == [A, Y]


def test_memory_without_contents_is_not_constant() -> None:
    made = capture(A, B, ("rw", (A, B)), Y, ("rrw", (B, X, Y)))
    assert not found(made).commands


def test_a_budget() -> None:
    steps = (A, ("rw", (W, A)), B, ("rw", (W, B)), Y, ("rrrw", (X, A, B, Y)))
    assert found(capture(*steps), 2048).commands == {0, 1}
    assert found(capture(*steps), 1024).commands == {0}
    assert not found(capture(*steps), 512).commands
    chain = (A, ("rw", (W, A)), B, ("rw", (A, B)), C, ("rrw", (A, B, C)), Y, ("rrw", (X, C, Y)))
    assert not found(capture(*chain), 512).commands  # the chain's values exceed the budget
