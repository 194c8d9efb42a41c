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
    """

    __slots__ = ("buffer", "kind")

    def __init__(
        self,
        buffer: Allocation,
        shape: Shape,
        dtype: DType,
        strides: Shape | None = None,
        offset: int = 0,
    ) -> None:
        self.buffer = buffer
        if strides is None and offset:
            strides = contiguous_strides(shape)
        if strides is None or (offset == 0 and is_contiguous(shape, strides)):
            #: The key of programs: dtype and shape, and for elements that are not packed strides
            #: and offset.
            self.kind: tuple[Any, ...] = (dtype, shape)
        else:
            self.kind = (dtype, shape, strides, offset)

    def _facts(self) -> str:
        return f"of shape {self.shape} and dtype {self.dtype}"

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        dtype: DType = self.kind[0]
        return dtype

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        shape: Shape = self.kind[1]
        return shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def is_packed(self) -> bool:
        """Whether the elements are in row-major order from the start of the buffer."""
        return len(self.kind) == 2

    @property
    def strides(self) -> Shape:
        """The steps along each axis, in elements."""
        strides: Shape = contiguous_strides(self.shape) if self.is_packed else self.kind[2]
        return strides

    @property
    def offset(self) -> int:
        """The first element in the buffer, in elements."""
        return 0 if self.is_packed else int(self.kind[3])
