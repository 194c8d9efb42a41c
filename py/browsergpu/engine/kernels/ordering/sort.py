"""Stable sort and argsort of rows."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.cuts import power_of_two
from browsergpu.engine.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Codes,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
    by_code,
)
from browsergpu.engine.kernels.ordering.scan import scan

#: Types of the comparison.
CODES: Codes = {DType.F32: 0, DType.I32: 1, DType.U32: 2}

_SLOTS = 1024  # elements that a workgroup can sort alone
_TILE = 2048  # elements of a longer row per workgroup and pass
_DIGITS = 256
_FLIP = 0xFFFF_FFFF
#: First bits of the digits of a key.
_SHIFTS = (0, 8, 16, 24)
#: The same for elements stored in words: an f32 from a float16 differs only from bit 13 on.
_SHORT = {DType.F16: (8, 16, 24), DType.U8: (0,), DType.BOOL: (0,)}


def sort(
    build: Build, x: Slot, y: Slot, dtype: DType, rows: int, length: int, *, descending: bool
) -> None:
    """Add y = x with sorted rows, for x of [rows, length].

    The sort is stable, also if ``descending``. NaN are equal to each other and larger than all
    else. Zeros of both signs are equal. Elements are words with the type of ``key_of(dtype)``. No
    size may be 0, and y must be a different buffer from x.
    """
    if length <= _SLOTS:
        _small(build, x, y, dtype, rows, length, descending, False)
        return
    shifts = _SHORT.get(dtype, _SHIFTS)
    other = build.temporary(4 * rows * length) if len(shifts) > 1 else y
    source = x
    for i, shift in enumerate(shifts):
        target = (y, other)[(len(shifts) - 1 - i) % 2]
        fields = (rows, length, blocks(length, _TILE), shift, _FLIP if descending else 0, 0)
        starts = _starts(build, source, dtype, fields)
        grid = fold(rows * blocks(length, _TILE))
        build.dispatch("sort", key_of(dtype), grid, (source, starts, target), *fields)
        build.release(starts)
        source = target
    if other != y:
        build.release(other)


def argsort(
    build: Build, x: Slot, y: Slot, dtype: DType, rows: int, length: int, *, descending: bool
) -> None:
    """Add y = the positions within the rows of x of the elements that :func:`sort` returns."""
    if length <= _SLOTS:
        _small(build, x, y, dtype, rows, length, descending, True)
        return
    shifts = _SHORT.get(dtype, _SHIFTS)
    nbytes = 4 * rows * length
    keys = [build.temporary(nbytes) for _ in shifts[:2]]
    other = build.temporary(nbytes) if len(shifts) > 1 else y
    source, indices = x, x
    for i, shift in enumerate(shifts):
        key_target = keys[i % 2]
        target = (y, other)[(len(shifts) - 1 - i) % 2]
        fields = (rows, length, blocks(length, _TILE), shift, _FLIP if descending else 0, i == 0)
        starts = _starts(build, source, dtype, fields)
        grid = fold(rows * blocks(length, _TILE))
        slots = (source, indices, starts, key_target, target)
        build.dispatch("sort_pairs", key_of(dtype), grid, slots, *fields)
        build.release(starts)
        source, indices = key_target, target
    build.release(*keys)
    if other != y:
        build.release(other)


def key_of(dtype: DType) -> DType:
    """Return the type of the words in which elements of a dtype are compared."""
    if dtype.is_float:
        return DType.F32
    return DType.I32 if dtype is DType.I32 else DType.U32


def _small(
    build: Build,
    x: Slot,
    y: Slot,
    dtype: DType,
    rows: int,
    length: int,
    descending: bool,
    indices: bool,
) -> None:
    span = power_of_two(length)
    build.dispatch(
        "sort_small", key_of(dtype), fold(blocks(rows, _SLOTS // span)), (x, y), rows, length, span,
        _FLIP if descending else 0, indices,
    )  # fmt: skip


def _starts(build: Build, x: Slot, dtype: DType, fields: tuple[int, ...]) -> Slot:
    """Return a temporary with the position of each tile's first element of each digit."""
    rows, _length, tiles, *_ = fields
    counts = build.temporary(4 * rows * _DIGITS * tiles)
    starts = build.temporary(4 * rows * _DIGITS * tiles)
    build.dispatch("sort_count", key_of(dtype), fold(rows * tiles), (x, counts), *fields)
    scan(build, counts, starts, "whole_sum", (rows, _DIGITS * tiles, 1), exclusive=True)
    build.release(counts)
    return starts


def _elements(f: Fields) -> float:
    return f["rows"] * f["length"]


def _counted(f: Fields) -> Work:
    return 0.0, 4 * (_elements(f) + _DIGITS * f["rows"] * f["tiles"])


def _moved(f: Fields) -> Work:
    return 0.0, 4 * (2 * _elements(f) + _DIGITS * f["rows"] * f["tiles"])


def _moved_pairs(f: Fields) -> Work:
    words = (4 - f["places"]) * _elements(f)
    return 0.0, 4 * (words + _DIGITS * f["rows"] * f["tiles"])


_PARAMS = params("rows: u32", "length: u32", "tiles: u32", "shift: u32", "flip: u32", "places: u32")
_KINDS = by_code(CODES, "KIND")

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "sort_small",
            "sort_small.wgsl",
            bindings("x", "y"),
            params("rows: u32", "length: u32", "span: u32", "flip: u32", "indices: u32"),
            configurations=_KINDS,
            cost=lambda f: (0.0, 8 * _elements(f)),
        ),
        Kernel(
            "sort_count",
            "sort.wgsl",
            (Binding(0, "x", READ), Binding(3, "y", WRITE)),
            _PARAMS,
            "main_count",
            _KINDS,
            cost=_counted,
        ),
        Kernel(
            "sort",
            "sort.wgsl",
            (Binding(0, "x", READ), Binding(2, "starts", READ), Binding(3, "y", WRITE)),
            _PARAMS,
            "main",
            _KINDS,
            cost=_moved,
        ),
        Kernel(
            "sort_pairs",
            "sort.wgsl",
            bindings("x", "indices", "starts", "y", "sorted_indices", written=2),
            _PARAMS,
            "main_pairs",
            _KINDS,
            cost=_moved_pairs,
        ),
    )
)
