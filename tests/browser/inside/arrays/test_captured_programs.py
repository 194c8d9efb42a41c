"""Captured random programs: replays equal running the programs again.

The test runs 40 programs. BROWSERGPU_FUZZ_PROGRAMS=10000 before the test command runs more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside.arrays.programs import STEPS, Machine, Pair

pytestmark = [pytest.mark.native, pytest.mark.firefox]

PROGRAMS = int(os.environ.get("BROWSERGPU_FUZZ_PROGRAMS", "40"))
A_TEST = 20
ALL = tuple(sorted({name for name, _ in STEPS} - {"read", "mask"}))  # these two read values
ASSIGNING = ("number", "part", "overwritten", "assign", "in place", "moved", "forgotten", "add")


class Block(Machine):
    """A program on existing arrays. Its steps depend on no value.

    ``reduced`` are the choices of an earlier run: whether the result of each step is reduced.
    """

    def __init__(
        self, bg: Any, arrays: Sequence[Any], named: Sequence[str], reduced: Sequence[bool] = ()
    ) -> None:
        super().__init__(bg, eager=False, named=named)
        self.reduced: list[bool] = []
        self._known = iter(reduced)
        self.ours = list(arrays)
        self.theirs = [np.zeros(x.shape, x.dtype) for x in arrays]

    def add(self, pair: Pair) -> None:
        theirs, ours = pair
        # An array keeps its views, which it may have from an earlier run.
        is_reduced = next(self._known, ours.node.view_group is None and ours.dtype.kind != "b")
        self.reduced.append(is_reduced)
        if is_reduced:
            ours = ours % 7
            theirs = np.zeros(ours.shape, ours.dtype)
        super().add((theirs, ours))

    def go(self, program: list[int]) -> list[Any]:
        """Run a program and return the remaining arrays."""
        self.steps(iter(program), [])
        return self.ours


def make(bg: Any, seed: int) -> list[Any]:
    """Make arrays."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["float32", "int32", "uint8", "int16", "bool"], 3)
    shapes = [(8, 4), (3, 4), (2, 3, 4)]
    return [
        bg.asarray(rng.integers(-9, 10, shape).astype(kind))
        for kind, shape in zip(kinds, shapes, strict=True)
    ]


@pytest.mark.parametrize("named", [ALL, ASSIGNING], ids=["all", "assigning"])
@pytest.mark.parametrize("batch", range(max(1, PROGRAMS // A_TEST)))
def test_random_programs(bg: Any, batch: int, named: tuple[str, ...]) -> None:
    from browsergpu.arrays.indexing import assignment

    @settings(max_examples=A_TEST)
    @given(st.lists(st.integers(0, 2**16 - 1), min_size=30, max_size=150), st.booleans())
    def run(program: list[int], is_small: bool) -> None:
        program = [(number + batch) & 0xFFFF for number in program]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(assignment, "LEAST", 1 << 20 if is_small else 0)
            own, theirs = make(bg, program[0]), make(bg, program[0])
            with bg.capture() as graph:
                block = Block(bg, own, named)
                found = block.go(program)
            for _ in range(2):
                graph.replay()
            for _ in range(3):
                expected = Block(bg, theirs, named, block.reduced).go(program)
        for x, y in zip([*own, *found], [*theirs, *expected], strict=True):
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
        graph.close()

    run()
