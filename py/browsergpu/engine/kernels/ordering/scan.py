"""Cumulative sums, products and extremes along an axis."""

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

#: Codes of the kernels' functions. :func:`function_of` selects one.
CODES: Codes = {
    "sum": 0,
    "prod": 1,
    "max": 2,
    "min": 3,
    "whole_sum": 4,
    "whole_prod": 5,
    "i32_max": 6,
    "i32_min": 7,
    "u32_max": 8,
    "u32_min": 9,
    "wide_sum": 10,
    "wide_prod": 11,
}
#: Functions of 64-bit integers.
WIDE = ("wide_sum", "wide_prod")
#: Functions with float32 results.
FLOAT_SCANS = ("sum", "prod", "max", "min")

#: Bits of the identity elements. For a sum it is -0, which leaves -0 unchanged; see :func:`scan`.
_IDENTITIES = {
    "sum": 0x8000_0000,
    "prod": 0x3F80_0000,
    "max": 0xFF80_0000,
    "min": 0x7F80_0000,
    "whole_sum": 0,
    "whole_prod": 1,
    "i32_max": 0x8000_0000,
    "i32_min": 0x7FFF_FFFF,
    "u32_max": 0,
    "u32_min": 0xFFFF_FFFF,
    "wide_sum": 0,
    "wide_prod": 1,
}
_THREADS = 256
_ITEMS = 8  # words of a row per thread
_COLUMN_CHUNK = 32  # elements of a column that a thread reads in order


def function_of(op: str, dtype: DType) -> str:
    """Return the function for sum, prod, max or min of a dtype stored in words; bool is u32."""
    if dtype is DType.F32:
        return op
    if op in ("sum", "prod"):
        return f"whole_{op}"
    return f"i32_{op}" if dtype is DType.I32 else f"u32_{op}"


def scan(
    build: Build,
    x: Slot,
    y: Slot,
    function: str,
    extents: tuple[int, int, int],
    *,
    exclusive: bool = False,
    initial: bool = False,
) -> None:
    """Add y[o, j, i] = the combination of x[o, k, i] over k <= j, or k < j if ``exclusive``.

    Parameters
    ----------
    function : str
        One of CODES.
    extents : tuple of int
        [outer, length, inner] of x.
    initial : bool
        Whether y has one more element along the axis. The scan is then exclusive.

    Notes
    -----
    y must have elements and be a different buffer from x. An empty combination is 0 for a sum, 1
    for a product, and the smallest value of the type for a maximum.
    """
    identity = _IDENTITIES[function]
    if function == "sum" and (exclusive or initial):
        identity = 0
    _add(build, x, y, function, extents, exclusive or initial, initial, identity)


def _add(
    build: Build,
    x: Slot,
    y: Slot,
    function: str,
    extents: tuple[int, int, int],
    exclusive: bool,
    initial: bool,
    identity: int,
) -> None:
    outer, length, inner = extents
    results = length + initial
    rows = inner == 1
    words = 2 if function in WIDE else 1
    own = _ITEMS // words
    lanes = min(_THREADS, power_of_two(blocks(results, own))) if rows else 1
    chunk = lanes * own if rows else _COLUMN_CHUNK
    chunks = blocks(results, chunk)
    outputs = outer * chunks * inner
    each = _THREADS // lanes  # chunks per workgroup
    fields = (outer, length, inner, results, chunk, chunks, lanes, exclusive, identity)
    before = x
    if chunks > 1:
        totals, before = (build.temporary(4 * words * outputs) for _ in range(2))
        kernel = "scan_row_totals" if rows else "scan_column_totals"
        build.dispatch(kernel, function, fold(blocks(outputs, each)), (x, totals), *fields)
        _add(build, totals, before, function, (outer, chunks, inner), True, False, identity)
        build.release(totals)
    kernel = "scan_rows" if rows else "scan_columns"
    build.dispatch(kernel, function, fold(blocks(outputs, each)), (x, before, y), *fields)
    if before != x:
        build.release(before)


def _totals(f: Fields) -> Work:
    read = f["outer"] * f["length"] * f["inner"]
    return read, 4 * (read + f["outer"] * f["chunks"] * f["inner"])


def _results(f: Fields) -> Work:
    read, written = f["length"], f["results"]
    return (
        f["outer"] * f["inner"] * read,
        4 * f["outer"] * f["inner"] * (read + written + f["chunks"]),
    )


_PARAMS = params(
    "outer: u32", "length: u32", "inner: u32", "results: u32", "chunk: u32", "chunks: u32",
    "lanes: u32", "exclusive: u32", "identity: u32",
)  # fmt: skip
_TOTALS = (Binding(0, "x", READ), Binding(2, "y", WRITE))
_RESULTS = bindings("x", "before", "y")
_FUNCTIONS = {
    name: {**constants, "NARROW": int(name not in WIDE), "WIDE": int(name in WIDE)}
    for name, constants in by_code(CODES).items()
}

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "scan_row_totals", "scan.wgsl", _TOTALS, _PARAMS, "main_row_totals", _FUNCTIONS,
            cost=_totals,
        ),
        Kernel(
            "scan_rows", "scan.wgsl", _RESULTS, _PARAMS, "main_rows", _FUNCTIONS, cost=_results
        ),
        Kernel(
            "scan_column_totals", "scan.wgsl", _TOTALS, _PARAMS, "main_column_totals",
            _FUNCTIONS, cost=_totals,
        ),
        Kernel(
            "scan_columns", "scan.wgsl", _RESULTS, _PARAMS, "main_columns", _FUNCTIONS,
            cost=_results,
        ),
    )
)  # fmt: skip
