"""Jacobi rotations for singular values and eigenvalues."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.cuts import power_of_two
from browsergpu.engine.kernels.base.family import READ, WRITE, Binding, Kernel, KernelFamily
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.kernels.linalg.matrices import NUMBERS, THREADS, Matrices

# Maximum sweeps over all pairs; float32 needs about ten.
_SWEEPS = 20
_SWEEPS_APART = 16  # the same, if each round needs several dispatches
_ALONE = 64  # maximum rows of a matrix for one workgroup
_ALONE_IN_MANY = 256  # the same, if there are at least _MANY matrices
_MANY = 64
_BLOCK = 16  # rows per block of a larger matrix
_SIDE = 2 * _BLOCK


def turn_vectors(build: Build, w: Slot, of: Matrices, length: int) -> None:
    """Rotate pairs of rows of w until their first ``length`` numbers are orthogonal vectors.

    The numbers of w should be at most about 1.
    """
    turned = _flags(build, of)
    if _is_alone(of):
        fields = (of.count, of.rows, length, of.columns, _SWEEPS, _lanes(of, length))
        build.dispatch("svd_turn", of.numbers, fold(of.count), (w, turned), *fields)
    else:
        _turn_blocks(build, w, turned, of, length, is_hermitian=False)
    build.release(turned)


def order_vectors(
    build: Build,
    w: Slot,
    of: Matrices,
    length: int,
    scales: Slot,
    values: Slot,
    vectors: Slot,
    others: Slot,
) -> None:
    """Sort the rows of w by the length of their first ``length`` numbers, longest first.

    ``values`` receives these lengths times the matrix's scale, and ``vectors`` these numbers.
    ``others`` receives the rest of each row, conjugated and scaled to length 1, if there is any."""
    sizes = build.temporary(4 * of.count * of.rows)
    fields = (of.count, of.rows, length, of.columns, 0, 0)
    grid = fold(of.count * of.rows)
    build.dispatch("svd_sizes", of.numbers, grid, (w, sizes), *fields)
    slots = (w, sizes, scales, values, vectors, others)
    build.dispatch("svd_order", of.numbers, grid, slots, *fields)
    build.release(sizes)


def diagonalise(
    build: Build, w: Slot, of: Matrices, scales: Slot, values: Slot, vectors: Slot
) -> None:
    """Compute eigenvalues and eigenvectors of the Hermitian matrices in the first columns of w.

    There are as many such columns as rows, and their numbers should be at most about 1. ``values``
    receives the ascending eigenvalues times the matrix's scale. ``vectors`` receives the
    eigenvectors as rows, if the identity follows the matrix in w. w is overwritten.
    """
    turned = _flags(build, of)
    if _is_alone(of):
        rotations = build.temporary(of.bytes_of(of.count * 2 * _pairs(of.rows)))
        fields = (of.count, of.rows, of.columns, _SWEEPS, _lanes(of, of.columns))
        build.dispatch("eigh_turn", of.numbers, fold(of.count), (w, turned, rotations), *fields)
        build.release(rotations)
    else:
        _turn_blocks(build, w, turned, of, of.rows, is_hermitian=True)
    build.dispatch(
        "eigh_order", of.numbers, fold(of.count * of.rows), (w, scales, values, vectors),
        of.count, of.rows, of.columns, 0, 0,
    )  # fmt: skip
    build.release(turned)


def _turn_blocks(
    build: Build, w: Slot, turned: Slot, of: Matrices, length: int, *, is_hermitian: bool
) -> None:
    """Rotate pairs of blocks of rows of w by their first ``length`` numbers.

    For Hermitian matrices, rotate their columns too.
    """
    pairs = _pairs(blocks(of.rows, _BLOCK))
    count = of.count * pairs
    busy, small = build.temporary(4 * count), build.temporary(of.bytes_of(count * _SIDE**2))
    slots = (w, turned, busy, small)
    rows = ("turn_rows", fold(count * blocks(of.columns, _SIDE)), (w, busy, small))
    columns = ("turn_columns", fold(count * blocks(of.rows, _SIDE)), (w, busy, small))
    products = ("turn_products", fold(count), (w, turned, small))
    turn = ("turn_pairs", fold(count), slots)
    steps = (turn, rows, columns) if is_hermitian else (products, turn, rows)
    for sweep in range(_SWEEPS_APART):
        for round_ in range(2 * pairs - 1):
            fields = (of.count, of.rows, length, of.columns, sweep, round_, is_hermitian)
            for kernel, grid, operands in steps:
                build.dispatch(kernel, of.numbers, grid, operands, *fields)
    build.release(busy, small)


def _pairs(n: int) -> int:
    return (n + 1) // 2


def _is_alone(of: Matrices) -> bool:
    return of.rows <= (_ALONE_IN_MANY if of.count >= _MANY else _ALONE)


def _lanes(of: Matrices, length: int) -> int:
    """Return the threads for a pair of rows of this length."""
    pairs = min(_pairs(of.rows), THREADS)
    return min(THREADS // power_of_two(pairs), power_of_two(length))


def _flags(build: Build, of: Matrices) -> Slot:
    """Return a flag for each matrix and sweep, initially 0: whether a rotation was made."""
    flags = build.temporary(4 * of.count * _SWEEPS)
    fill(build, flags, 0.0, of.count * _SWEEPS)
    return flags


_SVD = params(
    *("matrices: u32", "vectors: u32", "length: u32", "columns: u32", "sweeps: u32", "lanes: u32")
)
_EIGH = params("matrices: u32", "n: u32", "columns: u32", "sweeps: u32", "lanes: u32")
_BLOCKS = params(
    *("matrices: u32", "n: u32", "length: u32", "columns: u32", "sweep: u32", "round: u32"),
    "hermitian: u32",
)
_W, _TURNED = Binding(0, "w", WRITE), Binding(1, "turned", WRITE)
_BUSY, _SMALL = Binding(2, "busy", WRITE), Binding(3, "small", WRITE)
_RESULTS = (Binding(3, "scales", READ), Binding(4, "values", WRITE), Binding(5, "vectors", WRITE))

FAMILY = KernelFamily(
    kernels=(
        Kernel("svd_turn", "svd.wgsl", (_W, _TURNED), _SVD, "main_turn", NUMBERS),
        Kernel(
            "svd_sizes", "svd.wgsl", (_W, Binding(2, "sizes", WRITE)), _SVD, "main_sizes", NUMBERS
        ),
        Kernel(
            "svd_order",
            "svd.wgsl",
            (_W, Binding(2, "sizes", WRITE), *_RESULTS, Binding(6, "others", WRITE)),
            _SVD,
            "main_order",
            NUMBERS,
        ),
        Kernel(
            "eigh_turn",
            "eigh.wgsl",
            (_W, _TURNED, Binding(2, "rotations", WRITE)),
            _EIGH,
            "main_turn",
            NUMBERS,
        ),
        Kernel("eigh_order", "eigh.wgsl", (_W, *_RESULTS), _EIGH, "main_order", NUMBERS),
        Kernel(
            "turn_products",
            "turn_blocks.wgsl",
            (_W, _TURNED, _SMALL),
            _BLOCKS,
            "main_products",
            NUMBERS,
        ),
        Kernel(
            "turn_pairs",
            "turn_blocks.wgsl",
            (_W, _TURNED, _BUSY, _SMALL),
            _BLOCKS,
            "main_turn",
            NUMBERS,
        ),
        Kernel("turn_rows", "turn_blocks.wgsl", (_W, _BUSY, _SMALL), _BLOCKS, "main_rows", NUMBERS),
        Kernel(
            "turn_columns",
            "turn_blocks.wgsl",
            (_W, _BUSY, _SMALL),
            _BLOCKS,
            "main_columns",
            NUMBERS,
        ),
    )
)
