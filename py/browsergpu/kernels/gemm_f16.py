"""Matrix products of float16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu.core import checks
from browsergpu.core.grids import blocks, fold
from browsergpu.core.remembered import remembered
from browsergpu.gpu.program import Slot
from browsergpu.kernels.build import Build
from browsergpu.kernels.variants import Variant

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
