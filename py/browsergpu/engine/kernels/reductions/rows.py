"""Kernels on the rows of an array: softmax, layer norm, cross entropy.

All arrays are contiguous float32 (targets int32), unless otherwise noted. The caller validates
sizes, none of which is 0. Outputs must be different buffers from inputs.
"""

from __future__ import annotations

from functools import cache

from browsergpu.engine.core.element_types import FLOAT32
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.cuts import FIELDS, cut_lanes, power_of_two
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Configurations,
    Cost,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
)
from browsergpu.engine.kernels.fused.elementwise import compute
from browsergpu.engine.kernels.fused.trace_builder import TraceBuilder
from browsergpu.engine.kernels.reductions.moments import chunk_moments

_THREADS = 256
#: vec4s of a row that each thread may hold in registers. The smallest sufficient number is used.
_HELD = (4, 8, 16)
_cut = remembered(cut_lanes)


@remembered
def _held(rows: int, length: int, least: int) -> tuple[int, int, str, bool] | None:
    """Return how rows are held in registers, None for rows that are too long.

    The result has the workgroups, the threads per row, the configuration, and whether the length of
    rows is divisible by 4. A thread holds ``least`` vec4s. It holds more if a workgroup would
    otherwise not hold the row, and fewer if those are enough.
    """
    if length > 4 * _HELD[-1] * _THREADS:
        return None
    lanes = min(_THREADS, power_of_two(blocks(length, 4 * least)))
    held = next(h for h in _HELD if length <= 4 * h * lanes)
    return blocks(rows, _THREADS // lanes), lanes, str(held), length % 4 == 0


def softmax(build: Build, x: Slot, y: Slot, outer: int, length: int, inner: int) -> None:
    """Add y[o, j, i] = softmax over j of x[o, j, i]."""
    # On an H200, 8 vec4s give 3.2 TB/s and 4 give 2.6. For rows of words, it is 2.6 and 2.8.
    held = _held(outer, length, 8 if length % 4 == 0 else 4) if inner == 1 else None
    if held is not None:
        groups, lanes, configuration, aligned = held
        build.dispatch(
            "softmax_rows_aligned" if aligned else "softmax_rows", configuration, fold(groups),
            (x, y), outer, length, 1, 0, 0, lanes,
        )  # fmt: skip
        return
    cut = _cut(outer, length, inner, _THREADS)
    if cut.chunks > 1:
        build.release(_softmax_in_parts(build, x, y, outer, length, inner)[0])
        return
    build.dispatch("softmax_columns", "", fold(cut.workgroups), (x, y), *cut.fields)


def _softmax_in_parts(
    build: Build, x: Slot, y: Slot | None, outer: int, length: int, inner: int, halves: bool = False
) -> tuple[Slot, int]:
    """Add y = softmax of x in several passes, or without y only the pass for the parts.

    Return a temporary with (maximum, sum) for each [outer, chunks, inner], and the number of
    chunks. x may be float16 without y and for inner = 1.
    """
    cut = _cut(outer, length, inner, _THREADS)
    grid = fold(cut.workgroups)
    parts = build.temporary(8 * cut.outputs)
    kernel = "softmax_parts_halves" if halves else "softmax_parts"
    build.dispatch(kernel, "", grid, (x, parts), *cut.fields)
    if y is not None:
        build.dispatch("softmax_apply", "", grid, (x, parts, y), *cut.fields)
    return parts, cut.chunks


def layer_norm(
    build: Build,
    x: Slot,
    gamma: Slot,
    beta: Slot,
    y: Slot,
    rows: int,
    length: int,
    eps: float,
    residual: Slot | None = None,
    summed: Slot | None = None,
) -> None:
    """Add y[r] = (v[r] - mean) / sqrt(variance + eps) * gamma + beta with biased variance.

    v is x, or x + residual, which is then written to ``summed``.
    """
    held = _held(rows, length, 4)
    if held is None:
        _long_layer_norm(build, x, gamma, beta, y, rows, length, eps, residual, summed)
        return
    groups, lanes, configuration, aligned = held
    other = x if residual is None else residual
    slots: tuple[Slot, ...] = (x, other, gamma, beta, y)
    if summed is None:
        kernel = "layer_norm_aligned" if aligned else "layer_norm"
    else:
        kernel = "layer_norm_sum_aligned" if aligned else "layer_norm_sum"
        slots = (*slots, summed)
    build.dispatch(
        kernel, configuration, fold(groups), slots,
        rows, length, 0, 0, lanes, int(residual is not None), eps,
    )  # fmt: skip


def layer_norm_takes_halves(length: int) -> bool:
    """Return whether :func:`layer_norm_of_halves` supports rows of this length."""
    return length % 4 == 0 and _held(1, length, 4) is not None


def layer_norm_of_halves(
    build: Build, x: Slot, gamma: Slot, beta: Slot, y: Slot, rows: int, length: int, eps: float
) -> None:
    """Add :func:`layer_norm` of contiguous float16, computed in float32."""
    held = _held(rows, length, 4)
    assert held is not None
    groups, lanes, configuration, _ = held
    build.dispatch(
        "layer_norm_halves", configuration, fold(groups), (x, gamma, beta, y),
        rows, length, 0, 0, lanes, 0, eps,
    )  # fmt: skip


def _long_layer_norm(
    build: Build,
    x: Slot,
    gamma: Slot,
    beta: Slot,
    y: Slot,
    rows: int,
    length: int,
    eps: float,
    residual: Slot | None,
    summed: Slot | None,
) -> None:
    if residual is not None:
        n = rows * length
        total = build.temporary(4 * n) if summed is None else summed
        place = ((n,), None, 0)
        compute(build, _sum(), [(x, place), (residual, place)], total, (n,), in_part=True)
        _long_layer_norm(build, total, gamma, beta, y, rows, length, eps, None, None)
        if summed is None:
            build.release(total)
        return
    found, cut = chunk_moments(build, x, rows, length)
    build.dispatch(
        "layer_norm_long", "", fold(rows * cut.chunks), (x, found, gamma, beta, y),
        rows, length, cut.fields[3], cut.chunks, _THREADS, 0, eps,
    )  # fmt: skip
    build.release(found)


@cache
def _sum() -> tuple[int, ...]:
    """Return the trace of a sum of two arrays."""
    trace = TraceBuilder()
    trace.apply("add", trace.array(FLOAT32), trace.array(FLOAT32))
    return tuple(trace.code)


def cross_entropy(
    build: Build,
    logits: Slot,
    targets: Slot,
    loss: Slot,
    probs: Slot | None,
    rows: int,
    classes: int,
    sums: Slot | None = None,
    halves: bool = False,
) -> None:
    """Add loss[r] = -log softmax(logits[r])[targets[r]] and, if wanted, probs = softmax(logits).

    ``sums`` of shape [rows, 2] gets the largest logit, and the logarithm of the sum of the
    exponentials of the logits minus that. With ``halves``, logits are float16 and probs is None.
    """
    if sums is None:
        spare = build.temporary(8 * rows)
        cross_entropy(build, logits, targets, loss, probs, rows, classes, spare, halves)
        build.release(spare)
        return
    held = _held(rows, classes, 4)
    if held is None:
        parts, chunks = _softmax_in_parts(build, logits, probs, rows, classes, 1, halves)
        build.dispatch(
            "cross_entropy_long_halves" if halves else "cross_entropy_long", "", fold(rows),
            (logits, targets, parts, loss, sums), rows, classes, chunks, _THREADS,
        )  # fmt: skip
        build.release(parts)
        return
    groups, lanes, configuration, aligned = held
    slots: tuple[Slot, ...] = (logits, targets, loss)
    if halves:
        kernel = "cross_entropy_losses_halves"
    elif probs is None:
        kernel = "cross_entropy_losses_aligned" if aligned else "cross_entropy_losses"
    else:
        kernel = "cross_entropy_aligned" if aligned else "cross_entropy"
        slots = (*slots, probs)
    if aligned and not halves:
        slots = (*slots, logits)  # the target's logit is still read as a float
    build.dispatch(kernel, configuration, fold(groups), (*slots, sums), rows, classes, 0, lanes)


def _of_rows(operations: int, reads: int) -> Cost:
    """Return the cost of a kernel, per element of its rows."""

    def work(f: Fields) -> Work:
        rows = f.get("rows", f.get("outer", 1)) * f.get("inner", 1)
        n = rows * f.get("length", f.get("classes", 1))
        return operations * n, 4 * (reads + 1) * n

    return work


def _halved(cost: Cost) -> Cost:
    """Return the cost of a kernel that reads float16 instead of float32."""

    def work(f: Fields) -> Work:
        operations, nbytes = cost(f)
        return operations, nbytes / 2

    return work


def _layer_norm_work(f: Fields) -> Work:
    n = f["rows"] * f["length"]
    return (8 + f["residual"]) * n, 4 * (2 + f["residual"]) * n


def _layer_norm_and_sum_work(f: Fields) -> Work:
    operations, nbytes = _layer_norm_work(f)
    return operations, nbytes + 4 * f["rows"] * f["length"]


_SOFTMAX_PARAMS = params(*FIELDS)
_NORM_PARAMS = params(
    "rows: u32", "length: u32", "chunk: u32", "chunks: u32", "lanes: u32", "residual: u32",
    "eps: f32",
)  # fmt: skip
_LOSS = Binding(3, "loss", WRITE)
_SUMS = Binding(6, "sums", WRITE)
_LOSS_PARAMS = params("rows: u32", "classes: u32", "chunks: u32", "lanes: u32")
_BY_LENGTH: Configurations = {str(held): {"HELD": held} for held in _HELD}
_NOT_HELD: Configurations = {"": {"HELD": 4}}

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "softmax_rows", "softmax.wgsl",
            (Binding(0, "x", READ), Binding(2, "y", WRITE)), _SOFTMAX_PARAMS,
            "main_rows", _BY_LENGTH, cost=_of_rows(5, 1),
        ),
        Kernel(
            "softmax_rows_aligned", "softmax.wgsl",
            (Binding(0, "x_vectors", READ), Binding(2, "y_vectors", WRITE)), _SOFTMAX_PARAMS,
            "main_rows_aligned", _BY_LENGTH, cost=_of_rows(5, 1),
        ),
        Kernel(
            "softmax_columns", "softmax.wgsl",
            (Binding(0, "x", READ), Binding(2, "y", WRITE)), _SOFTMAX_PARAMS,
            "main_columns", _NOT_HELD, cost=_of_rows(5, 1),
        ),
        Kernel(
            "softmax_parts", "softmax.wgsl",
            (Binding(0, "x", READ), Binding(2, "new_parts", WRITE)), _SOFTMAX_PARAMS,
            "main_parts", _NOT_HELD, cost=_of_rows(3, 0),
        ),
        Kernel(
            "softmax_parts_halves", "softmax.wgsl",
            (Binding(0, "x_halves", READ), Binding(2, "new_parts", WRITE)), _SOFTMAX_PARAMS,
            "main_parts_halves", _NOT_HELD, cost=_halved(_of_rows(3, 0)),
        ),
        Kernel(
            "softmax_apply", "softmax.wgsl", bindings("x", "parts", "y"), _SOFTMAX_PARAMS,
            "main_apply", _NOT_HELD, cost=_of_rows(3, 1),
        ),
        Kernel(
            "layer_norm", "layer_norm.wgsl", bindings("x", "residual", "gamma", "beta", "y"),
            _NORM_PARAMS, "main", _BY_LENGTH, cost=_layer_norm_work,
        ),
        Kernel(
            "layer_norm_aligned", "layer_norm.wgsl",
            bindings(
                "x_vectors", "residual_vectors", "gamma_vectors", "beta_vectors", "y_vectors"
            ),
            _NORM_PARAMS, "main_aligned", _BY_LENGTH, cost=_layer_norm_work,
        ),
        Kernel(
            "layer_norm_halves", "layer_norm.wgsl",
            (
                Binding(0, "x_halves", READ), Binding(2, "gamma_halves", READ),
                Binding(3, "beta_halves", READ), Binding(4, "y_halves", WRITE),
            ),
            _NORM_PARAMS, "main_halves", _BY_LENGTH, cost=_halved(_layer_norm_work),
        ),
        Kernel(
            "layer_norm_sum", "layer_norm.wgsl",
            bindings("x", "residual", "gamma", "beta", "y", "summed", written=2),
            _NORM_PARAMS, "main_sum", _BY_LENGTH, cost=_layer_norm_and_sum_work,
        ),
        Kernel(
            "layer_norm_sum_aligned", "layer_norm.wgsl",
            bindings(
                "x_vectors", "residual_vectors", "gamma_vectors", "beta_vectors", "y_vectors",
                "summed_vectors", written=2,
            ),
            _NORM_PARAMS, "main_sum_aligned", _BY_LENGTH, cost=_layer_norm_and_sum_work,
        ),
        Kernel(
            "layer_norm_long", "layer_norm.wgsl", bindings("x", "moments", "gamma", "beta", "y"),
            _NORM_PARAMS, "main_long", _NOT_HELD, cost=_of_rows(4, 1),
        ),
        Kernel(
            "cross_entropy", "cross_entropy.wgsl",
            (*bindings("x", "targets", written=0), *bindings("loss", "probs", written=2, first=3),
             _SUMS),
            _LOSS_PARAMS, "main", _BY_LENGTH, cost=_of_rows(5, 1),
        ),
        Kernel(
            "cross_entropy_aligned", "cross_entropy.wgsl",
            (
                *bindings("x", "targets", written=0),
                *bindings("loss", "probs_vectors", written=2, first=3),
                *bindings("x_vectors", written=0, first=5), _SUMS,
            ),
            _LOSS_PARAMS, "main_aligned", _BY_LENGTH, cost=_of_rows(5, 1),
        ),
        Kernel(
            "cross_entropy_losses", "cross_entropy.wgsl",
            (*bindings("x", "targets", written=0), _LOSS, _SUMS),
            _LOSS_PARAMS, "main_losses", _BY_LENGTH, cost=_of_rows(4, 0),
        ),
        Kernel(
            "cross_entropy_losses_aligned", "cross_entropy.wgsl",
            (
                *bindings("x", "targets", written=0), _LOSS,
                *bindings("x_vectors", written=0, first=5), _SUMS,
            ),
            _LOSS_PARAMS, "main_losses_aligned", _BY_LENGTH, cost=_of_rows(4, 0),
        ),
        Kernel(
            "cross_entropy_losses_halves", "cross_entropy.wgsl",
            (*bindings("x_halves", "targets", written=0), _LOSS, _SUMS),
            _LOSS_PARAMS, "main_losses_halves", _BY_LENGTH, cost=_halved(_of_rows(4, 0)),
        ),
        Kernel(
            "cross_entropy_long", "cross_entropy.wgsl",
            (*bindings("x", "targets", "parts", "loss"), _SUMS),
            _LOSS_PARAMS, "main_long", _NOT_HELD,
        ),
        Kernel(
            "cross_entropy_long_halves", "cross_entropy.wgsl",
            (*bindings("x_halves", "targets", "parts", "loss"), _SUMS),
            _LOSS_PARAMS, "main_long_halves", _NOT_HELD,
        ),
    ),
    warm_up={"softmax_rows_aligned": 40, "layer_norm_aligned": 70},
)  # fmt: skip
