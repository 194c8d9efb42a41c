"""Unary and binary functions of contiguous elements, and filling with a constant."""

from __future__ import annotations

from struct import pack, unpack

from browsergpu.core.grids import blocks, cover, fold
from browsergpu.gpu.program import Grid, Slot
from browsergpu.kernels.build import Build

#: The codes of :func:`scalar` for an array with a number, and for a number with an array: of
#: floats, and of whole numbers.
SCALAR_OPS = {
    "add": (0, 0), "sub": (1, 4), "mul": (2, 2), "div": (3, 5), "integer_add": (6, 6),
    "integer_sub": (7, 9), "integer_mul": (8, 8),
}  # fmt: skip


def unary(build: Build, x: Slot, y: Slot, op: str, n: int) -> None:
    """y[i] = op(x[i]) for i < n; x and y may be the same buffer."""
    grid = cover(n, 4 * build.facts.workgroup_sizes.elementwise)  # a vec4 a thread
    if x == y:
        build.dispatch("unary_in_place", op, grid, (y,), n, 0)
    else:
        build.dispatch("unary", op, grid, (x, y), n, 0)


def unary_halves(build: Build, x: Slot, y: Slot, op: str, n: int, halves: int) -> None:
    """:func:`unary` where x, y or both are of float16: 1, 2 or 3."""
    grid = cover(n, 8 * build.facts.workgroup_sizes.elementwise)
    if x == y:
        build.dispatch("unary_halves_in_place", op, grid, (y,), n, halves)
    else:
        build.dispatch("unary_halves", op, grid, (x, y), n, halves)


def scalar(build: Build, x: Slot, y: Slot, code: int, n: int, halves: int = 0) -> None:
    """y[i] = x[i] op s or s op x[i] for i < n; x and y may be the same buffer.

    ``code`` is one of SCALAR_OPS. The bits of s come when the program runs: of a float32, or of a
    whole number. x, y or both are of float16 where ``halves`` is 1, 2 or 3.
    """
    grid = cover(n, (8 if halves else 4) * build.facts.workgroup_sizes.elementwise)
    if x == y:
        build.dispatch("scalar_in_place", "", grid, (y,), n, code, halves, open=True)
    else:
        build.dispatch("scalar", "", grid, (x, y), n, code, halves, open=True)


def binary(build: Build, a: Slot, b: Slot, y: Slot, op: str, n: int) -> None:
    """y[i] = op(a[i], b[i]) for i < n; any of the three may be the same buffer."""
    grid = cover(n, 4 * build.facts.workgroup_sizes.elementwise)  # a vec4 a thread
    if y == a == b:
        build.dispatch("binary_in_place_both", op, grid, (y,), n)
    elif y == a:
        build.dispatch("binary_in_place_a", op, grid, (b, y), n)
    elif y == b:
        build.dispatch("binary_in_place_b", op, grid, (a, y), n)
    else:
        build.dispatch("binary", op, grid, (a, b, y), n)


def fill(build: Build, y: Slot, value: float, n: int) -> None:
    """y[i] = value for i < n, as float32; n may be 0."""
    (bits,) = unpack("<I", pack("<f", value))
    if n > 0:
        build.dispatch("fill", "", _fill_grid(build, n), (y,), n, bits)


def fill_words(build: Build, y: Slot, n: int) -> None:
    """The first n words of y become one that comes when the program runs; n may be 0."""
    if n > 0:
        build.dispatch("fill", "", _fill_grid(build, n), (y,), n, open=True)


def _fill_grid(build: Build, n: int) -> Grid:
    return fold(blocks(n, 4 * build.facts.workgroup_sizes.elementwise))
