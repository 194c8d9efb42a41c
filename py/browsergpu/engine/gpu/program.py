"""Programs: the GPU steps of an operation as values, independent of any GPU.

A program names kernels, grids, parameters, and buffers by position. A call supplies the actual
buffers and the parameters of open steps.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

Grid = tuple[int, int, int]
#: Position of a buffer: an operand's index, or -1 and below for temporaries.
Slot = int


class Dispatch(NamedTuple):
    """One dispatch of a kernel in a configuration.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    configuration : str
        Name of the configuration.
    grid : tuple of int
        Workgroups in x, y and z.
    slots : tuple of int
        Positions of the bound buffers, in the order of the bindings.
    fields : tuple of float
        The parameters, in order.
    open : bool
        Whether each call appends further parameters.
    """

    kernel: str
    configuration: str
    grid: Grid
    slots: tuple[Slot, ...]
    fields: tuple[float, ...]
    open: bool = False


class Generated(NamedTuple):
    """One dispatch of a generated kernel.

    Attributes
    ----------
    source : Source
        The kernel, of ``kernels.fused``.
    grid, slots, fields, open
        As in :class:`Dispatch`. The fields are words.
    """

    source: Any
    grid: Grid
    slots: tuple[Slot, ...]
    fields: tuple[int, ...]
    open: bool = False


class Copy(NamedTuple):
    """A copy of ``nbytes``, a multiple of 4, between the starts of two buffers."""

    source: Slot
    target: Slot
    nbytes: int


Step = Dispatch | Generated | Copy


class Program:
    """A sequence of steps, with the sizes in bytes of the temporary buffers.

    Programs compare by identity.
    """

    __slots__ = ("steps", "temporaries")

    def __init__(self, steps: tuple[Step, ...], temporaries: tuple[int, ...] = ()) -> None:
        self.steps = steps
        self.temporaries = temporaries

    def __repr__(self) -> str:
        return f"Program({list(self.steps)}, temporaries={list(self.temporaries)})"


class BoundStep(NamedTuple):
    """A step prepared for one GPU.

    Attributes
    ----------
    pipeline : Pipeline or None
        None for a copy.
    grid : tuple of int
        Workgroups in x, y and z. Empty for a copy.
    pick : callable
        Selects the ids of the step's buffers from the program's ids.
    fields : tuple of float
        The parameters. For a copy, the number of bytes.
    open : bool
        Whether each call appends further parameters.
    """

    pipeline: Any
    grid: Grid | tuple[()]
    pick: Callable[[tuple[int, ...]], tuple[int, ...]]
    fields: tuple[float, ...]
    open: bool


def picker(slots: tuple[Slot, ...]) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    """Return a function that selects some of a program's buffer ids.

    The ids are those of the operands, followed by those of the temporaries, last temporary first.
    """
    if len(slots) == 1:
        return itemgetter(slice(slots[0], slots[0] + 1 or None))
    return itemgetter(*slots)
