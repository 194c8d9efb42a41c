"""The builder to which kernel families add the steps of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.program import Copy, Dispatch, Generated, Grid, Program, Slot, Step
from browsergpu.engine.kernels.base.facts import Facts

#: A function ``prepare(build, *operands, *problem)`` that adds the steps of a problem to a build.
#: Its result depends only on the arguments and the facts.
Prepare = Callable[..., None]


class Build(Shown):
    """A program under construction, for devices with the given facts.

    Slots are compared by value. Operands that share memory have the same slot, so a kernel can
    detect that it works in place.
    """

    __slots__ = ("_free", "_steps", "_temporaries", "facts")

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._steps: list[Step] = []
        self._temporaries: list[int] = []
        self._free: list[Slot] = []

    def dispatch(
        self,
        kernel: str,
        configuration: str,
        grid: Grid,
        slots: tuple[Slot, ...],
        *fields: float,
        open: bool = False,
    ) -> None:
        """Add a dispatch. If ``open``, more parameters are passed when the program runs."""
        self._steps.append(Dispatch(kernel, configuration, grid, slots, fields, open))

    def generated(
        self,
        source: Any,
        grid: Grid,
        slots: tuple[Slot, ...],
        *fields: int,
        open: bool = False,
    ) -> None:
        """Add a dispatch of a generated kernel, a Source."""
        self._steps.append(Generated(source, grid, slots, fields, open))

    def copy(self, source: Slot, target: Slot, nbytes: int) -> None:
        """Add a copy of the first ``nbytes``, unless there are none or both slots are the same."""
        if nbytes and source != target:
            self._steps.append(Copy(source, target, (nbytes + 3) & ~3))

    def temporary(self, nbytes: int) -> Slot:
        """Return a temporary buffer with undefined contents.

        A released temporary is reused if it is large enough, and at most twice as large as needed.
        """
        sizes = self._temporaries
        fitting = [slot for slot in self._free if nbytes <= sizes[-1 - slot] <= 2 * nbytes]
        if fitting:
            found = min(fitting, key=lambda slot: sizes[-1 - slot])
            self._free.remove(found)
            return found
        sizes.append(nbytes)
        return -len(sizes)

    def release(self, *slots: Slot) -> None:
        """Make temporaries available to the following steps. Operands in slots are ignored."""
        self._free += [slot for slot in slots if slot < 0]

    def program(self) -> Program:
        """Return the program with all steps added so far."""
        return Program(tuple(self._steps), tuple(self._temporaries))


def prepare(facts: Facts, function: Prepare, *arguments: Any) -> Program:
    """Return the program that a prepare function builds for a problem."""
    build = Build(facts)
    function(build, *arguments)
    return build.program()
