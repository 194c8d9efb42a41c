"""Sums, means, extremes and variances over any axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

from browsergpu.core import checks
from browsergpu.core import shapes
from browsergpu.array.device_array import DeviceArray
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.api.executor.base import FLOATS, WHOLE, ExecutorBase
from browsergpu.gpu.memory import Allocation
from browsergpu.kernels import elementwise
from browsergpu.kernels import integers
from browsergpu.kernels import moments
from browsergpu.kernels import reduce
from browsergpu.core.remembered import hashable, remembered
from browsergpu.core.shapes import Shape
from browsergpu.array.staging import Staging

Axes = int | Sequence[int] | None
#: [outer, length, inner] of each reduction of neighbouring axes, in their order.
Steps = tuple[tuple[int, int, int], ...]


@remembered
def _reduction(op: str, shape: Shape, axis: Any, keepdims: Any) -> tuple[Shape, Steps]:
    """The shape of a reduction's result, and its steps; none where every extent that goes is 1."""
    chosen = shapes.axes(op, "axis", axis, len(shape))
    kept = checks.flag(op, "keepdims", keepdims)
    result = shapes.without(shape, chosen, keepdims=kept)
    return result, tuple(shapes.reduction_steps(shape, chosen))


class Reductions(ExecutorBase):
    """sum to variance of a KernelExecutor.

    ``axis`` is None (all axes), one axis or several; with ``keepdims`` they stay with extent 1.
    NaN propagates. f16 is summed in float32.
    """

    def sum(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Sums; of nothing, 0. Whole numbers are added modulo 2^32; bool gives i32, u8 gives
        u32."""
        op = "sum"
        self._array(op, "x", x, (*FLOATS, *WHOLE, DType.BOOL, DType.U8))
        if x.dtype.is_float:
            return self._reduce(op, x, axis, keepdims, out)
        shape, found = _reduction(op, x.shape, hashable(axis), keepdims)
        kind = DType.I32 if x.dtype is DType.BOOL else x.dtype.computed_as
        result = self._out(op, out, shape, kind, (kind,))
        with Staging(self.device, op) as staging:
            y = staging.write(result.tensor, x.tensor, dtype=kind)
            if x.size == 0:
                elementwise.fill_words(self.device, y, 0, result.size)
                return result
            steps = found or ((x.size, 1, 1),)
            source = staging.read(x.tensor, x.dtype.computed_as)
            for step in steps:
                last = step is steps[-1]
                target = y if last else staging.temporary(kind, step[0] * step[2])
                integers.total(self.device, source, target, *step)
                source = target
        return result

    def mean(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """Means; of nothing, NaN."""
        return self._reduce("mean", x, axis, keepdims, out)

    def max(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """The largest elements; of nothing, InvalidArgument."""
        return self._reduce("max", x, axis, keepdims, out)

    def min(
        self,
        x: DeviceArray,
        axis: Axes = None,
        keepdims: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """The smallest elements; of nothing, InvalidArgument."""
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
        """Variances as NumPy's: the sum of squared deviations over the count less ``ddof``."""
        op = "variance"
        kind = self._floats(op, x=x)
        shape, found = _reduction(op, x.shape, hashable(axis), keepdims)
        freedom = checks.real(op, "ddof", ddof)
        if freedom < 0 or not isfinite(freedom):
            raise InvalidArgument(op, "ddof", ddof, "a number of at least 0")
        result = self._out(op, out, shape, kind)
        if result.size == 0:
            return result
        with Staging(self.device, op) as staging:
            y = staging.write(result.tensor, x.tensor)
            if x.size == 0:
                elementwise.fill(self.device, y, nan, result.size)
                return result
            steps = found or ((1, 1, x.size),)
            source = staging.read(x.tensor)
            moments.variance(self.device, source, y, steps, freedom)
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
            raise InvalidArgument(op, "x", x, f"a non-empty axis: {op} of nothing is undefined")
        if x.size and not steps:
            self._assign(op, x, result)
            return result
        with Staging(self.device, op) as staging:
            y = staging.write(result.tensor, x.tensor)
            if x.size == 0:
                elementwise.fill(self.device, y, nan if op == "mean" else 0.0, result.size)
                return result
            self._run(op, staging, staging.read(x.tensor), y, steps)
        return result

    def _run(
        self,
        op: str,
        staging: Staging,
        x: Allocation,
        y: Allocation,
        steps: Steps,
    ) -> None:
        source = x
        for step in steps:
            last = step is steps[-1]
            target = y if last else staging.temporary(DType.F32, step[0] * step[2])
            reduce.reduce(self.device, reduce.plan_reduce(op, step, 1), source, target)
            source = target
