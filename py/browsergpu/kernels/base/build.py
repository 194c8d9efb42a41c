"""Programs in the making: what every kernel family's functions add their steps to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.core.showing import Shown
from browsergpu.gpu.program import Copy, Dispatch, Generated, Grid, Program, Slot, Step
from browsergpu.kernels.base.facts import Facts

#: Adds the steps of a problem to a build: ``prepare(build, *operands, *problem)``. It depends on
#: nothing but its arguments and the facts.
Prepare = Callable[..., None]


class Build(Shown):
    """The steps so far of a program for devices of certain facts.

    Slots are compared by value: operands that share memory have one slot, by which a kernel knows
    that it works in place.
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
        """Adds a dispatch; ``open``: more parameters come when the program runs."""
        self._steps.append(Dispatch(kernel, configuration, grid, slots, fields, open))

    def generated(
        self,
        source: Any,
        grid: Grid,
        slots: tuple[Slot, ...],
        *fields: int,
        open: bool = False,
    ) -> None:
        """Adds a dispatch of a generated kernel, a Source."""
        self._steps.append(Generated(source, grid, slots, fields, open))

    def copy(self, source: Slot, target: Slot, nbytes: int) -> None:
        """Adds a copy of the first bytes, unless there are none or both are the same buffer."""
        if nbytes and source != target:
            self._steps.append(Copy(source, target, (nbytes + 3) & ~3))

    def temporary(self, nbytes: int) -> Slot:
        """A buffer for a while, contents undefined: a released one that is large enough, but not
        more than twice as large, or a new one."""
        sizes = self._temporaries
        fitting = [slot for slot in self._free if nbytes <= sizes[-1 - slot] <= 2 * nbytes]
        if fitting:
            found = min(fitting, key=lambda slot: sizes[-1 - slot])
            self._free.remove(found)
            return found
        sizes.append(nbytes)
        return -len(sizes)

    def release(self, *slots: Slot) -> None:
        """Lets the steps that follow have temporaries; operands among them stay as they are."""
        self._free += [slot for slot in slots if slot < 0]

    def program(self) -> Program:
        """What was added."""
        return Program(tuple(self._steps), tuple(self._temporaries))


def prepare(facts: Facts, function: Prepare, *arguments: Any) -> Program:
    """The program that a function makes of its problem."""
    build = Build(facts)
    function(build, *arguments)
    return build.program()
