"""Uniform, normal and exponential distributions, and random integers."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.in_place import become
from browsergpu.arrays.upload import element_type
from browsergpu.engine.core import checks
from browsergpu.engine.core.element_types import FLOAT32, INT32, UINT32, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.tensors import random
from browsergpu.functions import elementwise
from browsergpu.functions.creation import asarray
from browsergpu.functions.random.parameters import (
    AT_LEAST_0,
    FINITE,
    WHOLE,
    drawn_shape,
    parameter,
    shape_of,
    shape_of_parameter,
)
from browsergpu.functions.random.stream import Stream


class Basic(Stream):
    """The distributions that all others are made of."""

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Array:
        """Draw from a uniform distribution on a half-open interval.

        Parameters
        ----------
        low : array_like, optional
            The lower bound, included.
        high : array_like, optional
            The upper bound, excluded.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "uniform"
        if _is_number(low) and _is_number(high):
            return self._draw(random.uniform, op, self._new(op, size, FLOAT32), low, high)
        least, most = parameter(op, "low", low, FINITE), parameter(op, "high", high, FINITE)
        if not isinstance(least, Array) and not isinstance(most, Array) and np.any(least > most):
            raise InvalidArgument(op, "high", high, "at least low")
        u = self._standard(random.uniform, op, size, least, most)
        least, most = (_beside(u, one) for one in (least, most))
        found = elementwise.add(least, elementwise.multiply(u, elementwise.subtract(most, least)))
        return elementwise.minimum(found, elementwise.nextafter(most, least))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from a normal distribution.

        Parameters
        ----------
        loc : array_like, optional
            The mean.
        scale : array_like, optional
            The standard deviation, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "normal"
        if _is_number(loc) and _is_number(scale):
            return self._draw(random.normal, op, self._new(op, size, FLOAT32), loc, scale)
        mean, width = parameter(op, "loc", loc, FINITE), parameter(op, "scale", scale, AT_LEAST_0)
        z = self._standard(random.normal, op, size, mean, width)
        return elementwise.add(elementwise.multiply(z, _beside(z, width)), _beside(z, mean))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Array:
        """Draw from an exponential distribution.

        Parameters
        ----------
        scale : array_like, optional
            The mean, at least 0.
        size : int or tuple of int, optional
            The shape of the result. By default, the common shape of the parameters.

        Returns
        -------
        Array
            float32 of shape ``size``.

        Raises
        ------
        InvalidArgument
            If a parameter on the host is out of range, or the shapes do not broadcast to ``size``.
        """
        op = "exponential"
        if _is_number(scale):
            return self._draw(random.exponential, op, self._new(op, size, FLOAT32), scale)
        mean = parameter(op, "scale", scale, AT_LEAST_0)
        found = self._standard(random.exponential, op, size, mean)
        return elementwise.multiply(found, _beside(found, mean))

    def _standard(self, function: Any, op: str, size: Any, *parameters: Any) -> Array:
        shape = drawn_shape(op, size, [shape_of_parameter(one) for one in parameters])
        return self._draw(function, op, self._new(op, shape, FLOAT32))

    def _filled(
        self, function: Any, op: str, size: Any, dtype: Any, out: Array | None, *parameters: Any
    ) -> Array:
        """Draw floats of a dtype, into ``out`` if it is given."""
        if out is not None:
            size, dtype = like_out(op, size, dtype, out)
        kind = FLOAT32 if dtype is None else self._float(op, dtype)
        found = self._draw(function, op, self._new(op, size, kind), *parameters)
        return given(out, found)

    def _integers(self, op: str, low: Any, high: Any, size: Any, kind: ElementType) -> Array:
        """Draw integers from ``low`` to ``high``, both included.

        Raises InvalidArgument if the type does not hold them.
        """
        bounds = np.iinfo(kind.numpy)
        wide = UINT32 if kind.kind == "u" else INT32
        if not (_is_several(low) or _is_several(high)):
            if not bounds.min <= low <= high <= bounds.max:
                expected = f"more than {low}, within {kind.name}"
                raise InvalidArgument(op, "high", high + 1, expected)
            if not np.iinfo(wide.numpy).min <= low <= high <= np.iinfo(wide.numpy).max:
                raise InvalidArgument(op, "high", high + 1, f"within {wide.name}, of 32 bits")
            drawn = self._draw(random.integers, op, self._new(op, size, wide), low, high + 1)
            return drawn.astype(kind.numpy, copy=False)
        if wide is UINT32 and kind.bits >= 32:
            expected = "a dtype of at most 31 bits if the bounds are arrays"
            raise InvalidType(op, "dtype", kind.numpy, expected)
        for name, bound in (("low", low), ("high", high)):
            if not isinstance(bound, Array):
                within = np.asarray(bound)
                if np.any((within < bounds.min) | (within > bounds.max)):
                    raise InvalidArgument(op, name, bound, f"within {kind.name}")
        is_known = not isinstance(low, Array) and not isinstance(high, Array)
        if is_known and np.any(np.asarray(low) > np.asarray(high)):
            raise InvalidArgument(op, "high", high, "above low")
        found = self._sample(
            op, size, "integer", [("low", low, WHOLE), ("high", high, WHOLE)], INT32
        )
        return found.astype(kind.numpy, copy=False)


def like_out(op: str, size: Any, dtype: Any, out: Array) -> tuple[Any, Any]:
    """Return the size and dtype of ``out``. Raises InvalidArgument if others are given."""
    if not isinstance(out, Array):
        raise InvalidType(op, "out", out, "an array on the GPU")
    if size is not None and shape_of(op, size) != out.shape:
        raise InvalidArgument(op, "size", size, f"None or {out.shape}, out's shape")
    if dtype is not None and element_type(op, dtype) is not element_type(op, out.dtype):
        raise InvalidArgument(op, "dtype", dtype, f"None or {out.dtype}, out's dtype")
    return out.shape, out.dtype


def given(out: Array | None, found: Array) -> Array:
    """Return drawn numbers, in ``out`` if it is given."""
    if out is None:
        return found
    become(out, found)
    return out


def bounds_of(op: str, low: Any, high: Any, endpoint: bool) -> tuple[Any, Any]:
    """Return the least and greatest integer between bounds.

    With one bound, the least integer is 0.
    """
    if high is None:
        low, high = 0, low
    least, most = _bound(op, "low", low), _bound(op, "high", high)
    if endpoint:
        return least, most
    if isinstance(most, Array):
        return least, elementwise.subtract(most, 1)
    return least, most.astype(np.int64) - 1 if isinstance(most, np.ndarray) else most - 1


def whole_type(op: str, dtype: Any) -> ElementType:
    """Return the type of an integer dtype. Raises InvalidType for others."""
    kind = element_type(op, dtype)
    if kind.kind not in "iu":
        raise InvalidType(op, "dtype", kind.numpy, "an integer dtype")
    return kind


def _bound(op: str, name: str, value: Any) -> Any:
    if isinstance(value, Array) and value.node.kind.computed in "IU":
        advice = "Cast it with .astype('int32')."
        raise InvalidType(op, name, value, "an array of at most 32 bits", advice)
    if _is_several(value):
        return parameter(op, name, value, WHOLE)
    try:
        return index(value)
    except TypeError:
        raise InvalidType(op, name, value, "integers") from None


def _is_several(value: Any) -> bool:
    return isinstance(value, Array) or checks.is_several(value)


def _is_number(value: Any) -> bool:
    return not isinstance(value, Array | list | tuple) and not (
        isinstance(value, np.ndarray) and value.ndim
    )


def _beside(drawn: Array, value: Any) -> Any:
    """Return a parameter as an operand on the device of drawn numbers."""
    if isinstance(value, Array):
        return value
    return asarray(np.asarray(value, np.float32), device=drawn.device)
