"""Dequantization of matrices, and of their rows by index."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import float_word, params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings
from browsergpu.engine.kernels.quantized.formats import CONFIGURATIONS

_THREADS = 64
_MISSING = float_word(float("nan"))


def dequantize(build: Build, weight: Slot, y: Slot, rows: int, columns: int, name: str) -> None:
    """Add y = weight for a nonempty matrix in the format ``name``, as float32."""
    quads = columns // 4
    grid = fold(blocks(rows * quads, _THREADS))
    build.dispatch("dequantize", name, grid, (weight, y), rows, quads, rows, _MISSING)


def look_up(
    build: Build, weight: Slot, indices: Slot, y: Slot, count: int, rows: int, columns: int,
    name: str,
) -> None:  # fmt: skip
    """Add y[r] = weight[indices[r]] for ``count`` int32 indices, as float32."""
    quads = columns // 4
    grid = fold(blocks(count * quads, _THREADS))
    build.dispatch(
        "quantized_rows", name, grid, (weight, indices, y), count, quads, rows,
        _MISSING,
    )  # fmt: skip


_PARAMS = params("rows: u32", "quads: u32", "entries: u32", "missing: u32")

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "quantized_rows", "quantized_rows.wgsl", bindings("blocks", "indices", "y"), _PARAMS,
            configurations=CONFIGURATIONS,
        ),
        Kernel(
            "dequantize", "quantized_rows.wgsl",
            (*bindings("blocks", written=0), *bindings("y", first=2)), _PARAMS, "main_all",
            CONFIGURATIONS,
        ),
    )
)  # fmt: skip
