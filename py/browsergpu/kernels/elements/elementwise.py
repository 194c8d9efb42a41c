"""Unary and binary functions of contiguous elements, and filling with a constant."""

from __future__ import annotations

from struct import pack, unpack

from browsergpu.core.grids import blocks, cover, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Grid, Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import (
    READ,
    WRITE,
    Binding,
    Codes,
    Cost,
    Fields,
    Kernel,
    KernelFamily,
    Work,
    bindings,
    by_code,
    of_elements,
)

#: The functions of :func:`unary` and of :func:`binary`.
UNARY_CODES: Codes = {
    "relu": 0,
    "sigmoid": 1,
    "tanh": 2,
    "exp": 3,
    "log": 4,
    "sqrt": 5,
    "abs": 6,
    "neg": 7,
    "gelu": 8,
    "silu": 9,
    "gelu_erf": 10,
}
BINARY_CODES: Codes = {
    "add": 0,
    "sub": 1,
    "mul": 2,
    "div": 3,
    "max": 4,
    "min": 5,
    "pow": 6,
}
#: Those that arrays of float16 are given to.
_OF_HALVES = ("relu", "sigmoid", "tanh", "gelu", "gelu_erf")


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


def merge_word(build: Build, y: Slot) -> None:
    """Some bits of a word of y change; which ones and to what comes when the program runs."""
    build.dispatch("merge_word", "", (1, 1, 1), (y,), open=True)


def _of_halves(operations: int) -> Cost:
    """One array to another, either of float16 where the bits of "halves" say so."""

    def work(f: Fields) -> Work:
        halves = int(f["halves"]).bit_count()
        return operations * f["n"], (8 - 2 * halves) * f["n"]

    return work


_ELEMENTS = params("n: u32")
_UNARY_PARAMS = params("n: u32", "halves: u32")
_UNARY = by_code(UNARY_CODES)
_UNARY_HALVES = {op: _UNARY[op] for op in _OF_HALVES}
_BINARY = by_code(BINARY_CODES)

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "unary", "unary.wgsl", bindings("x", "y"), _UNARY_PARAMS, "main", _UNARY,
            "elementwise", of_elements(1, 1),
        ),
        Kernel(
            "unary_in_place", "unary.wgsl", bindings("y", first=1), _UNARY_PARAMS, "main_in_place",
            _UNARY, "elementwise", of_elements(1, 1),
        ),
        Kernel(
            "unary_halves", "unary.wgsl", bindings("x_words", "y_words"), _UNARY_PARAMS,
            "main_halves", _UNARY_HALVES, "elementwise", _of_halves(1),
        ),
        Kernel(
            "unary_halves_in_place", "unary.wgsl", bindings("y_words", first=1), _UNARY_PARAMS,
            "main_halves_in_place", _UNARY_HALVES, "elementwise", _of_halves(1),
        ),
        Kernel(
            "binary", "binary.wgsl", bindings("a", "b", "y"), _ELEMENTS, "main", _BINARY,
            "elementwise", of_elements(2, 1),
        ),
        Kernel(
            "binary_in_place_a", "binary.wgsl", bindings("b", "y", first=1), _ELEMENTS,
            "main_in_place_a", _BINARY, "elementwise", of_elements(2, 1),
        ),
        Kernel(
            "binary_in_place_b", "binary.wgsl",
            (Binding(0, "a", READ), Binding(2, "y", WRITE)), _ELEMENTS,
            "main_in_place_b", _BINARY, "elementwise", of_elements(2, 1),
        ),
        Kernel(
            "binary_in_place_both", "binary.wgsl", bindings("y", first=2), _ELEMENTS,
            "main_in_place_both", _BINARY, "elementwise", of_elements(1, 1),
        ),
        Kernel(
            "fill", "fill.wgsl", bindings("y"), params("n: u32", "bits: u32"),
            family="elementwise",
        ),
        Kernel(
            "merge_word", "merge_word.wgsl", bindings("y"),
            params("word: u32", "mask: u32", "value: u32"),
        ),
    ),
    warm_up={"unary.relu": 20, "binary.add": 30},
)  # fmt: skip
