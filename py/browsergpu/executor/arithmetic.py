"""Elementwise arithmetic with broadcasting, and matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu import shapes
from browsergpu.checks import choice, flag, product
from browsergpu.compute_backend import Activation
from browsergpu.device_array import DeviceArray
from browsergpu.dtypes import DType
from browsergpu.errors import InvalidArgument
from browsergpu.executor.base import FLOATS, WHOLE, ExecutorBase, number
from browsergpu.memory import Allocation
from browsergpu.ops import elementwise, gemm, gemm_f16, integers
from browsergpu.ops.broadcast import broadcast
from browsergpu.ops.remembered import remembered
from browsergpu.ops.strided import gather
from browsergpu.shapes import Shape
from browsergpu.staging import Staging

Operand = DeviceArray | float


@dataclass(frozen=True, slots=True, eq=False)
class _MatmulPlan:
    """The result's shape, the product in float32 and, where it can be done so, in float16; and
    from which shape to which the matrices of an operand are spread first."""

    shape: Shape
    gemm: gemm.GemmPlan
    halves: gemm_f16.GemmF16Plan | None
    spread_a: tuple[Shape, Shape] | None
    spread_b: tuple[Shape, Shape] | None


def _matrices(shape: Shape, flip: bool, *, column: bool) -> tuple[Shape, int, int]:
    """The leading axes, rows and columns of an operand; a vector is a row, or a column."""
    if len(shape) == 1:
        shape = (*shape, 1) if column else (1, *shape)
    *lead, rows, columns = shape
    return tuple(lead), *((columns, rows) if flip else (rows, columns))


def _contracted(a: Shape, b: Shape, flip_a: bool, flip_b: bool) -> tuple[int, int]:
    """The columns of a and the rows of b."""
    return _matrices(a, flip_a, column=False)[2], _matrices(b, flip_b, column=True)[1]


@remembered
def _plan_matmul(a: Shape, b: Shape, flip_a: bool, flip_b: bool) -> _MatmulPlan | None:
    """None where the columns of a are not as many as the rows of b."""
    lead_a, m, k = _matrices(a, flip_a, column=False)
    lead_b, k_b, n = _matrices(b, flip_b, column=True)
    if k != k_b:
        return None
    lead = shapes.broadcast("matmul", lead_a, lead_b)
    shape = (*lead, *((m,) if len(a) > 1 else ()), *((n,) if len(b) > 1 else ()))
    count = product(lead)
    stride_a, spread_a = _spread(lead_a, lead, m * k)
    stride_b, spread_b = _spread(lead_b, lead, k * n)
    halves = None
    if not flip_a and not flip_b and product(lead_b) == 1:
        halves = gemm_f16.plan_gemm_f16(m * count, n, k, 1.0, 0.0)
    if stride_a and not stride_b and not flip_a:  # the batch is further rows of a
        m, count, stride_a = m * count, 1, 0
    plan = gemm.plan_gemm(
        "matmul", "trans" if flip_a else "no_trans", "trans" if flip_b else "no_trans", m, n, k,
        1.0, max(m if flip_a else k, 1), stride_a, max(k if flip_b else n, 1), stride_b, 0.0,
        max(n, 1), m * n, count, "C",
    )  # fmt: skip
    return _MatmulPlan(shape, plan, halves, spread_a, spread_b)


def _spread(own: Shape, lead: Shape, elements: int) -> tuple[int, tuple[Shape, Shape] | None]:
    """The elements from one matrix of a batch of ``lead`` to the next, and how an operand whose
    leading axes are ``own`` is spread for that."""
    if product(own) == 1:
        return 0, None
    if product(own) == product(lead):
        return elements, None
    return elements, ((*own, elements), (*lead, elements))


class Arithmetic(ExecutorBase):
    """add to div and the matrix products of a KernelExecutor.

    Shapes are broadcast by NumPy's rules. f16 arrays are computed in float32; whole numbers, modulo
    2^32 (u8: 256), do not mix with floats. A number in an array's place takes the other one's
    dtype. The operators + - * / @ of arrays are these operations.
    """

    def add(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """a + b"""
        return self._binary("add", a, b, out)

    def sub(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """a - b"""
        return self._binary("sub", a, b, out)

    def mul(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """a b, element by element"""
        return self._binary("mul", a, b, out)

    def div(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """a / b, of floats"""
        return self._binary("div", a, b, out)

    def _binary(self, op: str, a: Operand, b: Operand, out: DeviceArray | None) -> DeviceArray:
        dtypes = FLOATS if op == "div" else (*FLOATS, *WHOLE, DType.U8)
        like = next((x for x in (a, b) if isinstance(x, DeviceArray)), None)
        if like is None:
            raise InvalidArgument(op, "a", a, "a DeviceArray, here or as b")
        first = self._operand(op, "a", a, like, dtypes)
        second = self._operand(op, "b", b, like, dtypes)
        kinds = {first.dtype, second.dtype}
        if not kinds <= set(FLOATS) and len(kinds) > 1:
            raise InvalidArgument(
                op, "b", b, f"a dtype that goes with a's {first.dtype} (cast converts)"
            )
        shape = shapes.broadcast(op, first.shape, second.shape)
        if not first.dtype.is_float:
            result = self._out(op, out, shape, first.dtype, (first.dtype,))
        else:
            kind = DType.F16 if kinds == {DType.F16} else DType.F32
            result = self._out(op, out, shape, kind)
        if result.size:
            self._combine(op, first, second, result)
        return result

    def _operand(
        self, op: str, name: str, value: Any, like: DeviceArray, dtypes: tuple[DType, ...]
    ) -> DeviceArray:
        if isinstance(value, DeviceArray) or not hasattr(value, "__float__"):
            return self._array(op, name, value, dtypes)
        self._array(op, "b" if name == "a" else "a", like, dtypes)
        number(op, name, value, like.dtype)
        return self.full((), value, like.dtype)

    def _combine(self, op: str, a: DeviceArray, b: DeviceArray, result: DeviceArray) -> None:
        n = result.size
        kind = a.dtype.computed_as
        with Staging(self.device, op) as staging:
            x, y = staging.read(a.tensor, kind), staging.read(b.tensor, kind)
            if a.size == n == b.size and not kind.is_whole:  # these kernels work in place
                elementwise.binary(self.device, op, x, y, staging.write(result.tensor), n)
                return
            z = staging.write(result.tensor, a.tensor, b.tensor, dtype=kind)
            if a.size == n == b.size:
                integers.binary(self.device, op, x, y, z, n)
            else:
                name = f"integer_{op}" if kind.is_whole else op
                broadcast(self.device, name, x, a.shape, y, b.shape, z, result.shape, n)

    def matmul(
        self,
        a: DeviceArray,
        b: DeviceArray,
        out: DeviceArray | None = None,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ) -> DeviceArray:
        """The matrix product as NumPy's: leading axes are broadcast, a vector is a row on the left
        and a column on the right. The last two axes of an operand are exchanged on request, at no
        cost."""
        op = "matmul"
        kind = self._floats(op, a=a, b=b)
        if a.ndim == 0 or b.ndim == 0:
            raise InvalidArgument(
                op, "a" if a.ndim == 0 else "b", a if a.ndim == 0 else b, "an axis"
            )
        flip_a = flag(op, "transpose_a", transpose_a) and a.ndim > 1
        flip_b = flag(op, "transpose_b", transpose_b) and b.ndim > 1
        plan = _plan_matmul(a.shape, b.shape, flip_a, flip_b)
        if plan is None:
            k, other = _contracted(a.shape, b.shape, flip_a, flip_b)
            raise InvalidArgument(op, "b", b, f"{k} rows, as a has columns, not {other}")
        result = self._out(op, out, plan.shape, kind)
        if result.size == 0:
            return result
        if kind is result.dtype is DType.F16 and plan.halves is not None:
            with Staging(self.device, op) as staging:
                c = staging.write(result.tensor, a.tensor, b.tensor, dtype=DType.F16)
                gemm_f16.gemm_f16(self.device, plan.halves, a.tensor.buffer, b.tensor.buffer, c)
            return result
        with Staging(self.device, op) as staging:
            c = staging.write(result.tensor, a.tensor, b.tensor)
            left = self._batch(op, staging, a, plan.spread_a)
            right = self._batch(op, staging, b, plan.spread_b)
            gemm.gemm(self.device, plan.gemm, left, right, c)
        return result

    def _batch(
        self, op: str, staging: Staging, x: DeviceArray, spread: tuple[Shape, Shape] | None
    ) -> Allocation:
        """A buffer of float32 matrices, spread from a shape to one that it broadcasts to."""
        buffer = staging.read(x.tensor)
        if spread is None:
            return buffer
        own, full = spread
        whole = staging.temporary(DType.F32, product(full))
        if full[-1]:
            gather(self.device, op, buffer, shapes.broadcast_strides(own, full), whole, full)
        return whole

    def linear(
        self,
        x: DeviceArray,
        w: DeviceArray,
        bias: DeviceArray | None = None,
        *,
        activation: Activation | str | None = None,
        residual: DeviceArray | None = None,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """f(x w + bias) + residual in one go: x of shape [.., K], w [K, N], bias [N], residual as
        the result, [.., N]. The activation f is relu, gelu (the tanh form), silu, gelu_erf or
        none. Floats."""
        op = "linear"
        given = {"x": x, "w": w, "bias": bias, "residual": residual}
        kind = self._floats(op, **{name: y for name, y in given.items() if y is not None})
        function = None
        if activation is not None:
            function = choice(op, "activation", activation, Activation).value
        if x.ndim == 0:
            raise InvalidArgument(op, "x", x, "an axis")
        k = x.shape[-1]
        if w.ndim != 2 or w.shape[0] != k:
            raise InvalidArgument(op, "w", w, f"shape ({k}, N), as x has {k} columns")
        n = w.shape[1]
        shape = (*x.shape[:-1], n)
        if bias is not None and bias.shape != (n,):
            raise InvalidArgument(op, "bias", bias, f"shape {(n,)}")
        if residual is not None and residual.shape != shape:
            raise InvalidArgument(op, "residual", residual, f"shape {shape}")
        result = self._out(op, out, shape, kind)
        if result.size == 0:
            return result
        plan = gemm.plan_product(op, product(shape[:-1]), n, k)
        with Staging(self.device, op) as staging:
            read = [y.tensor for y in given.values() if y is not None]
            y = staging.write(result.tensor, *read)
            gemm.gemm(
                self.device,
                plan,
                staging.read(x.tensor),
                staging.read(w.tensor),
                y,
                None if bias is None else staging.read(bias.tensor),
                function,
                None if residual is None else staging.read(residual.tensor),
            )
        return result

    def batched_matmul(
        self, a: DeviceArray, b: DeviceArray, out: DeviceArray | None = None
    ) -> DeviceArray:
        """The products of two batches of as many matrices: [.., M, K] and [.., K, N]."""
        op = "batched_matmul"
        self._floats(op, a=a, b=b)
        if a.ndim < 3:
            raise InvalidArgument(op, "a", a, "at least 3 axes; matmul takes single matrices")
        if b.ndim != a.ndim or b.shape[:-2] != a.shape[:-2]:
            raise InvalidArgument(op, "b", b, f"{a.shape[:-2]} before its last two axes, as a has")
        if b.shape[-2] != a.shape[-1]:
            raise InvalidArgument(op, "b", b, f"{a.shape[-1]} rows, as a has columns")
        if out is not None:
            self._out(op, out, (*a.shape[:-1], b.shape[-1]), DType.F32)
        return self.matmul(a, b, out)
