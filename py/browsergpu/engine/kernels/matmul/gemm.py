"""General matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu.engine.core import checks
from browsergpu.engine.core.enums import Transpose
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.remembered import remembered
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.matmul.products import BIAS, RESIDUAL, Product


@dataclass(frozen=True, slots=True)
class _Matrices:
    """A batch of matrices: element (i, j) of matrix z is at z * batch + i * row + j * col."""

    row: int
    col: int
    batch: int
    elements: int  # minimum size of the buffer

    @property
    def transposed(self) -> _Matrices:
        return _Matrices(self.col, self.row, self.batch, self.elements)


@dataclass(frozen=True, slots=True, eq=False)
class GemmPlan:
    """The required elements of each operand, and the product, None if it is empty.

    ``swap`` means that the product is transposed: B's matrices times A's.
    """

    a_elements: int
    b_elements: int
    c_elements: int
    swap: bool
    product: Product | None
    size_class: str = ""


@remembered
def plan_gemm(
    op: str,
    trans_a: Any,
    trans_b: Any,
    m: Any,
    n: Any,
    k: Any,
    alpha: Any,
    lda: Any,
    stride_a: Any,
    ldb: Any,
    stride_b: Any,
    beta: Any,
    ldc: Any,
    stride_c: Any,
    batch_count: Any,
    order: Any,
) -> GemmPlan:
    """Validate the arguments of ``WasmBackend.batched_gemm`` except the buffers."""
    flip_a = checks.choice(op, "trans_a", trans_a, Transpose) is not Transpose.NO_TRANS
    flip_b = checks.choice(op, "trans_b", trans_b, Transpose) is not Transpose.NO_TRANS
    if not isinstance(order, str) or order not in ("C", "F"):
        raise InvalidArgument(op, "order", order, "'C' (row-major) or 'F' (column-major)")
    m = checks.integer(op, "m", m)
    n = checks.integer(op, "n", n)
    k = checks.integer(op, "k", k)
    alpha = checks.real(op, "alpha", alpha)
    beta = checks.real(op, "beta", beta)
    count = checks.integer(op, "batch_count", batch_count)
    fortran = order == "F"
    a = _matrices(op, "a", lda, stride_a, (m, k), flip_a != fortran, count)
    b = _matrices(op, "b", ldb, stride_b, (k, n), flip_b != fortran, count)
    c = _matrices(op, "c", ldc, stride_c, (m, n), fortran, count)
    if m * n * count == 0:
        return GemmPlan(0, 0, 0, False, None)
    elements = (a.elements, b.elements, c.elements)
    if fortran:  # compute the transpose of C, which is row-major
        m, n, a, b, c = n, m, b.transposed, a.transposed, c.transposed
    if count > 1:
        _check_apart(op, c, m, n, count)
    if alpha == 0:
        k = 0  # BLAS does not read A and B then, so their NaN are ignored
    product = Product(
        m, n, k, a.row, a.col, b.row, b.col, c.row, a.batch, b.batch, c.batch, count, alpha, beta
    )
    return GemmPlan(*elements, fortran, product, product.size_class)


def plan_product(op: str, m: int, n: int, k: int) -> GemmPlan:
    """Plan C = A B for contiguous row-major matrices, [m, k] and [k, n]."""
    a_line, b_line = max(k, 1), max(n, 1)
    return plan_gemm(
        op, "no_trans", "no_trans", m, n, k, 1.0, a_line, 0, b_line, 0, 0.0, b_line, 0, 1, "C"
    )


def _matrices(
    op: str,
    name: str,
    leading: Any,
    stride: Any,
    shape: tuple[int, int],
    stored_transposed: bool,
    count: int,
) -> _Matrices:
    """Validate one operand's leading dimension and stride. ``shape`` is the shape of op(X)."""
    lines, length = (shape[1], shape[0]) if stored_transposed else shape
    ld = checks.integer(op, f"ld{name}", leading, max(1, length))
    batch = checks.integer(op, f"stride_{name}", stride)
    empty = lines == 0 or length == 0 or count == 0
    elements = 0 if empty else (count - 1) * batch + (lines - 1) * ld + length
    row, col = (1, ld) if stored_transposed else (ld, 1)
    return _Matrices(row, col, batch, elements)


def _check_apart(op: str, c: _Matrices, m: int, n: int, count: int) -> None:
    """Raise if matrices of C overlap. They must follow one another, or be side by side."""
    extent = (m - 1) * c.row + n
    beside = c.batch >= n and (count - 1) * c.batch + n <= c.row
    if c.batch < extent and not beside:
        raise InvalidArgument(
            op, "stride_c", c.batch, f"matrices of C that do not overlap (at least {extent})"
        )


def gemm(
    build: Build,
    a: Slot,
    b: Slot,
    c: Slot,
    plan: GemmPlan,
    bias: Slot | None = None,
    activation: str | None = None,
    residual: Slot | None = None,
    halves: int = 0,
) -> None:
    """Add C = f(alpha op(A) op(B) + bias + beta C) + residual.

    A bias, an activation or a residual requires a row-major C.

    Parameters
    ----------
    a, b, c : Slot
        Operands. c must be a different buffer from all others.
    bias : Slot, optional
        [n], added to every row.
    activation : str, optional
        One of ``products.ACTIVATIONS``.
    residual : Slot, optional
        Same layout as C.
    halves : int
        Bits of ``products`` for the operands that are float16.
    """
    product = plan.product
    if product is None:
        return
    if halves:
        size_class, able = product.size_class_of_halves, product.able_of_halves
    else:
        size_class, able = plan.size_class, product.able
    variant = build.facts.variants.choose("gemm", size_class, able)
    added = (bias is not None) * BIAS + (residual is not None) * RESIDUAL + halves
    layout = product.layout(variant, added, activation)
    if plan.swap != layout.exchanged:
        a, b = b, a
    # Every binding needs a buffer, even if the kernel does not read it.
    bias = a if bias is None else bias
    residual = a if residual is None else residual
    # gemm_thin binds the matrix twice, as elements and as vec4s.
    read = (a, a, b) if layout.twice else (a, b)
    if not layout.elements:
        for grid, fields in layout.dispatches:
            slots = (*read, bias, residual, c)
            build.dispatch(layout.kernel, layout.configuration, grid, slots, *fields)
        return
    pieces = build.temporary(4 * layout.elements)
    for grid, fields in layout.dispatches:
        build.dispatch(layout.kernel, layout.configuration, grid, (*read, a, a, pieces), *fields)
    configuration, grid, fields = layout.total
    build.dispatch("gemm_sum", configuration, grid, (pieces, bias, residual, c), *fields)
    build.release(pieces)
