"""Products of float32 vectors and quantized matrices."""

from __future__ import annotations

from browsergpu.core.grids import blocks, fits, fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings
from browsergpu.kernels.quantized.formats import CONFIGURATIONS, FORMATS

#: Maximum number of vectors for the kernel that reads the matrix once.
FEW = 8
_ROWS = 4  # rows per workgroup of the kernel for few vectors
_TILE = 64


def multiply(
    build: Build, weight: Slot, x: Slot, y: Slot, vectors: int, rows: int, columns: int, name: str,
    residual: Slot | None = None,
) -> None:  # fmt: skip
    """Add y = x weightᵀ + residual for x [vectors, columns] and a matrix [rows, columns].

    The matrix has the format ``name``. No extent may be 0, and y is another buffer than x.
    """
    slots = (weight, x, x if residual is None else residual, y)
    fields = rows, columns, vectors, int(residual is not None)
    if vectors <= FEW:
        configuration = name if vectors == 1 else f"{name} few"
        build.dispatch("quantized_thin", configuration, fold(blocks(rows, _ROWS)), slots, *fields)
        return
    grid = blocks(rows, _TILE), blocks(vectors, _TILE), 1
    build.dispatch("quantized_tile", name, grid, slots, *fields)


def fits_grid(vectors: int, rows: int) -> bool:
    """Return whether a product of these extents is one dispatch."""
    return vectors <= FEW or fits(blocks(rows, _TILE), blocks(vectors, _TILE))


def _cost(f: Fields) -> Work:
    elements = f["rows"] * f["columns"]
    moved = elements + 4 * f["vectors"] * (f["rows"] + f["columns"])
    return 2 * elements * f["vectors"], moved


_PARAMS = params("rows: u32", "columns: u32", "vectors: u32", "added: u32")
_BINDINGS = bindings("blocks", "x", "residual", "y")

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "quantized_thin", "quantized_thin.wgsl", _BINDINGS, _PARAMS,
            configurations={
                f"{name}{ending}": {"FORMAT": one.code, "VECTORS": most}
                for name, one in FORMATS.items()
                for ending, most in (("", 1), (" few", FEW))
            },
            cost=_cost,
        ),
        Kernel(
            "quantized_tile", "quantized_tile.wgsl", _BINDINGS, _PARAMS,
            configurations=CONFIGURATIONS, cost=_cost,
        ),
    )
)  # fmt: skip
