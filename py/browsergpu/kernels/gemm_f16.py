"""Matrix products of float16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu.core import checks
from browsergpu.core.grids import blocks, fold
from browsergpu.core.params import params
from browsergpu.core.remembered import remembered
from browsergpu.gpu.program import Slot
from browsergpu.kernels.build import Build
from browsergpu.kernels.family import (
    MATRICES,
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
from browsergpu.kernels.gemm_facts import product_work
from browsergpu.kernels.products import ACTIVATIONS

_OP = "gemm_f16"
_VECTOR = 8  # halves in a vec4u, of which most kernels want rows to be made
_WORTH_COPYING = 32  # columns from which filled-up rows are not much longer
_WORTH_DISPATCHES = 2**22  # products of a matrix that cost as much as three more dispatches
_FEW_ROWS = 8
_MANY_TILES = 128  # workgroups that keep a large GPU busy


@dataclass(frozen=True, slots=True, eq=False)
class GemmF16Plan:
    """Elements that each operand must hold, the kernels' parameters, and the size class:

    - "row" or "thin": one row, or few
    - "small": fewer tiles of 64 × 64 than keep a large GPU busy
    - "medium": fewer tiles of 128 × 128 than that
    - "large": all others

    ``whole_a`` and ``whole_b``: the operand's rows are whole vectors (C's are as B's).
    ``worth_copying``: where they are not, copies in such rows cost little beside the product; the
    largest has ``copy_bytes``.
    """

    a_elements: int
    b_elements: int
    c_elements: int
    size_class: str
    m: int
    n: int
    k: int
    alpha: float
    beta: float
    whole_a: bool
    whole_b: bool
    worth_copying: bool
    copy_bytes: int

    def takes_rows_of(self, variant: Variant) -> bool:
        """Whether a variant can read the operands as they are."""
        traits = variant.traits
        return traits["whole_a"] <= self.whole_a and traits["whole_b"] <= self.whole_b

    def fits(self, variant: Variant) -> bool:
        """Whether a variant can do it, and should."""
        if self.m > variant.traits.get("most_rows", self.m):
            return False
        return self.takes_rows_of(variant) or (
            self.worth_copying and not variant.traits["in_place"]
        )


@remembered
def plan_gemm_f16(m: Any, n: Any, k: Any, alpha: Any, beta: Any) -> GemmF16Plan:
    """Checks the arguments of ``ComputeBackend.gemm_f16`` that are not buffers."""
    m = checks.integer(_OP, "m", m)
    n = checks.integer(_OP, "n", n)
    k = checks.integer(_OP, "k", k)
    alpha = checks.real(_OP, "alpha", alpha)
    beta = checks.real(_OP, "beta", beta)
    elements = (m * k, k * n, m * n)
    if alpha == 0:
        k = 0  # BLAS: A and B are not read, so that their NaN do not count
    whole_a, whole_b = k % _VECTOR == 0, n % _VECTOR == 0
    short_copies = all(x % _VECTOR == 0 or x >= _WORTH_COPYING for x in (n, k))
    worth_copying = short_copies and m * n * k >= _WORTH_DISPATCHES
    copies = (
        0 if whole_a else m * _whole(k),
        0 if whole_b else max(m, k) * _whole(n),
    )
    return GemmF16Plan(
        *elements, _size_class(m, n), m, n, k, alpha, beta, whole_a, whole_b, worth_copying,
        2 * max(copies),
    )  # fmt: skip


def _size_class(m: int, n: int) -> str:
    if m <= _FEW_ROWS:
        return "row" if m == 1 else "thin"
    if blocks(m, 64) * blocks(n, 64) < _MANY_TILES:
        return "small"
    return "medium" if blocks(m, 128) * blocks(n, 128) < _MANY_TILES else "large"


def gemm_f16(
    build: Build,
    a: Slot,
    b: Slot,
    c: Slot,
    plan: GemmF16Plan,
    bias: Slot | None = None,
    activation: str | None = None,
) -> None:
    """C = f(alpha A B + bias) + beta C, contiguous float16 with float32 sums: ``bias`` is n
    elements for every row, ``activation`` one of ``products.ACTIVATIONS``. c is none of the
    others."""
    m, n, k = plan.m, plan.n, plan.k
    if plan.c_elements == 0:
        return
    has_room = not plan.copy_bytes or plan.copy_bytes <= build.facts.largest_buffer
    able = plan.fits if has_room else plan.takes_rows_of
    variant = build.facts.variants.choose(_OP, plan.size_class, able)
    end = activation or ("" if bias is None else "bias")
    configuration = "_".join(filter(None, (variant.configuration, end)))
    added = a if bias is None else bias  # not read then, but something must be bound
    fields = (m, n, k, plan.alpha, plan.beta, int(bias is not None))
    grid = fold(blocks(m, variant.traits["rows"]) * blocks(n, variant.traits["columns"]))
    if plan.takes_rows_of(variant):
        build.dispatch(variant.kernel, configuration, grid, (a, b, added, c), *fields)
        return
    left = a if plan.whole_a else _in_whole_vectors(build, m, k, a)
    right = b if plan.whole_b else _in_whole_vectors(build, k, n, b)
    product = c if plan.whole_b else _in_whole_vectors(build, m, n, c if plan.beta else None)
    build.dispatch(variant.kernel, configuration, grid, (left, right, added, product), *fields)
    if product != c:
        _repitch(build, m, product, _whole(n), c, n)
    build.release(*{left, right, product} - {a, b, c})


def _whole(columns: int) -> int:
    return blocks(columns, _VECTOR) * _VECTOR


def _in_whole_vectors(build: Build, rows: int, columns: int, x: Slot | None) -> Slot:
    """A temporary of the matrix x, or room for one, in rows of whole vectors."""
    pitch = _whole(columns)
    made = build.temporary(2 * max(rows * pitch, 1))
    if x is not None:
        _repitch(build, rows, x, columns, made, pitch)
    return made


def _repitch(build: Build, rows: int, x: Slot, x_pitch: int, y: Slot, y_pitch: int) -> None:
    """y's rows are x's, cut or filled up with zeros."""
    words = blocks(rows * y_pitch, 2)
    if words:
        grid = fold(blocks(words, build.facts.workgroup_sizes.elementwise))
        build.dispatch("repitch", "", grid, (x, y), rows, x_pitch, y_pitch)


def _work(f: Fields) -> Work:
    operations, nbytes = product_work(f)
    return operations, nbytes / 2


#: What a product can end in: also a bias alone.
_ENDS: Configurations = {
    "": {"FUNCTION": 0, "BIASED": 0},
    "bias": {"FUNCTION": 0, "BIASED": 1},
    **{name: {"FUNCTION": code, "BIASED": 1} for name, code in ACTIVATIONS.items() if name},
}
_BINDINGS = bindings("a", "b", "bias", "c")
_PARAMS = params("m: u32", "n: u32", "k: u32", "alpha: f32", "beta: f32", "biased: u32")


def _whole_product(name: str) -> Kernel:
    return Kernel(name, f"{name}.wgsl", _BINDINGS, _PARAMS, configurations=_ENDS, cost=_work)


def _matrix(rows: int, columns: int, threads: int, nbytes: int) -> Variant:
    return Variant(
        f"matrix{rows}",
        f"gemm_f16_matrix{rows}",
        features=MATRICES,
        workgroup_bytes=nbytes,
        threads=threads,
        traits={"rows": rows, "columns": columns, "whole_a": 1, "whole_b": 1, "in_place": 0},
    )


def _rows(rows: int) -> Variant:
    return Variant(
        f"rows{rows}",
        "gemm_f16_rows",
        str(rows),
        workgroup_bytes=8_192,
        threads=256,
        traits={
            "rows": rows,
            "columns": 32,
            "whole_a": 0,
            "whole_b": 1,
            "in_place": 1,
            "most_rows": 4 * rows,
        },
    )


# Traits: a tile's rows and columns, and which rows must be of whole vec4u: those of A and of B.
# Matrices of other rows are copied, unless they are to be read in place. most_rows: of C, where it
# is slow on more.
_VARIANTS = (
    _matrix(128, 128, 128, 24_576),
    _matrix(64, 64, 64, 20_992),
    _matrix(32, 64, 128, 19_968),
    Variant(
        "tile128",
        "gemm_f16_tile",
        workgroup_bytes=16_640,
        threads=128,
        traits={"rows": 128, "columns": 128, "whole_a": 1, "whole_b": 1, "in_place": 0},
    ),
    _rows(1),
    _rows(4),
    Variant(
        "tile32",
        "gemm_f16",
        workgroup_bytes=4_224,
        threads=256,
        traits={"rows": 32, "columns": 32, "whole_a": 0, "whole_b": 0, "in_place": 1},
    ),
)
_PICKS = {
    "": {
        "row": "rows1",
        "thin": "rows4",
        "small": "tile32",
        "medium": "tile128",
        "large": "tile128",
    },
    # Measured on an H200.
    "nvidia": {"small": "matrix32", "medium": "matrix64", "large": "matrix128"},
}


def _problem(size_class: str, m: int, n: int, k: int) -> Problem:
    plan = plan_gemm_f16(m, n, k, 1.0, 0.0)

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm_f16(build, a, b, c, plan)

    return Problem(_OP, size_class, (m * k // 2, k * n // 2, m * n // 2), product)


FAMILY = KernelFamily(
    kernels=(
        _whole_product("gemm_f16"),
        _whole_product("gemm_f16_tile"),
        _whole_product("gemm_f16_matrix32"),
        _whole_product("gemm_f16_matrix64"),
        _whole_product("gemm_f16_matrix128"),
        Kernel(
            "gemm_f16_rows",
            "gemm_f16_rows.wgsl",
            _BINDINGS,
            _PARAMS,
            configurations={
                f"{rows}_{end}" if end else str(rows): {"ROWS": rows, **constants}
                for rows in (1, 4)
                for end, constants in _ENDS.items()
            },
            cost=_work,
        ),
        Kernel(
            "repitch",
            "repitch.wgsl",
            bindings("x", "y"),
            params("rows: u32", "x_pitch: u32", "y_pitch: u32"),
            family="elementwise",
            cost=lambda f: (0, 2 * f["rows"] * (f["x_pitch"] + f["y_pitch"])),
        ),
    ),
    operations=(Operation(_OP, _VARIANTS, _PICKS),),
    problems=(
        _problem("row", 1, 2048, 2048),
        _problem("thin", 6, 2048, 2048),
        _problem("small", 256, 256, 256),
        _problem("medium", 1024, 1024, 512),
        _problem("large", 1536, 1536, 1024),
    ),
)
