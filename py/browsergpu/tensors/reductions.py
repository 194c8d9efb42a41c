"""Sums, means, extremes and variances of tensors over some of their axes."""

from __future__ import annotations

from math import nan

from browsergpu.core.dtypes import DType
from browsergpu.device.device import Device
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.elements import elementwise, integers
from browsergpu.kernels.reductions import moments
from browsergpu.kernels.reductions import reduce as kernels
from browsergpu.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.tensors.view import View

#: [outer, length, inner] of each reduction of neighbouring axes, in their order.
Steps = tuple[tuple[int, int, int], ...]


def reduce(device: Device, op: str, function: str, x: View, y: View, steps: Steps) -> None:
    """y = the sum, mean, max or min of x by steps, of which there is one at least; y, which has
    elements, may be x. Sums of integers and bool are added modulo 2^32; of nothing, a mean is NaN,
    a sum 0, and there is no max or min."""
    launch(device, op, _reduce, (x, y), function, steps)


def variance(device: Device, op: str, x: View, y: View, steps: Steps, ddof: float) -> None:
    """y = the variance of x by steps; y, which has elements, may be x."""
    launch(device, op, _variance, (x, y), steps, ddof)


@of_operands
def _reduce(build: Build, x: Operand, y: Operand, function: str, steps: Steps) -> None:
    staging = Staging(build)
    kind = DType.F32 if x.dtype.is_float else y.dtype
    target = staging.write(y, x, dtype=kind)
    if x.size == 0:
        elementwise.fill(build, target, nan if function == "mean" else 0.0, y.size)
    else:
        source = staging.read(x, x.dtype.computed_as)
        for i, step in enumerate(steps):
            outer, _, inner = step
            last = i == len(steps) - 1
            made = target if last else staging.temporary(kind, outer * inner)
            if kind is DType.F32:
                kernels.reduce(build, source, made, kernels.plan_reduce(function, step, 1))
            else:
                integers.total(build, source, made, *step)
            if i:
                build.release(source)
            source = made
    staging.deliver()


@of_operands
def _variance(build: Build, x: Operand, y: Operand, steps: Steps, ddof: float) -> None:
    staging = Staging(build)
    target: Slot = staging.write(y, x)
    if x.size == 0:
        elementwise.fill(build, target, nan, y.size)
    else:
        moments.variance(build, staging.read(x), target, steps, ddof)
    staging.deliver()
