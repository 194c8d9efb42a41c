"""NumPy's array methods: each calls the function of the same name."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from browsergpu.engine.core import shapes
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Shown

_NONE: Any = np._NoValue


class Methods(Shown):
    """NumPy's method names and arguments. The results are arrays on the GPU."""

    __slots__ = ()
    shape: Any

    def _called(self, name: str, *arguments: Any, **options: Any) -> Self:
        found: Self = getattr(ABOVE.namespace, name)(self, *arguments, **options)
        return found

    def _numpys(self, function: Any, *arguments: Any, **options: Any) -> Self:
        # Calls NumPy's function through the __array_function__ protocol.
        found: Self = ABOVE.numpy_protocols.function(function, (self, *arguments), options)
        return found

    def _assign(self, value: Any) -> None:
        own: Any = self
        own[...] = value

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> np.ndarray:
        """Copy the array to the host: ``bg.asnumpy(x)``, by CuPy's name. Waits for the GPU."""
        found: Any = self._called("asnumpy", stream, order, out, blocking=blocking)
        made: np.ndarray = found
        return made

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Copy a NumPy array of the same shape and dtype into this array, by CuPy's name."""
        own: Any = self
        if not isinstance(arr, np.ndarray) or (arr.shape, arr.dtype) != (own.shape, own.dtype):
            expected = f"a NumPy array of shape {own.shape} and dtype {own.dtype.name}"
            raise InvalidArgument("set", "arr", arr, expected)
        if stream is not None and not hasattr(stream, "wait_event"):
            raise InvalidArgument("set", "stream", stream, "a browsergpu.cuda.Stream or None")
        self._assign(arr)

    def all(
        self, axis: Any = None, *, out: Any = None, keepdims: Any = False, where: Any = True
    ) -> Self:
        """Test whether all elements along an axis are true, as ``np.all``."""
        return self._numpys(np.all, axis, out, keepdims, where=where)

    def any(
        self, axis: Any = None, *, out: Any = None, keepdims: Any = False, where: Any = True
    ) -> Self:
        """Test whether any element along an axis is true, as ``np.any``."""
        return self._numpys(np.any, axis, out, keepdims, where=where)

    def max(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NONE,
        where: Any = True,
    ) -> Self:  # fmt: skip
        """Return the maximum along an axis, as ``np.max``."""
        return self._numpys(np.max, axis, out, keepdims, initial, where)

    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
        where: Any = True,
    ) -> Self:  # fmt: skip
        """Return the mean along an axis, as ``np.mean``."""
        return self._numpys(np.mean, axis, dtype, out, keepdims, where=where)

    def min(
        self, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NONE,
        where: Any = True,
    ) -> Self:  # fmt: skip
        """Return the minimum along an axis, as ``np.min``."""
        return self._numpys(np.min, axis, out, keepdims, initial, where)

    def prod(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = _NONE, where: Any = True,
    ) -> Self:  # fmt: skip
        """Return the product along an axis, as ``np.prod``."""
        return self._numpys(np.prod, axis, dtype, out, keepdims, initial, where)

    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
        initial: Any = _NONE, where: Any = True,
    ) -> Self:  # fmt: skip
        """Return the sum along an axis, as ``np.sum``."""
        return self._numpys(np.sum, axis, dtype, out, keepdims, initial, where)

    def std(
        self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: Any = False, *, where: Any = True, mean: Any = _NONE,
    ) -> Self:  # fmt: skip
        """Return the standard deviation along an axis, as ``np.std``."""
        return self._numpys(np.std, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def var(
        self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
        keepdims: Any = False, *, where: Any = True, mean: Any = _NONE,
    ) -> Self:  # fmt: skip
        """Return the variance along an axis, as ``np.var``."""
        return self._numpys(np.var, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    def argmax(self, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Self:
        """Return the index of the maximum along an axis, as ``np.argmax``."""
        return self._numpys(np.argmax, axis, out, keepdims=keepdims)

    def argmin(self, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Self:
        """Return the index of the minimum along an axis, as ``np.argmin``."""
        return self._numpys(np.argmin, axis, out, keepdims=keepdims)

    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None,
        descending: bool = False,
    ) -> Self:  # fmt: skip
        """Return the indices that sort an axis, as ``np.argsort``.

        ``descending`` reverses the order.
        """
        if not descending:
            return self._numpys(np.argsort, axis, kind, order, stable=stable)
        if axis is None or kind is not None or order is not None:
            expected = "False if kind or order is given, or axis is None"
            raise InvalidArgument("argsort", "descending", descending, expected)
        return self._called("argsort", axis=axis, descending=True)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Self:
        """Return the cumulative sum along an axis, as ``np.cumsum``."""
        return self._numpys(np.cumsum, axis, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Self:
        """Return the cumulative product along an axis, as ``np.cumprod``."""
        return self._numpys(np.cumprod, axis, dtype, out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Self:
        """Limit the elements to an interval, as ``np.clip``."""
        return self._numpys(np.clip, min, max, out)

    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Self:
        """Return the indices that partition an axis, as ``np.argpartition``."""
        return self._numpys(np.argpartition, kth, axis, kind, order)

    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Self:
        """Choose elements from several arrays, as ``np.choose``."""
        return self._numpys(np.choose, choices, out, mode)

    def conjugate(self) -> Self:
        """Return the complex conjugate, as :func:`browsergpu.conj`."""
        return self.conj()

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Return a view of a diagonal, as ``np.diagonal``. Unlike NumPy's, it can be written."""
        return self._numpys(np.diagonal, offset, axis1, axis2)

    def fill(self, value: Any) -> None:
        """Assign a number to all elements."""
        if np.ndim(value):
            raise InvalidArgument("fill", "value", value, "a number")
        self._assign(value)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Self:
        """Select indices of an axis by a condition, as ``np.compress``."""
        found: Self = ABOVE.namespace.compress(condition, self, axis, out)
        return found

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Partition an axis in place, as ``np.partition``."""
        self._assign(self._numpys(np.partition, kth, axis, kind, order))

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Assign elements at flat indices, as ``np.put``."""
        self._numpys(np.put, indices, values, mode)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Set the flag ``writeable``. ``align`` and ``uic`` cannot be changed."""
        if align not in (None, True, 1) or uic not in (None, False, 0):
            raise InvalidArgument("setflags", "align", (align, uic), "None, as it cannot be set")
        if write is not None:
            own: Any = self
            own.flags.writeable = bool(write)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Self:
        """Return the indices where elements would be inserted, as ``np.searchsorted``."""
        return self._numpys(np.searchsorted, v, side, sorter)

    def sort(
        self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Sort along an axis in place, as NumPy's method ``sort``."""
        self._assign(self._numpys(np.sort, axis, kind, order, stable=stable))

    def tobytes(self, order: str = "C") -> bytes:
        """Return the elements as bytes, in row-major ("C") or column-major ("F") order. Waits."""
        host: Any = self
        found: bytes = host.numpy().tobytes(order)
        return found

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
    ) -> Self:
        """Return the sum of a diagonal, as ``np.trace``."""
        return self._numpys(np.trace, offset, axis1, axis2, dtype, out)

    def conj(self) -> Self:
        """Return the complex conjugate, as :func:`browsergpu.conj`."""
        return self._called("conj")

    def copy(self, order: str = "C") -> Self:
        """Return a copy of the array."""
        return self._numpys(np.copy, order)

    def dot(self, b: Any, out: Any = None) -> Self:
        """Return the dot product with another array, as ``np.dot``."""
        return self._numpys(np.dot, b, out=out)

    def flatten(self, order: str = "C") -> Self:
        """Return a one-dimensional copy."""
        return self.ravel(order).copy()

    def nonzero(self) -> tuple[Self, ...]:
        """Return the indices of nonzero elements, as :func:`browsergpu.nonzero`."""
        found: Any = self._called("nonzero")
        return tuple(found)

    def ravel(self, order: str = "C") -> Self:
        """Return the elements along one axis, as a view if possible."""
        return self._numpys(np.ravel, order)

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Repeat elements, as :func:`browsergpu.repeat`."""
        return self._called("repeat", repeats, axis=axis)

    def round(self, decimals: int = 0, out: Any = None) -> Self:
        """Round to a number of decimals, as ``np.round``."""
        return self._numpys(np.round, decimals, out)

    def squeeze(self, axis: Any = None) -> Self:
        """Remove axes of length 1, by default all of them, as :func:`browsergpu.squeeze`."""
        shape = self.shape
        chosen = tuple(n for n, extent in enumerate(shape) if extent == 1)
        return self._called("squeeze", chosen if axis is None else axis)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Return a view with two axes swapped."""
        rank = len(self.shape)
        if shapes.axis("swapaxes", "axis1", axis1, rank) == shapes.axis(
            "swapaxes", "axis2", axis2, rank
        ):
            return self._called("permute_dims", tuple(range(rank)))
        return self._called("moveaxis", (axis1, axis2), (axis2, axis1))

    def take(
        self, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
    ) -> Self:
        """Select elements by index, by default from the flattened array, as ``np.take``."""
        return self._numpys(np.take, indices, axis, out, mode)

    def transpose(self, *axes: Any) -> Self:
        """Permute the axes, as :func:`browsergpu.permute_dims`.

        By default their order is reversed.
        """
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = order or tuple(reversed(range(len(self.shape))))
        return self._called("permute_dims", order)
