"""Where an array's elements are: what functions of arrays are called on."""

from __future__ import annotations

from math import prod
from typing import Any

from browsergpu.core.dtypes import DType
from browsergpu.core.shapes import Shape, contiguous_strides, is_contiguous
from browsergpu.core.showing import Shown
from browsergpu.gpu.memory import Allocation


class View(Shown):
    """Elements of one dtype in a buffer: those at ``offset`` + the sum of index × stride over the
    axes. Offset and strides count elements; without strides they are row-major, one beside the
    other. Packed elements are so from the buffer's beginning on."""

    __slots__ = ("buffer", "kind", "size")

    def __init__(
        self,
        buffer: Allocation,
        shape: Shape,
        dtype: DType,
        strides: Shape | None = None,
        offset: int = 0,
    ) -> None:
        self.buffer = buffer
        self.size = prod(shape)
        if strides is None and offset:
            strides = contiguous_strides(shape)
        if strides is None or (offset == 0 and is_contiguous(shape, strides)):
            #: What a program depends on: the dtype and the shape, and for what is not packed the
            #: strides and the offset.
            self.kind: tuple[Any, ...] = (dtype, shape)
        else:
            self.kind = (dtype, shape, strides, offset)

    def _facts(self) -> str:
        return f"of shape {self.shape} and dtype {self.dtype}"

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        dtype: DType = self.kind[0]
        return dtype

    @property
    def shape(self) -> Shape:
        """The extents of its axes."""
        shape: Shape = self.kind[1]
        return shape

    @property
    def is_packed(self) -> bool:
        """Whether its elements lie in row-major order from the buffer's beginning on."""
        return len(self.kind) == 2

    @property
    def strides(self) -> Shape:
        """Elements from one index to the next, for each axis."""
        strides: Shape = contiguous_strides(self.shape) if self.is_packed else self.kind[2]
        return strides

    @property
    def offset(self) -> int:
        """Where in the buffer its first element is, in elements."""
        return 0 if self.is_packed else int(self.kind[3])
