"""Products of float32 vectors and quantized matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from browsergpu.engine.core.grids import blocks, fits, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    SUBNORMAL_HALVES,
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
)
from browsergpu.engine.kernels.matmul.products import ACTIVATIONS
from browsergpu.engine.kernels.quantized.formats import CONFIGURATIONS, FLOATS, FORMATS, INTEGERS

#: Maximum number of vectors for the kernels that read the matrix once.
FEW = 8
_FLOATS = "quantized_floats"
_THREADS = 256  # of a workgroup of the kernel for few vectors
_TILE = 64
_QUADS = 512  # vec4s of the vectors in workgroup memory, of quantized_thin_floats


def multiply(
    build: Build, weight: Slot, x: Slot, y: Slot, vectors: int, rows: int, columns: int, name: str,
    residual: Slot | None = None, bias: Slot | None = None, norm: Slot | None = None,
    eps: float = 0.0, gate: str | None = None,
) -> None:  # fmt: skip
    """Add y = x weightᵀ + residual or bias for x [vectors, columns] and a matrix [rows, columns].

    The matrix has the format ``name``. A residual is [vectors, rows], a bias [rows]. No extent may
    be 0, and y is another buffer than x. The other arguments need :func:`takes_vector`. ``norm``
    and ``eps`` are the weights [columns] of an RMS norm of x, and the number added to its mean of
    squares. ``gate`` is the function, of ``ACTIVATIONS``, of the product's first half, which
    multiplies the second half. Then y is [rows / 2], and nothing is added.
    """
    added = bias if residual is None else residual
    kind = int(residual is not None) or 2 * (bias is not None)
    fields = rows, columns, vectors, kind
    if vectors <= FEW:
        most = next(most for most in _SHARES if vectors <= most)
        each, lanes = _share(name, most, rows)
        kernel, end = "quantized_thin", ""
        if name in FLOATS:
            kernel = "quantized_thin_floats"
        if name == "F16":  # BF16 has one kernel. Times of it must not decide for F16.
            variant = build.facts.variants.choose(_FLOATS, "", lambda _: True)
            end = " unpacked" * variant.traits["unpacks"]
        grid = fold(blocks(rows, _THREADS // lanes * each))
        slots = weight, x, x if added is None else added, x if norm is None else norm, y
        more = int(norm is not None), ACTIVATIONS[gate], eps
        build.dispatch(kernel, f"{name} {most} {each}x{lanes}{end}", grid, slots, *fields, *more)
        return
    grid = blocks(rows, _TILE), blocks(vectors, _TILE), 1
    bound = weight, x, x if added is None else added, y
    build.dispatch("quantized_tile", name, grid, bound, *fields)


def takes_vector(vectors: int) -> bool:
    """Return whether a product also normalizes x, and gates y.

    Each workgroup reads all of x, so it can normalize one vector as it reads it. A thread has at
    least two rows of the matrix for one vector, so it can multiply one by its gate.
    """
    return vectors == 1


#: Rows of a thread, and threads that share them, of integers: for the most vectors of a kernel, the
#: smallest number of rows with each choice. Measured on an H200.
_SHARES = {
    1: {16_384: (4, 32), 4_096: (2, 32), 0: (2, 64)},
    2: {0: (2, 32)},
    4: {0: (1, 16)},
    8: {0: (1, 8)},
}
#: The same of floats.
_SHARES_OF_FLOATS = {
    1: {4_096: (2, 32), 0: (2, 64)},
    2: {0: (2, 32)},
    4: {0: (2, 32)},
    8: {0: (1, 32)},
}


def _share(name: str, most: int, rows: int) -> tuple[int, int]:
    choices = (_SHARES_OF_FLOATS if name in FLOATS else _SHARES)[most]
    return next(choice for least, choice in choices.items() if rows >= least)


def fits_grid(vectors: int, rows: int) -> bool:
    """Return whether a product of these extents is one dispatch."""
    return vectors <= FEW or fits(blocks(rows, _TILE), blocks(vectors, _TILE))


def _cost(f: Fields) -> Work:
    elements = f["rows"] * f["columns"]
    moved = elements + 4 * f["vectors"] * (f["rows"] + f["columns"])
    return 2 * elements * f["vectors"], moved


_FIELDS = "rows: u32", "columns: u32", "vectors: u32", "added: u32"
_THIN_PARAMS = params(*_FIELDS, "normed: u32", "gate: u32", "eps: f32")
_THIN_BINDINGS = bindings("blocks", "x", "residual", "norm", "y")


def _configurations(
    names: Iterable[str], shares: Mapping[int, Mapping[int, tuple[int, int]]]
) -> Configurations:
    return {
        f"{name} {most} {each}x{lanes}": {
            "FORMAT": FORMATS[name].code, "VECTORS": most, "ROWS": each, "LANES": lanes,
        }
        for name in names
        for most, choices in shares.items()
        for each, lanes in choices.values()
    }  # fmt: skip


def _of_floats() -> Configurations:
    """Return the configurations of floats, and those of F16 that unpack by a built-in function."""
    found = {}
    for name, one in _configurations(FLOATS, _SHARES_OF_FLOATS).items():
        reads = _QUADS // one["VECTORS"] // one["LANES"]
        found[name] = {**one, "READS": reads, "UNPACKS": 0}
        if name.startswith("F16"):
            found[f"{name} unpacked"] = {**found[name], "UNPACKS": 1}
    return found


def _problem() -> Problem:
    side = 2048

    def product(build: Build, weight: Slot, x: Slot, y: Slot) -> None:
        multiply(build, weight, x, y, 1, side, side, "F16")

    return Problem(_FLOATS, "", (side * side // 2, side, side), product)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "quantized_thin", "quantized_thin.wgsl", _THIN_BINDINGS, _THIN_PARAMS,
            configurations=_configurations(INTEGERS, _SHARES), cost=_cost,
        ),
        Kernel(
            "quantized_thin_floats", "quantized_thin_floats.wgsl", _THIN_BINDINGS, _THIN_PARAMS,
            configurations=_of_floats(), cost=_cost,
        ),
        Kernel(
            "quantized_tile", "quantized_tile.wgsl", bindings("blocks", "x", "residual", "y"),
            params(*_FIELDS),
            configurations=CONFIGURATIONS, cost=_cost,
        ),
    ),
    operations=(
        Operation(
            _FLOATS,
            (
                Variant(
                    "unpacked", "quantized_thin_floats", "F16 1 2x64 unpacked", SUBNORMAL_HALVES,
                    workgroup_bytes=15_360, threads=_THREADS, traits={"unpacks": 1},
                ),
                Variant(
                    "exact", "quantized_thin_floats", "F16 1 2x64", workgroup_bytes=15_360,
                    threads=_THREADS, traits={"unpacks": 0},
                ),
            ),
            {},
        ),
    ),
    problems=(_problem(),),
)  # fmt: skip
