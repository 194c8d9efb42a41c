"""Sums, means, extremes and variances of tensors over some of their axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf, nan
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.element_types import FLOAT32, ElementType
from browsergpu.engine.core.enums import ReduceOp
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.params import float_word
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.kernels.fused import reduction_plan
from browsergpu.engine.kernels.fused.operations import resolved
from browsergpu.engine.kernels.fused.reduction_plan import Extents, Reducer
from browsergpu.engine.kernels.reductions import moments
from browsergpu.engine.tensors.pointwise import KINDS
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View

#: [outer, length, inner] of each reduction of neighbouring axes, in their order.
Steps = tuple[Extents, ...]
#: The operation on two elements, and the identity element.
_OPERATIONS = {
    "sum": ("add", 0.0), "mean": ("add", 0.0), "max": ("maximum", -inf), "min": ("minimum", inf),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ReducePlan:
    """Number of elements of input and output, and the [outer, length, inner] of the input."""

    op: str
    input_elements: int
    output_elements: int
    extents: Extents


@remembered
def plan_reduce(op: Any, shape: Any, axis: Any) -> ReducePlan:
    """Check the arguments of ``WasmBackend.reduce`` that are not buffers."""
    kind = checks.choice("reduce", "op", op, ReduceOp)
    extents = checks.dimensions("reduce", "shape", shape)
    rank = len(extents)
    if rank == 0:
        raise InvalidArgument("reduce", "shape", shape, "have at least one dimension")
    at = checks.integer("reduce", "axis", axis, -rank)
    if at >= rank:
        raise InvalidArgument("reduce", "axis", axis, f"an axis from {-rank} to {rank - 1}")
    at %= rank
    outer, length = checks.product(extents[:at]), extents[at]
    inner = checks.product(extents[at + 1 :])
    if length == 0 and kind in (ReduceOp.MAX, ReduceOp.MIN):
        raise InvalidArgument(
            "reduce",
            "shape",
            shape,
            f"have elements along axis {axis}",
            f"{kind} of nothing is undefined.",
        )
    around = (outer, length, inner)
    return ReducePlan(kind.value, checks.product(around), outer * inner, around)


def reduce(device: Device, op: str, function: str, x: View, y: View, steps: Steps) -> None:
    """Write the sum, mean, max or min of x by one or more steps to y, which has elements.

    y may be x. Integers and bools are added modulo 2³². If x is empty, a mean is NaN and a sum is
    0; max and min are not allowed.
    """
    launch(device, op, _reduce, (x, y), function, steps)


def variance(device: Device, op: str, x: View, y: View, steps: Steps, ddof: float) -> None:
    """Write the variance of x by steps to y, which has elements and may be x."""
    launch(device, op, _variance, (x, y), steps, ddof)


@of_operands
def _reduce(build: Build, x: Operand, y: Operand, function: str, steps: Steps) -> None:
    staging = Staging(build)
    kind = DType.F32 if x.dtype.is_float else y.dtype
    target = staging.write(y, x, dtype=kind)
    if x.size == 0:
        _fill_empty(build, function, target, y.size)
    else:
        source, of = x.slot, KINDS[x.dtype]
        for i, step in enumerate(steps):
            outer, _, inner = step
            last = i == len(steps) - 1
            made = target if last else staging.temporary(kind, outer * inner)
            fold(build, function, source, of, made, step, KINDS[kind])
            if i:
                build.release(source)
            source, of = made, KINDS[kind]
    staging.deliver()


def _fill_empty(build: Build, function: str, y: Slot, n: int) -> None:
    """Add the results of no elements."""
    fill(build, y, nan if function == "mean" else 0.0, n)


def reduce_floats(build: Build, x: Slot, y: Slot, plan: ReducePlan) -> None:
    """Add a planned reduction of the first float32 of a buffer. y is not x and has elements."""
    if plan.input_elements:
        fold(build, plan.op, x, FLOAT32, y, plan.extents)
    else:
        _fill_empty(build, plan.op, y, plan.output_elements)


def fold(
    build: Build,
    function: str,
    x: Slot,
    kind: ElementType,
    y: Slot,
    extents: Extents,
    result: ElementType = FLOAT32,
) -> None:
    """Add dispatches that reduce the middle axis of packed elements of a type to ``result``."""
    length = extents[1] if function == "mean" else 1
    reduction_plan.reduce(build, _reducer(function, result, length), x, kind, y, extents)


@lru_cache(maxsize=1024)
def _reducer(function: str, kind: ElementType, length: int) -> Reducer:
    operation, identity = _OPERATIONS[function]
    nothing = float_word(identity) if kind is FLOAT32 else int(identity)
    scale = (float_word(1 / length),) if length > 1 else ()
    return Reducer("reduce", resolved(operation, (kind, kind)), (nothing,), scale)


@of_operands
def _variance(build: Build, x: Operand, y: Operand, steps: Steps, ddof: float) -> None:
    staging = Staging(build)
    target: Slot = staging.write(y, x)
    if x.size == 0:
        fill(build, target, nan, y.size)
    else:
        moments.variance(build, staging.read(x), target, steps, ddof)
    staging.deliver()
