"""Jacobi's rotations: singular values and eigenvalues."""

from __future__ import annotations

from browsergpu.core.grids import fold
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels import elementwise
from browsergpu.kernels.build import Build
from browsergpu.kernels.cuts import power_of_two
from browsergpu.kernels.family import READ, WRITE, Binding, Kernel, KernelFamily
from browsergpu.kernels.matrices import NUMBERS, THREADS, Matrices

# Sweeps over all pairs, at most: float32 needs about ten.
_SWEEPS = 20
_SWEEPS_APART = 16  # where each round is a dispatch
_ALONE = 64  # rows of a matrix that one workgroup does by itself
_ALONE_IN_MANY = 256  # … where there are _MANY matrices
_MANY = 64
_LANES = 64  # threads of a pair, of matrices that several workgroups do


def turn_vectors(build: Build, w: Slot, of: Matrices, length: int) -> None:
    """The rows of w, of numbers of about 1 at most, are turned in pairs, until their first
    ``length`` numbers, as vectors, are orthogonal to each other."""
    turned = _flags(build, of)
    for sweep, sweeps, round_, rounds, groups, lanes in _plan(of, length):
        build.dispatch(
            "svd_turn", of.numbers, fold(of.count * groups), (w, turned),
            of.count, of.rows, length, of.columns, sweep, sweeps, round_, rounds, groups, lanes,
        )  # fmt: skip
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
    """The rows of w by their first ``length`` numbers, the longest first: values = their lengths
    times the matrix's scale, vectors = they, others = the rest of the rows, conjugated and of
    length 1. Nothing is written to others where there is no rest."""
    sizes = build.temporary(4 * of.count * of.rows)
    fields = (of.count, of.rows, length, of.columns, 0, 0, 0, 0, 0, 0)
    grid = fold(of.count * of.rows)
    build.dispatch("svd_sizes", of.numbers, grid, (w, sizes), *fields)
    slots = (w, sizes, scales, values, vectors, others)
    build.dispatch("svd_order", of.numbers, grid, slots, *fields)
    build.release(sizes)


def diagonalise(
    build: Build, w: Slot, of: Matrices, scales: Slot, values: Slot, vectors: Slot
) -> None:
    """The first columns of w, as many as there are rows, are Hermitian matrices of numbers of about
    1 at most. values = their eigenvalues in rising order, times the matrix's scale; vectors = the
    eigenvectors, as rows, where the identity stands behind the matrix. Nothing is written there
    where nothing does. w is used for work."""
    turned = _flags(build, of)
    rotations = build.temporary(of.bytes_of(of.count * 2 * _pairs(of.rows)))
    for sweep, sweeps, round_, rounds, groups, lanes in _plan(of, of.columns):
        for part in (3,) if groups == 1 else (1, 2):
            build.dispatch(
                "eigh_turn", of.numbers, fold(of.count * groups), (w, turned, rotations),
                of.count, of.rows, of.columns, sweep, sweeps, round_, rounds, groups, lanes, part,
            )  # fmt: skip
    build.dispatch(
        "eigh_order", of.numbers, fold(of.count * of.rows), (w, scales, values, vectors),
        of.count, of.rows, of.columns, 0, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    build.release(turned, rotations)


def _pairs(n: int) -> int:
    return (n + 1) // 2


def _flags(build: Build, of: Matrices) -> Slot:
    """Of each matrix in each sweep, whether something was turned: not yet."""
    flags = build.temporary(4 * of.count * _SWEEPS)
    elementwise.fill(build, flags, 0.0, of.count * _SWEEPS)
    return flags


def _plan(of: Matrices, length: int) -> list[tuple[int, int, int, int, int, int]]:
    """Of each dispatch: the first sweep and their number, the first round and their number, the
    workgroups of a matrix, and the threads of a pair of rows of ``length``."""
    pairs = _pairs(of.rows)
    rounds = 2 * pairs - 1
    if of.rows <= (_ALONE_IN_MANY if of.count >= _MANY else _ALONE):
        lanes = min(THREADS // power_of_two(min(pairs, THREADS)), power_of_two(length))
        return [(0, _SWEEPS, 0, rounds, 1, lanes)]
    lanes = min(_LANES, power_of_two(length))
    groups = -(-pairs // (THREADS // lanes))
    return [
        (sweep, 1, round_, 1, groups, lanes)
        for sweep in range(_SWEEPS_APART)
        for round_ in range(rounds)
    ]


_SVD = params(
    *("matrices: u32", "vectors: u32", "length: u32", "columns: u32", "sweep: u32", "sweeps: u32"),
    *("round: u32", "rounds: u32", "groups: u32", "lanes: u32"),
)
_EIGH = params(
    *("matrices: u32", "n: u32", "columns: u32", "sweep: u32", "sweeps: u32", "round: u32"),
    *("rounds: u32", "groups: u32", "lanes: u32", "part: u32"),
)
_W, _TURNED = Binding(0, "w", WRITE), Binding(1, "turned", WRITE)
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
    )
)
