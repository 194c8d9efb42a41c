"""Permuting and broadcasting the axes of arrays of words."""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.core.errors import Unsupported
from browsergpu.core.grids import blocks, fold, layers
from browsergpu.core.remembered import remembered
from browsergpu.core.shapes import Shape, contiguous_strides, merged
from browsergpu.gpu.program import Slot
from browsergpu.kernels.build import Build
from browsergpu.kernels.table import STRIDED_RANKS

_TILE = (64, 32)  # rows and columns that a workgroup moves
_LARGEST = STRIDED_RANKS[-1]


@dataclass(frozen=True, slots=True)
class _Plan:
    """``kind`` is copy, matrices ([batch, rows, columns] with the last two to be exchanged),
    strided, or strided_vectors, where n, extents and strides count vec4s."""

    kind: str
    n: int
    extents: Shape
    strides: Shape


@remembered
def _plan(op: str, shape: Shape, strides: Shape) -> _Plan:
    extents, steps = merged(shape, strides)
    n = 1
    for extent in extents:
        n *= extent
    if not extents or steps == (1,):
        return _Plan("copy", n, extents, steps)
    if len(extents) in (2, 3):
        *batch, columns, rows = extents  # of the result; x has rows × columns
        if steps[-2:] == (1, columns) and (not batch or steps[0] == rows * columns):
            return _Plan("matrices", n, ((*batch, 1)[0], rows, columns), steps)
    if len(extents) > _LARGEST:
        raise Unsupported(
            op,
            f"{len(extents)} axes would have to be rearranged one by one; at most {_LARGEST} can. "
            "Rearrange them in several calls",
        )
    if steps[-1] == 1 and extents[-1] % 4 == 0 and all(step % 4 == 0 for step in steps[:-1]):
        extents = (*extents[:-1], extents[-1] // 4)
        steps = (*(step // 4 for step in steps[:-1]), 1)
        return _Plan("strided_vectors", n // 4, extents, steps)
    return _Plan("strided", n, extents, steps)


def gather(build: Build, op: str, x: Slot, strides: Shape, y: Slot, shape: Shape) -> None:
    """y, a row-major array of words of ``shape``, = x read with those strides; y is not x, and no
    extent is 0."""
    plan = _plan(op, shape, strides)
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
    rank = min(rank for rank in STRIDED_RANKS if rank >= used)
    build.dispatch(
        plan.kind, str(rank), fold(blocks(plan.n, build.facts.workgroup_sizes.elementwise)),
        (x, y), plan.n,
        *plan.extents[1:], *(1,) * unused, *plan.strides, *(0,) * unused,
    )  # fmt: skip


def permute(build: Build, op: str, x: Slot, shape: Shape, order: tuple[int, ...], y: Slot) -> None:
    """y = x of ``shape`` with its axes in another order; y is not x, and no extent is 0."""
    strides = contiguous_strides(shape)
    gather(
        build,
        op,
        x,
        tuple(strides[i] for i in order),
        y,
        tuple(shape[i] for i in order),
    )
