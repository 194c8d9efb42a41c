"""What runs on a GPU, as a value: the steps of an operation, made without any GPU.

A program names kernels, grids, parameters, and its buffers by their places; which buffers they are
is said when it runs, and some of the parameters may be.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

Grid = tuple[int, int, int]
#: Where a step finds a buffer: the operand of that place, or from -1 down a temporary.
Slot = int


class Dispatch(NamedTuple):
    """One dispatch of a kernel in a configuration: workgroups in x, y and z, the buffers of its
    bindings in their order, and its parameters in theirs. Where it is ``open``, those that come
    when the program runs follow them."""

    kernel: str
    configuration: str
    grid: Grid
    slots: tuple[Slot, ...]
    fields: tuple[float, ...]
    open: bool = False


class Copy(NamedTuple):
    """A copy of ``nbytes``, a multiple of 4, from the start of one buffer to that of another."""

    source: Slot
    target: Slot
    nbytes: int


Step = Dispatch | Copy


class Program:
    """Steps in their order, and the bytes of the temporary buffers that they need. A program is
    equal to no other one."""

    __slots__ = ("steps", "temporaries")

    def __init__(self, steps: tuple[Step, ...], temporaries: tuple[int, ...] = ()) -> None:
        self.steps = steps
        self.temporaries = temporaries

    def __repr__(self) -> str:
        return f"Program({list(self.steps)}, temporaries={list(self.temporaries)})"


class BoundStep(NamedTuple):
    """A step on one GPU: the pipeline, the workgroups, what picks the ids of its buffers from those
    of a program, and its parameters. Without a pipeline it is a copy, whose bytes are the one
    parameter."""

    pipeline: Any
    grid: Grid | tuple[()]
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    fields: tuple[float, ...]
    open: bool


def picker(slots: tuple[Slot, ...]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """What takes the ids at some places of a program's ids: those of its operands, and then those
    of its temporaries, the last one first."""
    if len(slots) == 1:
        return itemgetter(slice(slots[0], slots[0] + 1 or None))
    return itemgetter(*slots)
