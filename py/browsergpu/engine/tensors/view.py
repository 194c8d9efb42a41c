"""The place and type of a tensor's elements, the operand of all functions in this package."""

from __future__ import annotations

from math import prod
from typing import Any

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.shapes import Shape, contiguous_strides, is_contiguous
from browsergpu.engine.core.showing import Shown
from browsergpu.engine.gpu.memory import Allocation


class View(Shown):
    """Elements of one dtype in a buffer, at ``offset`` + sum(index × stride).

    Offset and strides count elements. Without strides the elements are in row-major order. Packed
    elements are in row-major order from the start of the buffer.

    Attributes
    ----------
    buffer
        The memory.
    shape
        The length of each axis.
    dtype
        The dtype of the elements.
    is_packed
        Whether the elements are packed.
    kind
        The key of programs: dtype and shape, and for elements that are not packed strides and
        offset.
    """

    __slots__ = ("buffer", "dtype", "is_packed", "kind", "shape")

    def __init__(
        self,
        buffer: Allocation,
        shape: Shape,
        dtype: DType,
        strides: Shape | None = None,
        offset: int = 0,
    ) -> None:
        self.buffer = buffer
        self.shape = shape
        self.dtype = dtype
        if strides is None and offset:
            strides = contiguous_strides(shape)
        self.is_packed = strides is None or (offset == 0 and is_contiguous(shape, strides))
        self.kind: tuple[Any, ...]
        self.kind = (dtype, shape) if self.is_packed else (dtype, shape, strides, offset)

    def _facts(self) -> str:
        return f"of shape {self.shape} and dtype {self.dtype}"

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def strides(self) -> Shape:
        """The steps along each axis, in elements."""
        strides: Shape = contiguous_strides(self.shape) if self.is_packed else self.kind[2]
        return strides

    @property
    def offset(self) -> int:
        """The first element in the buffer, in elements."""
        return 0 if self.is_packed else int(self.kind[3])
