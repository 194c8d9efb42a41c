"""The methods that NumPy's arrays have for functions: each calls the function of its name."""

from __future__ import annotations

import sys
from typing import Any, Self

from browsergpu.core import shapes
from browsergpu.core.showing import Shown


class Methods(Shown):
    """NumPy's names and arguments; the results are arrays on the GPU."""

    __slots__ = ()
    shape: Any

    def _called(self, name: str, *arguments: Any, **options: Any) -> Self:
        # By its name: nothing imports what stands above it.
        found: Self = getattr(sys.modules["browsergpu"], name)(self, *arguments, **options)
        return found

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.all`."""
        return self._called("all", axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.any`."""
        return self._called("any", axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.max`."""
        return self._called("max", axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.mean`."""
        return self._called("mean", axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.min`."""
        return self._called("min", axis=axis, keepdims=keepdims)

    def prod(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Self:
        """:func:`browsergpu.prod`."""
        return self._called("prod", axis=axis, dtype=dtype, keepdims=keepdims)

    def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Self:
        """:func:`browsergpu.sum`."""
        return self._called("sum", axis=axis, dtype=dtype, keepdims=keepdims)

    def std(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Self:
        """:func:`browsergpu.std`; ``ddof`` is its ``correction``."""
        return self._called("std", axis=axis, correction=ddof, keepdims=keepdims)

    def var(self, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Self:
        """:func:`browsergpu.var`; ``ddof`` is its ``correction``."""
        return self._called("var", axis=axis, correction=ddof, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.argmax`."""
        return self._called("argmax", axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Self:
        """:func:`browsergpu.argmin`."""
        return self._called("argmin", axis=axis, keepdims=keepdims)

    def argsort(self, axis: int = -1, *, descending: bool = False) -> Self:
        """:func:`browsergpu.argsort`."""
        return self._called("argsort", axis=axis, descending=descending)

    def cumsum(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """:func:`browsergpu.cumulative_sum`; without an axis of all elements in their order."""
        own = self.ravel() if axis is None else self
        at = 0 if axis is None else axis
        return own._called("cumulative_sum", axis=at, dtype=dtype)

    def cumprod(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """:func:`browsergpu.cumulative_prod`; without an axis of all elements in their order."""
        own = self.ravel() if axis is None else self
        at = 0 if axis is None else axis
        return own._called("cumulative_prod", axis=at, dtype=dtype)

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """:func:`browsergpu.clip`."""
        return self._called("clip", min, max)

    def conj(self) -> Self:
        """:func:`browsergpu.conj`."""
        return self._called("conj")

    def copy(self) -> Self:
        """Another array of the same values."""
        return self._called("asarray", copy=True)

    def dot(self, other: Any) -> Self:
        """The product with a matrix, a vector or a number, as NumPy's ``dot`` of up to two axes."""
        return self._called("matmul" if getattr(other, "shape", ()) else "multiply", other)

    def flatten(self) -> Self:
        """A copy along one axis."""
        return self.ravel()._called("asarray", copy=True)

    def nonzero(self) -> tuple[Self, ...]:
        """:func:`browsergpu.nonzero`."""
        found: Any = self._called("nonzero")
        return tuple(found)

    def ravel(self) -> Self:
        """Its elements along one axis, in the same memory where that is possible."""
        return self._called("reshape", (-1,))

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """:func:`browsergpu.repeat`."""
        return self._called("repeat", repeats, axis=axis)

    def round(self) -> Self:
        """:func:`browsergpu.round`, to whole numbers."""
        return self._called("round")

    def squeeze(self, axis: Any = None) -> Self:
        """:func:`browsergpu.squeeze`; without an axis of all axes of one index."""
        shape = self.shape
        chosen = tuple(n for n, extent in enumerate(shape) if extent == 1)
        return self._called("squeeze", chosen if axis is None else axis)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Two axes exchanged, in the same memory."""
        rank = len(self.shape)
        if shapes.axis("swapaxes", "axis1", axis1, rank) == shapes.axis(
            "swapaxes", "axis2", axis2, rank
        ):
            return self._called("permute_dims", tuple(range(rank)))
        return self._called("moveaxis", (axis1, axis2), (axis2, axis1))

    def take(self, indices: Any, axis: int | None = None) -> Self:
        """:func:`browsergpu.take`; without an axis of all elements in their order."""
        own, at = (self.ravel(), 0) if axis is None else (self, axis)
        return own._called("take", indices, axis=at)

    def transpose(self, *axes: Any) -> Self:
        """:func:`browsergpu.permute_dims`; without axes all of them reversed."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = order or tuple(reversed(range(len(self.shape))))
        return self._called("permute_dims", order)
