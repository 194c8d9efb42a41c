"""Matrix products of float32 and float16 tensors, for both interfaces.

If all tensors are float16, float16 kernels compute with float32 sums. Otherwise float32 kernels
read float16 weights (b, and the other operands with it) directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.enums import Precision
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.facts import Facts
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.kernels.matmul import gemm, gemm_f16, gemm_high
from browsergpu.engine.kernels.matmul.products import (
    A_HALVES,
    B_HALVES,
    BIAS_HALVES,
    RESIDUAL_HALVES,
)
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View

#: Rows, columns, inner length and count of a product, whether A and B are batched, and whether A
#: and B are transposed.
Extents = tuple[int, int, int, int, bool, bool, bool, bool]


@dataclass(frozen=True, slots=True, eq=False)
class MatmulPlan:
    """A planned matrix product.

    Attributes
    ----------
    shape
        The shape of the result.
    gemm
        The product with float32 results.
    factor
        The factor of the product.
    of_halves
        The extents for float16 kernels, or None if these cannot compute it.
    spread_a, spread_b
        The shapes between which the matrices of an operand are broadcast first, or None.
    """

    shape: Shape
    gemm: gemm.GemmPlan
    factor: float
    of_halves: Extents | None
    spread_a: tuple[Shape, Shape] | None
    spread_b: tuple[Shape, Shape] | None


def _matrices(shape: Shape, flip: bool, *, column: bool) -> tuple[Shape, int, int]:
    """Return the leading axes, rows and columns of an operand. A vector is a row or a column."""
    if len(shape) == 1:
        shape = (*shape, 1) if column else (1, *shape)
    *lead, rows, columns = shape
    return tuple(lead), *((columns, rows) if flip else (rows, columns))


def plan_matmul(
    op: str, a: View, b: View, flip_a: bool = False, flip_b: bool = False, factor: float = 1.0
) -> MatmulPlan:
    """Plan the product factor a b as ``numpy.matmul``, optionally with transposed operands.

    Both operands have axes. Raises InvalidArgument if the inner lengths differ, or the leading axes
    do not broadcast.
    """
    plan = _plan(op, a.shape, b.shape, flip_a, flip_b, factor)
    if plan is None:
        columns = _matrices(a.shape, flip_a, column=False)[2]
        raise InvalidArgument(op, "b", b, f"have {columns} rows, as a has columns")
    return plan


def planned(
    op: str, a: View, b: View, flip_a: bool = False, flip_b: bool = False, factor: float = 1.0
) -> tuple[MatmulPlan, View, View]:
    """Return :func:`plan_matmul` and its operands. Transposed views are not copied."""
    found = _plan(op, a.shape, b.shape, flip_a, flip_b, factor)
    if found is not None and a.is_packed and b.is_packed:
        return found, a, b
    plan_matmul(op, a, b, flip_a, flip_b, factor)  # errors show the given operands
    a, flip_a = _untransposed(a, flip_a)
    b, flip_b = _untransposed(b, flip_b)
    return plan_matmul(op, a, b, flip_a, flip_b, factor), a, b


def _untransposed(x: View, flip: bool) -> tuple[View, bool]:
    """Return the packed matrix and the opposite ``flip`` for a transposed view.

    Other operands are returned as they are.
    """
    if x.is_packed or x.kind[3] or len(x.shape) < 2:
        return x, flip
    shape = _of_transposed(x.shape, x.kind[2])
    return (x, flip) if shape is None else (View(x.buffer, shape, x.dtype), not flip)


@lru_cache(maxsize=1024)
def _of_transposed(shape: Shape, strides: Shape) -> Shape | None:
    """Return the shape of the packed matrices whose transposed view this is, or None."""
    shape, strides = ((*s[:-2], s[-1], s[-2]) for s in (shape, strides))
    return shape if shapes.is_contiguous(shape, strides) else None


@lru_cache(maxsize=1024, typed=True)  # shapes of views contain nothing but ints
def _plan(
    op: str, a: Shape, b: Shape, flip_a: bool, flip_b: bool, factor: float
) -> MatmulPlan | None:
    lead_a, m, k = _matrices(a, flip_a, column=False)
    lead_b, k_b, n = _matrices(b, flip_b, column=True)
    if k != k_b:
        return None
    lead = shapes.broadcast(op, lead_a, lead_b)
    shape = (*lead, *((m,) if len(a) > 1 else ()), *((n,) if len(b) > 1 else ()))
    count = product(lead)
    stride_a, spread_a = _spread(lead_a, lead, m * k)
    stride_b, spread_b = _spread(lead_b, lead, k * n)
    if stride_a and not stride_b and not flip_a:  # the batch becomes more rows of a
        m, count, stride_a = m * count, 1, 0
    of_halves = None
    if spread_a is None and spread_b is None:
        of_halves = (m, n, k, count, stride_a > 0, stride_b > 0, flip_a, flip_b)
    plan = gemm.plan_gemm(
        op, "trans" if flip_a else "no_trans", "trans" if flip_b else "no_trans", m, n, k,
        factor, max(m if flip_a else k, 1), stride_a, max(k if flip_b else n, 1), stride_b, 0.0,
        max(n, 1), m * n, count, "C",
    )  # fmt: skip
    return MatmulPlan(shape, plan, factor, of_halves, spread_a, spread_b)


def _spread(own: Shape, lead: Shape, elements: int) -> tuple[int, tuple[Shape, Shape] | None]:
    """Return the batch stride of an operand, and how to broadcast it to ``lead`` if necessary."""
    if product(own) == 1:
        return 0, None
    if product(own) == product(lead):
        return elements, None
    return elements, ((*own, elements), (*lead, elements))


def multiply(
    device: Device,
    op: str,
    plan: MatmulPlan,
    a: View,
    b: View,
    c: View,
    bias: View | None = None,
    activation: str | None = None,
    residual: View | None = None,
    precision: Precision = Precision.HIGHEST,
) -> None:
    """Compute c = activation(factor a b + bias) + residual of floats, for nonempty c.

    The plan has the factor.

    Parameters
    ----------
    device, op
        The device, and the name of the function for error messages.
    plan
        The planned product.
    a, b, c
        The operands and the result. c may be any of the others.
    bias
        One number for each column of b.
    activation
        One of ``products.ACTIVATIONS``.
    residual
        A tensor with the shape of c.
    precision
        The precision of float32 products without bias, activation and residual.
    """
    launch(device, op, _multiply, (a, b, c, bias, residual), op, plan, activation, precision)


@of_operands
def _multiply(
    build: Build,
    a: Operand,
    b: Operand,
    c: Operand,
    bias: Operand | None,
    residual: Operand | None,
    op: str,
    plan: MatmulPlan,
    activation: str | None,
    precision: Precision,
) -> None:
    staging = Staging(build)
    are_halves = all(x is None or x.dtype is DType.F16 for x in (a, b, c, bias, residual))
    own = _plan_of_halves(plan, build.facts, residual) if are_halves else None
    if own is not None and _takes_halves(build.facts, own):
        _of_halves(build, staging, own, a, b, c, bias, activation, residual)
    else:
        y = staging.write(c, a, b, bias, residual)
        right, halves = _batch(build, op, staging, b, plan.spread_b, B_HALVES)
        # The kernels read float16 A only if B is float16 and there is no activation.
        bit = A_HALVES if halves and activation is None else 0
        left, some = _batch(build, op, staging, a, plan.spread_a, bit)
        added, summed = None, None
        bias_bit, residual_bit = (BIAS_HALVES, RESIDUAL_HALVES) if halves else (0, 0)
        halves |= some
        if bias is not None:
            added, some = staging.read_halves(bias, bias_bit)
            halves |= some
        if residual is not None:
            summed, some = staging.read_halves(residual, residual_bit)
            halves |= some
        is_alone = not halves and activation is None and bias is None and residual is None
        if precision is Precision.HIGH and is_alone:
            gemm_high.gemm_high(build, left, right, y, plan.gemm)
        else:
            gemm.gemm(build, left, right, y, plan.gemm, added, activation, summed, halves)
    staging.deliver()


def _plan_of_halves(
    plan: MatmulPlan, facts: Facts, residual: Operand | None = None
) -> gemm_f16.GemmF16Plan | None:
    """Plan the product for float16 kernels. It is added to C if the residual must be copied."""
    if plan.of_halves is None:
        return None
    m, n, k, count, *rest = plan.of_halves
    own = gemm_f16.plan_gemm_f16(m, n, k, plan.factor, 0.0, count, *rest)
    if residual is None or gemm_f16.takes_residual(facts, own):
        return own
    return gemm_f16.plan_gemm_f16(m, n, k, plan.factor, 1.0, count, *rest)


def is_by_halves(facts: Facts, plan: MatmulPlan) -> bool:
    """Return whether a product of float16 arrays is computed by float16 kernels."""
    own = _plan_of_halves(plan, facts)
    return own is not None and _takes_halves(facts, own)


def takes_residual(facts: Facts, plan: MatmulPlan) -> bool:
    """Return whether a float16 kernel adds a residual without a copy."""
    own = _plan_of_halves(plan, facts)
    return own is not None and gemm_f16.takes_residual(facts, own)


def _takes_halves(facts: Facts, own: gemm_f16.GemmF16Plan) -> bool:
    return _is_plain(own) or gemm_f16.is_by_matrices(facts, own)


def _is_plain(plan: gemm_f16.GemmF16Plan) -> bool:
    """Return whether every device uses float16 kernels: one product without transposed operands."""
    return plan.count == 1 and not (plan.flip_a or plan.flip_b)


def _of_halves(
    build: Build,
    staging: Staging,
    plan: gemm_f16.GemmF16Plan,
    a: Operand,
    b: Operand,
    c: Operand,
    bias: Operand | None,
    activation: str | None,
    residual: Operand | None,
) -> None:
    # A kernel that adds the product to C may write onto the residual.
    read_beside = None if plan.beta else residual
    y = staging.write(c, a, b, bias, read_beside, dtype=DType.F16)
    added = None if bias is None else bias.slot
    summed = None
    if plan.beta and residual is not None:  # the product is added to it
        build.copy(residual.slot, y, DType.F16.device_bytes(residual.size))
    elif residual is not None:
        summed = residual.slot
    gemm_f16.gemm_f16(build, a.slot, b.slot, y, plan, added, activation, residual=summed)


def _batch(
    build: Build,
    op: str,
    staging: Staging,
    x: Operand,
    spread: tuple[Shape, Shape] | None,
    bit: int,
) -> tuple[Slot, int]:
    """Return the matrices of an operand, broadcast if necessary, and ``bit`` if they are float16.

    Broadcast matrices are float32, and without a bit all are.
    """
    if spread is None:
        return staging.read_halves(x, bit)
    own, full = spread
    whole = staging.temporary(DType.F32, product(full))
    if full[-1]:
        strides = shapes.broadcast_strides(own, full)
        gather(build, op, staging.read(x), strides, whole, full)
    return whole, 0
