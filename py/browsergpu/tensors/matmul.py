"""Matrix products of tensors, of float32 and float16 alike: what both APIs' products are done by.

Where all tensors are of float16, so is the work (with float32 sums); else the kernels of float32
read weights of float16 (b, and what comes with it) as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from browsergpu.core import shapes
from browsergpu.core.checks import product
from browsergpu.core.dtypes import DType
from browsergpu.core.enums import Precision
from browsergpu.core.errors import InvalidArgument
from browsergpu.core.remembered import remembered
from browsergpu.core.shapes import Shape
from browsergpu.device.device import Device
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.elements.strided import gather
from browsergpu.kernels.matmul import gemm, gemm_f16, gemm_high
from browsergpu.kernels.matmul.products import A_HALVES, B_HALVES, BIAS_HALVES, RESIDUAL_HALVES
from browsergpu.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.tensors.view import View

#: Rows, columns and steps of a product, how many there are, whether each has an A and a B of its
#: own, and which of these lie with rows and columns exchanged.
Extents = tuple[int, int, int, int, bool, bool, bool, bool]


@dataclass(frozen=True, slots=True, eq=False)
class MatmulPlan:
    """The result's shape, the product with float32 results, its :func:`extents <_extents>` for the
    kernels of float16 if they can make it, and from which shape to which the matrices of an operand
    are spread first."""

    shape: Shape
    gemm: gemm.GemmPlan
    of_halves: Extents | None
    spread_a: tuple[Shape, Shape] | None
    spread_b: tuple[Shape, Shape] | None


def _matrices(shape: Shape, flip: bool, *, column: bool) -> tuple[Shape, int, int]:
    """The leading axes, rows and columns of an operand; a vector is a row, or a column."""
    if len(shape) == 1:
        shape = (*shape, 1) if column else (1, *shape)
    *lead, rows, columns = shape
    return tuple(lead), *((columns, rows) if flip else (rows, columns))


def plan_matmul(
    op: str, a: View, b: View, flip_a: bool = False, flip_b: bool = False
) -> MatmulPlan:
    """The product a b as NumPy's matmul, of which the last two axes of an operand may be exchanged;
    both have axes. Raises InvalidArgument where the columns of a are not as many as the rows of b,
    or the leading axes do not broadcast."""
    plan = _plan(op, a.shape, b.shape, flip_a, flip_b)
    if plan is None:
        columns = _matrices(a.shape, flip_a, column=False)[2]
        raise InvalidArgument(op, "b", b, f"have {columns} rows, as a has columns")
    return plan


def planned(
    op: str, a: View, b: View, flip_a: bool = False, flip_b: bool = False
) -> tuple[MatmulPlan, View, View]:
    """:func:`plan_matmul`, and the operands to multiply by it: transposed matrices as they lie."""
    plan = plan_matmul(op, a, b, flip_a, flip_b)
    if not (a.is_packed and b.is_packed):
        a, flip_a = _unturned(a, flip_a)
        b, flip_b = _unturned(b, flip_b)
        plan = plan_matmul(op, a, b, flip_a, flip_b)
    return plan, a, b


def _unturned(x: View, flip: bool) -> tuple[View, bool]:
    """An operand of which the last two axes are exchanged on request; where that is what makes it
    other than packed, the packed one and the opposite request."""
    if x.is_packed or x.offset or len(x.shape) < 2:
        return x, flip
    shape, strides = ((*s[:-2], s[-1], s[-2]) for s in (x.shape, x.strides))
    if not shapes.is_contiguous(shape, strides):
        return x, flip
    return View(x.buffer, shape, x.dtype), not flip


@remembered
def _plan(op: str, a: Shape, b: Shape, flip_a: bool, flip_b: bool) -> MatmulPlan | None:
    lead_a, m, k = _matrices(a, flip_a, column=False)
    lead_b, k_b, n = _matrices(b, flip_b, column=True)
    if k != k_b:
        return None
    lead = shapes.broadcast(op, lead_a, lead_b)
    shape = (*lead, *((m,) if len(a) > 1 else ()), *((n,) if len(b) > 1 else ()))
    count = product(lead)
    stride_a, spread_a = _spread(lead_a, lead, m * k)
    stride_b, spread_b = _spread(lead_b, lead, k * n)
    if stride_a and not stride_b and not flip_a:  # the batch is further rows of a
        m, count, stride_a = m * count, 1, 0
    of_halves = None
    if spread_a is None and spread_b is None:
        of_halves = (m, n, k, count, stride_a > 0, stride_b > 0, flip_a, flip_b)
    plan = gemm.plan_gemm(
        op, "trans" if flip_a else "no_trans", "trans" if flip_b else "no_trans", m, n, k,
        1.0, max(m if flip_a else k, 1), stride_a, max(k if flip_b else n, 1), stride_b, 0.0,
        max(n, 1), m * n, count, "C",
    )  # fmt: skip
    return MatmulPlan(shape, plan, of_halves, spread_a, spread_b)


def _spread(own: Shape, lead: Shape, elements: int) -> tuple[int, tuple[Shape, Shape] | None]:
    """The elements from one matrix of a batch of ``lead`` to the next, and how an operand whose
    leading axes are ``own`` is spread for that."""
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
    """c = f(a b + bias) + residual for floats, where c has elements: a bias of as many as b has
    columns, one of ``products.ACTIVATIONS``, a residual of c's shape. c may be any of the
    others. ``precision`` is that of products alone, of float32 tensors."""
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
    own = _plan_of_halves(plan, residual) if are_halves else None
    if own is not None and (_is_plain(own) or gemm_f16.is_by_matrices(build.facts, own)):
        _of_halves(build, staging, own, a, b, c, bias, activation, residual)
    else:
        y = staging.write(c, a, b, bias, residual)
        right, halves = _batch(build, op, staging, b, plan.spread_b, B_HALVES)
        # The kernels take A of float16 where B is too, and there is no activation.
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


def _plan_of_halves(plan: MatmulPlan, residual: Operand | None) -> gemm_f16.GemmF16Plan | None:
    if plan.of_halves is None:
        return None
    m, n, k, count, *rest = plan.of_halves
    return gemm_f16.plan_gemm_f16(m, n, k, 1.0, 0.0 if residual is None else 1.0, count, *rest)


def _is_plain(plan: gemm_f16.GemmF16Plan) -> bool:
    """Whether kernels of float16 are the ones for it on every device: one matrix as it lies by
    another."""
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
    y = staging.write(c, a, b, bias, dtype=DType.F16)
    if residual is not None:  # what the product is added to
        build.copy(residual.slot, y, DType.F16.device_bytes(residual.size))
    added = None if bias is None else bias.slot
    gemm_f16.gemm_f16(build, a.slot, b.slot, y, plan, added, activation)


def _batch(
    build: Build,
    op: str,
    staging: Staging,
    x: Operand,
    spread: tuple[Shape, Shape] | None,
    bit: int,
) -> tuple[Slot, int]:
    """The matrices, spread from a shape to one that it broadcasts to, and ``bit`` where they are of
    float16: those that are spread are not, nor is any without a bit."""
    if spread is None:
        return staging.read_halves(x, bit)
    own, full = spread
    whole = staging.temporary(DType.F32, product(full))
    if full[-1]:
        strides = shapes.broadcast_strides(own, full)
        gather(build, op, staging.read(x), strides, whole, full)
    return whole, 0
