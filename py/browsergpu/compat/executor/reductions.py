"""Sums, means, extrema and variances over any axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from browsergpu.compat.executor.base import ExecutorBase
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.dtypes import NUMBERS, DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.remembered import hashable, remembered
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.tensors import reductions
from browsergpu.engine.tensors.device_array import DeviceArray
from browsergpu.engine.tensors.reductions import Steps

Axes = int | Sequence[int] | None


@remembered
def _reduction(op: str, shape: Shape, axis: Any, keepdims: Any) -> tuple[Shape, Steps]:
    """Return the result's shape and the steps of a reduction, or () if nothing is reduced."""
    chosen = shapes.axes(op, "axis", axis, len(shape))
    kept = checks.flag(op, "keepdims", keepdims)
    result = shapes.without(shape, chosen, keepdims=kept)
    return result, tuple(shapes.reduction_steps(shape, chosen))


class Reductions(ExecutorBase):
    """The methods sum to variance of a KernelExecutor.

    ``axis`` is None (all axes), one axis or several. With ``keepdims`` they keep extent 1. NaN
    propagates. f16 is summed in float32.
    """

    def sum(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return sums. Without elements a sum is 0.

        Integers are added modulo 2^32. bool gives i32, u8 gives u32.
        """
        op = "sum"
        self._array(op, "x", x, (*NUMBERS, DType.BOOL))
        if x.dtype.is_float:
            return self._reduce(op, x, axis, keepdims, out)
        shape, found = _reduction(op, x.shape, hashable(axis), keepdims)
        kind = DType.I32 if x.dtype is DType.BOOL else x.dtype.computed_as
        result = self._out(op, out, shape, kind, (kind,))
        if result.size:
            steps = found or ((x.size, 1, 1),)
            reductions.reduce(self.device, op, "sum", x, result, steps)
        return result

    def mean(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return means. Without elements a mean is NaN."""
        return self._reduce("mean", x, axis, keepdims, out)

    def max(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return maxima. Raise InvalidArgument without elements."""
        return self._reduce("max", x, axis, keepdims, out)

    def min(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Return minima. Raise InvalidArgument without elements."""
        return self._reduce("min", x, axis, keepdims, out)

    def variance(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
        *,
        ddof: float = 0,
    ) -> DeviceArray:
        """Return variances, as NumPy: sums of squared deviations divided by count - ddof."""
        op = "variance"
        kind = self._floats(op, x=x)
        shape, found = _reduction(op, x.shape, hashable(axis), keepdims)
        freedom = checks.nonnegative(op, "ddof", ddof)
        result = self._out(op, out, shape, kind)
        if result.size:
            steps = found or ((1, 1, x.size),)
            reductions.variance(self.device, op, x, result, steps, freedom)
        return result

    def _reduce(
        self, op: str, x: DeviceArray, axis: Axes, keepdims: bool, out: DeviceArray | None
    ) -> DeviceArray:
        kind = self._floats(op, x=x)
        shape, steps = _reduction(op, x.shape, hashable(axis), keepdims)
        result = self._out(op, out, shape, kind)
        if result.size == 0:
            return result
        if x.size == 0 and op in ("max", "min"):
            raise InvalidArgument(
                op, "x", x, "have elements along the axis", f"{op} of no elements is undefined."
            )
        if x.size and not steps:
            self._assign(op, x, result)
        else:
            reductions.reduce(self.device, op, op, x, result, steps)
        return result
