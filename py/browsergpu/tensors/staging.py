"""Launching programs on views of memory, and float32 stand-ins for those that kernels do not take.

Kernels compute on some dtypes and mostly write to no buffer that they read. A Staging, within a
program in the making, casts inputs of other dtypes into temporaries, gives temporaries for outputs
that are of another dtype or among the inputs, and casts or copies those at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from browsergpu.core.dtypes import DType
from browsergpu.core.shapes import Shape, broadcast_strides
from browsergpu.core.showing import Shown
from browsergpu.device.device import Device
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build, Prepare
from browsergpu.kernels.elements.cast import cast, picture_cast
from browsergpu.kernels.elements.strided import gather
from browsergpu.tensors.view import View


@dataclass(frozen=True)
class Operand:
    """A View of a program in the making; without strides it is packed."""

    slot: Slot
    dtype: DType
    shape: Shape
    strides: Shape | None = None
    offset: int = 0

    @cached_property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    def steps_in(self, shape: Shape) -> Shape:
        """The strides with which it is read as an array of a shape that it broadcasts to."""
        return broadcast_strides(self.shape, shape, self.strides)


def launch(
    device: Device,
    op: str,
    prepare: Prepare,
    views: Iterable[View | None],
    *problem: Any,
    late: tuple[float, ...] = (),
) -> None:
    """Records what ``prepare(build, *operands, *problem)`` makes of views; see Device.launch. It is
    decorated by :func:`of_operands` or :func:`of_views`. In place of a view that is None, so is the
    operand."""
    kinds: list[tuple[Any, ...] | None] = []
    buffers = []
    for view in views:
        if view is None:
            kinds.append(None)
        else:
            kinds.append(view.kind)
            buffers.append(view.buffer)
    device.launch(op, prepare, buffers, tuple(kinds), *problem, late=late)


def of_views(function: Prepare) -> Prepare:
    """Makes a function of operands, packed or not, what :func:`launch` takes."""

    def prepare(build: Build, *arguments: Any) -> None:
        count = next(i for i, argument in enumerate(arguments) if isinstance(argument, tuple))
        slots, kinds, problem = iter(arguments[:count]), arguments[count], arguments[count + 1 :]
        operands = [None if kind is None else Operand(next(slots), *kind) for kind in kinds]
        function(build, *operands, *problem)

    return prepare


def of_operands(function: Prepare) -> Prepare:
    """Makes a function of packed operands what :func:`launch` takes: others are packed first."""

    @of_views
    def prepare(build: Build, *arguments: Any) -> None:
        function(build, *(packed(build, x) if isinstance(x, Operand) else x for x in arguments))

    return prepare


def packed(build: Build, x: Operand) -> Operand:
    """The operand itself if it is packed, else a packed copy of the same dtype."""
    if x.strides is None:
        return x
    kind, source = x.dtype, x.slot
    is_word = kind.device_bytes(1) == 4
    if not is_word:  # gather moves words: smaller elements travel as float32, which holds them
        span = (
            x.offset
            + 1
            + sum(
                (extent - 1) * max(step, 0) for extent, step in zip(x.shape, x.strides, strict=True)
            )
        )
        source = build.temporary(4 * span)
        cast(build, x.slot, source, kind, DType.F32, span)
    copy = build.temporary(4 * x.size)
    gather(build, "as_strided", source, x.strides, copy, x.shape, x.offset)
    if not is_word:
        words, copy = copy, build.temporary(kind.device_bytes(x.size))
        cast(build, words, copy, DType.F32, kind, x.size)
        build.release(source, words)
    return Operand(copy, kind, x.shape)


class Staging(Shown):
    """See the module's docstring. ``pictures``: u8 tensors hold 0..1 as 0..255."""

    def __init__(self, build: Build, *, pictures: bool = False) -> None:
        self._build = build
        self._cast = picture_cast if pictures else cast
        self._outputs: list[tuple[Slot, DType, Operand]] = []

    def read(self, x: Operand, dtype: DType = DType.F32) -> Slot:
        """The operand's elements as ``dtype``."""
        if x.dtype is dtype:
            return x.slot
        slot = self.temporary(dtype, x.size)
        self._cast(self._build, x.slot, slot, x.dtype, dtype, x.size)
        return slot

    def read_halves(self, x: Operand, bit: int) -> tuple[Slot, int]:
        """For a kernel that takes an operand of float16 as it is where it is told by a bit: the
        elements, as they are and ``bit``, or as float32 and 0. Without a bit it takes float32."""
        if x.dtype is DType.F16 and bit:
            return x.slot, bit
        return self.read(x), 0

    def write(self, y: Operand, *read: Operand | None, dtype: DType = DType.F32) -> Slot:
        """Where to write the operand's elements to as ``dtype``: none of ``read``."""
        if y.dtype is dtype and all(x is None or y.slot != x.slot for x in read):
            return y.slot
        slot = self.temporary(dtype, y.size)
        self._outputs.append((slot, dtype, y))
        return slot

    def update(self, x: Operand) -> Slot:
        """What is read and written, as float32, in place of the operand."""
        slot = self.read(x)
        if slot != x.slot:
            self._outputs.append((slot, DType.F32, x))
        return slot

    def temporary(self, dtype: DType, n: int) -> Slot:
        """Room for n elements."""
        return self._build.temporary(dtype.device_bytes(n))

    def deliver(self) -> None:
        """Adds the casts and copies of what was written to temporaries, once all is written."""
        for slot, dtype, y in self._outputs:
            if dtype is y.dtype:
                self._build.copy(slot, y.slot, dtype.device_bytes(y.size))
            else:
                self._cast(self._build, slot, y.slot, dtype, y.dtype, y.size)
