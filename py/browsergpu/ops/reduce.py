"""Sums, maxima, minima and means along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

from browsergpu import checks
from browsergpu.compute_backend import ReduceOp
from browsergpu.device import Device
from browsergpu.errors import InvalidArgument
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation
from browsergpu.ops import elementwise
from browsergpu.ops.remembered import remembered

_ROW_CHUNK = 16_384  # elements that one workgroup reduces: 64 a thread of 256, then a tree
_COLUMN_CHUNK = 256  # elements that one thread reduces
_SHORT_ROW = 32  # rows up to here are quicker one a thread than one a workgroup

_IDENTITIES = {"sum": 0.0, "mean": 0.0, "max": -inf, "min": inf}


@dataclass(frozen=True, slots=True)
class _Pass:
    rows: bool
    fields: tuple[float, ...]
    outputs: int

    @property
    def kernel(self) -> str:
        return "reduce_rows" if self.rows else "reduce_columns"

    def grid(self, threads: int) -> tuple[int, int, int]:
        """A workgroup for each output of a row, a thread for each of a column."""
        return fold(self.outputs if self.rows else blocks(self.outputs, threads))


@dataclass(frozen=True, slots=True)
class ReducePlan:
    """Elements of input and output, and the passes: one, and another for each time that the axis
    is longer than a chunk. Without passes, the output is filled with ``empty``."""

    op: str
    input_elements: int
    output_elements: int
    passes: tuple[_Pass, ...]
    empty: float


@remembered
def plan_reduce(op: Any, shape: Any, axis: Any) -> ReducePlan:
    """Checks the arguments of ``ComputeBackend.reduce`` that are not buffers."""
    kind = checks.choice("reduce", "op", op, ReduceOp)
    extents = checks.dimensions("reduce", "shape", shape)
    rank = len(extents)
    if rank == 0:
        raise InvalidArgument("reduce", "shape", shape, "at least one dimension")
    at = checks.integer("reduce", "axis", axis, -rank)
    if at >= rank:
        raise InvalidArgument("reduce", "axis", axis, f"an axis from {-rank} to {rank - 1}")
    at %= rank
    outer, length = checks.product(extents[:at]), extents[at]
    inner = checks.product(extents[at + 1 :])
    if length == 0 and kind in (ReduceOp.MAX, ReduceOp.MIN):
        raise InvalidArgument(
            "reduce", "shape", shape, f"a non-empty axis {axis}: {kind} of nothing is undefined"
        )
    passes = _passes(kind.value, outer, length, inner) if outer * length * inner else ()
    kernel_op = "sum" if kind is ReduceOp.MEAN else kind.value
    empty = nan if kind is ReduceOp.MEAN else 0.0
    return ReducePlan(kernel_op, outer * length * inner, outer * inner, passes, empty)


def _passes(op: str, outer: int, length: int, inner: int) -> tuple[_Pass, ...]:
    mean_scale = 1.0 / length
    passes: list[_Pass] = []
    while not passes or length > 1:
        rows = inner == 1 and length > _SHORT_ROW
        chunk = _ROW_CHUNK if rows else _COLUMN_CHUNK
        chunks = blocks(length, chunk)
        outputs = outer * chunks * inner
        scale = mean_scale if chunks == 1 and op == "mean" else 1.0
        passes.append(
            _Pass(
                rows,
                (outer, length, inner, chunk, chunks, _IDENTITIES[op], scale),
                outputs,
            )
        )
        length = chunks
    return tuple(passes)


def reduce(device: Device, plan: ReducePlan, x: Allocation, y: Allocation) -> None:
    """y = the reduction of x; y is not x."""
    if not plan.passes:
        elementwise.fill(device, y, plan.empty, plan.output_elements)
        return
    source = x
    for step in plan.passes:
        last = step is plan.passes[-1]
        target = y if last else device.memory.get_buffer("reduce", 4 * step.outputs)
        pipeline = device.pipeline(step.kernel, plan.op)
        grid = step.grid(device.workgroup_sizes.reduction)
        device.recorder.dispatch(pipeline, *grid, source.id, target.id, *step.fields)
        if source is not x:
            device.memory.return_buffer(source)
        source = target
