"""Permuting and broadcasting the axes of arrays of words."""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.engine.core.errors import Unsupported
from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.core.shapes import Shape, merged
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings, of_elements

_TILE = (64, 32)  # rows and columns that a workgroup moves
#: Numbers of axes that the kernels are compiled for. The smallest sufficient one is used.
_RANKS = (3, 5, 8)
_LARGEST = _RANKS[-1]
_LARGEST_WITH_OFFSET = _RANKS[-2]  # the offset takes the parameter of a stride


@dataclass(frozen=True, slots=True)
class _Plan:
    """The kernel of a copy, and its counts.

    ``kind`` is "copy", "matrices" (exchange the last two axes of [batch, rows, columns]), "strided"
    or "strided_vectors", for which n, extents, strides and the offset count vec4s.
    """

    kind: str
    n: int
    extents: Shape
    strides: Shape
    offset: int = 0


@remembered
def _plan(op: str, shape: Shape, strides: Shape, offset: int) -> _Plan:
    extents, steps = merged(shape, strides)
    n = 1
    for extent in extents:
        n *= extent
    if not offset and (not extents or steps == (1,)):
        return _Plan("copy", n, extents, steps)
    if not extents:
        extents, steps = (1,), (1,)
    if not offset and len(extents) in (2, 3):
        *batch, columns, rows = extents  # of the result; x has rows × columns
        if steps[-2:] == (1, columns) and (not batch or steps[0] == rows * columns):
            return _Plan("matrices", n, ((*batch, 1)[0], rows, columns), steps)
    largest = _LARGEST_WITH_OFFSET if offset else _LARGEST
    if len(extents) > largest:
        raise Unsupported(
            op,
            f"at most {largest} axes can be rearranged in one call, got {len(extents)}. Use "
            "several calls.",
        )
    counts = (extents[-1], offset, *steps[:-1])
    if steps[-1] == 1 and all(count % 4 == 0 for count in counts):
        extents = (*extents[:-1], extents[-1] // 4)
        steps = (*(step // 4 for step in steps[:-1]), 1)
        return _Plan("strided_vectors", n // 4, extents, steps, offset // 4)
    return _Plan("strided", n, extents, steps, offset)


def check_axes(op: str, shape: Shape, strides: Shape, offset: int) -> None:
    """Raise Unsupported if :func:`gather` does not support so many axes."""
    if 0 not in shape:
        _plan(op, shape, strides, offset)


def gather(
    build: Build, op: str, x: Slot, strides: Shape, y: Slot, shape: Shape, offset: int = 0
) -> None:
    """Copy the words of x with those strides, from ``offset`` on, to row-major y of ``shape``.

    y is not x, and no extent is 0.
    """
    plan = _plan(op, shape, strides, offset)
    if plan.kind == "copy":
        build.copy(x, y, 4 * plan.n)
        return
    if plan.kind == "matrices":
        batch, rows, columns = plan.extents
        grid_x, grid_y, _ = fold(blocks(rows, _TILE[0]) * blocks(columns, _TILE[1]))
        for first, count in layers(batch):
            grid = (grid_x, grid_y, count)
            build.dispatch("transpose", "", grid, (x, y), rows, columns, first)
        return
    used = len(plan.extents)
    unused = _LARGEST - used
    rank = min(rank for rank in _RANKS if rank >= used)
    # Negative strides work, because the kernel's index arithmetic is modulo 2^32.
    steps = (*(step % 2**32 for step in plan.strides), *(0,) * unused)
    if plan.offset:
        steps = (*steps[:-1], plan.offset)
    build.dispatch(
        plan.kind, str(rank), fold(blocks(plan.n, build.facts.workgroup_sizes.elementwise)),
        (x, y), plan.n, *plan.extents[1:], *(1,) * unused, *steps,
    )  # fmt: skip


_CONFIGURATIONS = {str(rank): {"RANK": rank} for rank in _RANKS}
_PARAMS = params(
    "n: u32", *(f"extent{i}: u32" for i in range(1, 8)), *(f"stride{i}: u32" for i in range(8))
)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "strided",
            "strided.wgsl",
            bindings("x", "y"),
            _PARAMS,
            "main",
            _CONFIGURATIONS,
            "elementwise",
            of_elements(1, 0),
        ),
        Kernel(
            "strided_vectors",
            "strided.wgsl",
            bindings("x_vectors", "y_vectors"),
            _PARAMS,
            "main_vectors",
            _CONFIGURATIONS,
            "elementwise",
            lambda f: (0, 32 * f["n"]),
        ),
        Kernel(
            "transpose",
            "transpose.wgsl",
            bindings("x", "y"),
            params("rows: u32", "columns: u32", "first_z: u32"),
            cost=lambda f: (0, 8 * f["rows"] * f["columns"]),
        ),
    )
)
