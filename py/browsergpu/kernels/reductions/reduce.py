"""Sums, maxima, minima and means along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

from browsergpu.core import checks
from browsergpu.core.enums import ReduceOp
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.grids import fold
from browsergpu.core.params import params
from browsergpu.core.remembered import remembered
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.cuts import FIELDS, cut, inputs, outputs
from browsergpu.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Codes,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
)
from browsergpu.kernels.elements import elementwise

#: The kernels' functions; a mean is a sum that is scaled.
CODES: Codes = {"sum": 0, "max": 1, "min": 2}
_IDENTITIES = {"sum": 0.0, "mean": 0.0, "max": -inf, "min": inf}


@dataclass(frozen=True, slots=True, eq=False)
class ReducePlan:
    """Elements of input and output, and the [outer, length, inner] of the input. Where it has no
    element, the output is filled with ``empty``."""

    op: str
    input_elements: int
    output_elements: int
    extents: tuple[int, int, int]
    empty: float


@remembered
def plan_reduce(op: Any, shape: Any, axis: Any) -> ReducePlan:
    """Checks the arguments of ``ComputeBackend.reduce`` that are not buffers."""
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
    empty = nan if kind is ReduceOp.MEAN else 0.0
    return ReducePlan(
        kind.value, outer * length * inner, outer * inner, (outer, length, inner), empty
    )


@dataclass(frozen=True, slots=True)
class _Pass:
    kernel: str
    configuration: str
    grid: tuple[int, int, int]
    fields: tuple[float, ...]
    outputs: int
    is_last: bool


@remembered
def _passes(op: str, extents: tuple[int, int, int], threads: int) -> tuple[_Pass, ...]:
    """One pass, and another for each time that the axis is longer than a chunk."""
    outer, length, inner = extents
    kernel_op = "sum" if op == "mean" else op
    passes: list[_Pass] = []
    while True:
        part = cut(outer, length, inner, threads)
        scale = 1.0 / extents[1] if part.chunks == 1 and op == "mean" else 1.0
        passes.append(
            _Pass(
                "reduce_rows" if part.rows else "reduce_columns",
                f"{kernel_op}_aligned" if part.aligned else kernel_op,
                fold(part.workgroups),
                (*part.fields, _IDENTITIES[op], scale),
                part.outputs,
                part.chunks == 1,
            )
        )
        if part.chunks == 1:
            return tuple(passes)
        length = part.chunks


def reduce(build: Build, x: Slot, y: Slot, plan: ReducePlan) -> None:
    """y = the reduction of x; y is not x."""
    if not plan.input_elements:
        elementwise.fill(build, y, plan.empty, plan.output_elements)
        return
    source = x
    for step in _passes(plan.op, plan.extents, build.facts.workgroup_sizes.reduction):
        # Rows are read as vec4s alone, columns also word by word.
        views = (source,) if step.kernel == "reduce_rows" else (source, source)
        target = y if step.is_last else build.temporary(4 * step.outputs)
        build.dispatch(step.kernel, step.configuration, step.grid, (*views, target), *step.fields)
        if source != x:
            build.release(source)
        source = target


def _work(f: Fields) -> Work:
    return inputs(f), 4 * (inputs(f) + outputs(f))


_PARAMS = params(*FIELDS, "identity: f32", "scale: f32")
_PLAIN = {op: {"OP": code, "ALIGNED": 0} for op, code in CODES.items()}
_ALIGNED = {f"{op}_aligned": {"OP": code, "ALIGNED": 1} for op, code in CODES.items()}

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "reduce_rows",
            "reduce.wgsl",
            (Binding(0, "x", READ), Binding(2, "y", WRITE)),
            _PARAMS,
            "main_rows",
            _PLAIN,
            "reduction",
            _work,
        ),
        Kernel(
            "reduce_columns",
            "reduce.wgsl",
            bindings("x", "words", "y"),
            _PARAMS,
            "main_columns",
            {**_PLAIN, **_ALIGNED},
            "reduction",
            _work,
        ),
    ),
    warm_up={"reduce_rows.sum": 80},
)
