"""Launching programs on tensors, and float32 stand-ins for those that kernels do not take.

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
from browsergpu.core.shapes import Shape
from browsergpu.device.device import Device
from browsergpu.gpu.memory import Allocation
from browsergpu.gpu.program import Slot
from browsergpu.kernels.build import Build, Prepare
from browsergpu.kernels.cast import cast, picture_cast


class Tensor:
    """A contiguous row-major array in a buffer of its own: what functions are called on."""

    __slots__ = ("buffer", "handle", "kind", "size")

    def __init__(self, buffer: Allocation, shape: Shape, dtype: DType, handle: int = 0) -> None:
        self.buffer = buffer
        self.kind = (dtype, shape)
        self.size = prod(shape)
        self.handle = handle

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self.kind[0]

    @property
    def shape(self) -> Shape:
        """The extents of its axes."""
        return self.kind[1]


@dataclass(frozen=True)
class Operand:
    """A tensor of a program in the making."""

    slot: Slot
    dtype: DType
    shape: Shape

    @cached_property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)


def launch(
    device: Device,
    op: str,
    prepare: Prepare,
    tensors: Iterable[Tensor | None],
    *problem: Any,
    late: tuple[float, ...] = (),
) -> None:
    """Records what ``prepare(build, *operands, *problem)`` makes of tensors; see Device.launch.
    It is decorated by :func:`of_operands`. In place of a tensor that is None, so is the operand."""
    kinds: list[tuple[DType, Shape] | None] = []
    buffers = []
    for tensor in tensors:
        if tensor is None:
            kinds.append(None)
        else:
            kinds.append(tensor.kind)
            buffers.append(tensor.buffer)
    device.launch(op, prepare, buffers, tuple(kinds), *problem, late=late)


def of_operands(function: Prepare) -> Prepare:
    """Makes a function of operands what :func:`launch` takes."""

    def prepare(build: Build, *arguments: Any) -> None:
        count = next(i for i, argument in enumerate(arguments) if isinstance(argument, tuple))
        slots, kinds, problem = iter(arguments[:count]), arguments[count], arguments[count + 1 :]
        operands = [None if kind is None else Operand(next(slots), *kind) for kind in kinds]
        function(build, *operands, *problem)

    return prepare


class Staging:
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
