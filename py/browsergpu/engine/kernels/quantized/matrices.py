"""Products of many float32 vectors and quantized matrices by subgroup matrices of float16.

Vectors and matrices are rounded to float16, each row scaled by a power of two, and sums are
float32. So an element's relative error is at most 2^-11, or 2^-28 of the largest of its row. A
matrix of F16 is read as it is. WGSL allows devices to count its subnormal elements as zero.
"""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import float_word, params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.base.family import Fields, Kernel, KernelFamily, Work, bindings
from browsergpu.engine.kernels.matmul import gemm_f16
from browsergpu.engine.kernels.quantized.formats import CONFIGURATIONS

_EIGHT = 8  # halves in a vec4u; rows are padded to a multiple
#: The kernel for each number of rows of a tile.
_KERNELS = {128: "quantized_matrix128", 64: "quantized_matrix64", 32: "quantized_matrix32"}
#: Maximum bytes of the temporary float16 matrix.
_LARGEST = 2**27
_MISSING = float_word(float("nan"))


def takes(facts: Facts, vectors: int, rows: int, columns: int) -> bool:
    """Return whether the device should compute a product of these extents by these kernels."""
    nbytes = 2 * rows * _whole(columns)
    return nbytes <= min(_LARGEST, facts.largest_buffer) and gemm_f16.is_by_matrices(
        facts, _plan(vectors, rows, columns)
    )


def multiply(
    build: Build, weight: Slot, x: Slot, y: Slot, vectors: int, rows: int, columns: int, name: str,
    residual: Slot | None = None, bias: Slot | None = None, norm: Slot | None = None,
    eps: float = 0.0,
) -> None:  # fmt: skip
    """Add y = x weightᵀ + residual or bias, as ``products.multiply``, if :func:`takes` allows it.

    ``norm`` and ``eps`` are those of ``products.multiply``, here for any number of vectors.

    A vector or row of the matrix with an element that is not finite gives NaN, except that sums of
    a row of F16 are those of its elements.
    """
    tile = gemm_f16.tile_of_matrices(build.facts, _plan(vectors, rows, columns))
    of_vectors = build.temporary(4 * vectors)
    right = build.temporary(2 * vectors * _whole(columns))
    build.dispatch(
        "vector_halves", "", fold(vectors), (x, x if norm is None else norm, of_vectors, right),
        vectors, columns, int(norm is not None), eps,
    )  # fmt: skip
    if not tile.reads_turned:
        as_rows, right = right, gemm_f16.turned(build, right, 1, vectors, _whole(columns))
        build.release(as_rows)
    added = bias if residual is None else residual
    kind = int(residual is not None) or 2 * (bias is not None)
    is_plain = name == "F16" and columns % _EIGHT == 0
    left, of_rows = weight, of_vectors  # plain kernels do not read of_rows
    if not is_plain:
        left, of_rows = build.temporary(2 * rows * _whole(columns)), build.temporary(4 * rows)
        build.dispatch("quantized_halves", name, fold(rows), (weight, of_rows, left), rows, columns)
    grid = fold(blocks(rows, tile.rows) * blocks(vectors, tile.columns))
    bound = (left, right, of_rows, of_vectors, x if added is None else added, y)
    fields = (rows, vectors, columns, 0, 0, 0, kind, _MISSING)
    build.dispatch(_KERNELS[tile.rows], "plain" * is_plain, grid, bound, *fields)
    build.release(of_vectors, right)
    if not is_plain:
        build.release(left, of_rows)


def _plan(vectors: int, rows: int, columns: int) -> gemm_f16.GemmF16Plan:
    return gemm_f16.plan_gemm_f16(rows, _whole(vectors), _whole(columns), 1.0, 0.0)


def _whole(columns: int) -> int:
    return blocks(columns, _EIGHT) * _EIGHT


def _work(f: Fields) -> Work:
    m, n, k = f["m"], f["n"], f["k"]
    return 2 * m * n * k, 2 * (m * k + k * n) + 4 * m * n


def _of_tile(tile: gemm_f16.MatrixTile) -> Kernel:
    return Kernel(
        _KERNELS[tile.rows],
        "quantized_matrix.wgsl",
        bindings("a", "b", "largest_a", "largest_b", "residual", "y"),
        params(
            "m: u32", "n: u32", "k: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32",
            "added: u32", "missing: u32",
        ),
        configurations={
            name: {
                **tile.constants, **tile.tile_of_b(tile.reads_turned), "SCALED": int(not name),
            }
            for name in ("", "plain")
        },
        cost=_work,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "quantized_halves", "quantized_halves.wgsl",
            bindings("blocks", "largest", "y", written=2), params("rows: u32", "columns: u32"),
            configurations=CONFIGURATIONS,
            cost=lambda f: (0, 3 * f["rows"] * f["columns"]),
        ),
        Kernel(
            "vector_halves", "vector_halves.wgsl",
            bindings("x", "norm", "largest", "y", written=2),
            params("vectors: u32", "columns: u32", "normed: u32", "eps: f32"),
            cost=lambda f: (0, 6 * f["vectors"] * f["columns"]),
        ),
        *map(_of_tile, gemm_f16.MATRIX_TILES),
    )
)  # fmt: skip
