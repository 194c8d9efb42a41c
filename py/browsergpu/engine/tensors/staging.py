"""Dispatch of kernels on views, with float32 temporaries for operands that kernels do not take.

Kernels support some dtypes and mostly do not write to buffers that they read. A Staging casts
inputs of other dtypes into temporaries. It provides temporaries for outputs of another dtype or
outputs that are inputs, and casts or copies these at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.shapes import Shape, broadcast_strides
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build, Prepare
from browsergpu.engine.kernels.elements.cast import cast, image_cast
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.tensors.view import View


@dataclass(frozen=True)
class Operand:
    """A View in a program that is being built. Without strides it is packed."""

    slot: Slot
    dtype: DType
    shape: Shape
    strides: Shape | None = None
    offset: int = 0

    @cached_property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def steps_in(self, shape: Shape) -> Shape:
        """Return the strides that broadcast the operand to a shape."""
        return broadcast_strides(self.shape, shape, self.strides)


def launch(
    device: Device,
    op: str,
    prepare: Prepare,
    views: Iterable[View | None],
    *problem: Any,
    late: tuple[float, ...] = (),
) -> None:
    """Record the program that ``prepare(build, *operands, *problem)`` builds for views.

    :func:`of_operands` or :func:`of_views` decorates ``prepare``. A view of None gives an operand
    of None. See Device.launch.
    """
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
    """Adapt a function of operands, packed or not, to :func:`launch`."""

    def prepare(build: Build, *arguments: Any) -> None:
        count = next(i for i, argument in enumerate(arguments) if isinstance(argument, tuple))
        slots, kinds, problem = iter(arguments[:count]), arguments[count], arguments[count + 1 :]
        operands = [None if kind is None else Operand(next(slots), *kind) for kind in kinds]
        function(build, *operands, *problem)

    return prepare


def of_operands(function: Prepare) -> Prepare:
    """Adapt a function of packed operands to :func:`launch`. Other operands are packed first."""

    @of_views
    def prepare(build: Build, *arguments: Any) -> None:
        function(build, *(packed(build, x) if isinstance(x, Operand) else x for x in arguments))

    return prepare


def packed(build: Build, x: Operand) -> Operand:
    """Return the operand itself if it is packed, else a packed copy of the same dtype."""
    if x.strides is None:
        return x
    kind, source = x.dtype, x.slot
    is_word = kind.device_bytes(1) == 4
    # Gather moves words, so smaller elements are cast to float32, which represents them exactly.
    if not is_word:
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
    """Temporaries for operands of other dtypes; see the module docstring.

    With ``images``, 0..255 of u8 tensors represent 0..1.
    """

    def __init__(self, build: Build, *, images: bool = False) -> None:
        self._build = build
        self._cast = image_cast if images else cast
        self._outputs: list[tuple[Slot, DType, Operand]] = []

    def read(self, x: Operand, dtype: DType = DType.F32) -> Slot:
        """Return the operand's elements as ``dtype``."""
        if x.dtype is dtype:
            return x.slot
        slot = self.temporary(dtype, x.size)
        self._cast(self._build, x.slot, slot, x.dtype, dtype, x.size)
        return slot

    def read_halves(self, x: Operand, bit: int) -> tuple[Slot, int]:
        """Return an operand as float16 with ``bit``, or as float32 with 0.

        The bit tells a kernel that it reads this operand as float16. A bit of 0 means float32 only.
        """
        if x.dtype is DType.F16 and bit:
            return x.slot, bit
        return self.read(x), 0

    def write(self, y: Operand, *read: Operand | None, dtype: DType = DType.F32) -> Slot:
        """Return where to write the operand's elements as ``dtype``. It is none of ``read``."""
        if y.dtype is dtype and all(x is None or y.slot != x.slot for x in read):
            return y.slot
        slot = self.temporary(dtype, y.size)
        self._outputs.append((slot, dtype, y))
        return slot

    def update(self, x: Operand) -> Slot:
        """Return where to read and write the operand as float32."""
        slot = self.read(x)
        if slot != x.slot:
            self._outputs.append((slot, DType.F32, x))
        return slot

    def temporary(self, dtype: DType, n: int) -> Slot:
        """Allocate a temporary for n elements."""
        return self._build.temporary(dtype.device_bytes(n))

    def deliver(self) -> None:
        """Add the casts and copies from temporaries to outputs, after all writes."""
        for slot, dtype, y in self._outputs:
            if dtype is y.dtype:
                self._build.copy(slot, y.slot, dtype.device_bytes(y.size))
            else:
                self._cast(self._build, slot, y.slot, dtype, y.dtype, y.size)
