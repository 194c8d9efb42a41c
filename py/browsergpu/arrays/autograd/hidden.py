"""The base of arrays that hide their node: tracked arrays and arrays of ``vmap``."""

from __future__ import annotations

from browsergpu.arrays.array import Array
from browsergpu.engine.core.checks import product


class HidingArray(Array):
    """An array whose attributes come from its ``shape`` and ``dtype``, which subclasses define."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return product(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element on the host."""
        return self.dtype.itemsize
