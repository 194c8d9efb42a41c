"""Elementwise operations, matrix products and sums."""

from __future__ import annotations

from browsergpu.compat.tensor_backend.handles import TensorHandle
from browsergpu.compat.tensor_backend.store import TensorStore
from browsergpu.engine.core import shapes
from browsergpu.engine.core.dtypes import FLOATS, NUMBERS, WHOLE, DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.showing import Description
from browsergpu.engine.tensors import matmul, pointwise, reductions
from browsergpu.engine.tensors.nn import around
from browsergpu.engine.tensors.operand_checks import has_axes, has_shape


class Arithmetic(TensorStore):
    """The methods pointwise_add, gelu, relu, matmul, matmul_bias and reduce_sum."""

    def pointwise_add(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """Compute out = a + b for equal shapes.

        Operands are floats, or have one dtype of i32, u32 (modulo 2^32) and u8 (modulo 256).
        """
        op = "pointwise_add"
        device = self._ready(op)
        first = self._tensor(op, "a", a, NUMBERS)
        second = self._tensor(op, "b", b, NUMBERS)
        result = self._tensor(op, "out", out, NUMBERS)
        has_shape(op, "b", second, first.shape)
        has_shape(op, "out", result, first.shape)
        kinds = {first.dtype, second.dtype, result.dtype}
        if not (kinds <= set(FLOATS) or len(kinds) == 1):
            raise InvalidArgument(
                op,
                "dtypes",
                Description(", ".join(sorted(kinds))),
                "only floats, or one of i32, u32 and u8",
            )
        if first.size:
            pointwise.binary(device, op, "add", first, second, result)

    def gelu(self, input: TensorHandle, out: TensorHandle, approximate: str = "tanh") -> None:
        """Compute 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x³))).

        ``approximate="none"`` computes the exact 0.5 x (1 + erf(x / sqrt(2))).
        https://arxiv.org/abs/1606.08415
        """
        if approximate not in ("tanh", "none"):
            raise InvalidArgument("gelu", "approximate", approximate, "'tanh' or 'none'")
        self._unary("gelu", input, out, "gelu" if approximate == "tanh" else "gelu_erf")

    def relu(self, input: TensorHandle, out: TensorHandle) -> None:
        """Compute max(x, 0)."""
        self._unary("relu", input, out, "relu")

    def _unary(self, op: str, input: TensorHandle, out: TensorHandle, function: str) -> None:
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        has_shape(op, "out", y, x.shape)
        if x.size:
            pointwise.unary(device, op, function, x, y)

    def matmul(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        """Compute out = a b for [..., M, K] and [..., K, N].

        The leading axes are equal, or one operand has none and is used for all.
        """
        self._matmul("matmul", a, b, None, out)

    def matmul_bias(
        self, a: TensorHandle, b: TensorHandle, bias: TensorHandle, out: TensorHandle
    ) -> None:
        """Compute :meth:`matmul` plus a bias [N] on every row, added in the product's kernel."""
        self._matmul("matmul_bias", a, b, bias, out)

    def _matmul(
        self,
        op: str,
        a: TensorHandle,
        b: TensorHandle,
        bias: TensorHandle | None,
        out: TensorHandle,
    ) -> None:
        device = self._ready(op)
        left = self._tensor(op, "a", a, FLOATS)
        right = self._tensor(op, "b", b, FLOATS)
        result = self._tensor(op, "out", out, FLOATS)
        added = None if op == "matmul" else self._tensor(op, "bias", bias, FLOATS)
        has_axes(op, "a", left, 2, "have at least 2 axes")
        has_axes(op, "b", right, 2, "have at least 2 axes")
        *lead_a, m, _ = left.shape
        *lead_b, _, n = right.shape
        if lead_a and lead_b and lead_a != lead_b:
            raise InvalidArgument(op, "b", right, f"have leading dimensions {tuple(lead_a)}, as a")
        plan = matmul.plan_matmul(op, left, right)
        has_shape(op, "out", result, (*(lead_a or lead_b), m, n))
        if added is not None:
            has_shape(op, "bias", added, (n,))
        if result.size:
            matmul.multiply(device, op, plan, left, right, result, added)

    def reduce_sum(self, input: TensorHandle, out: TensorHandle, dim: int | None) -> None:
        """Sum along an axis, or over all elements for None.

        ``out`` lacks the axis or has it with extent 1. i32, u32, u8 and bool are added modulo 2^32
        into i32 or u32.
        """
        op = "reduce_sum"
        device = self._ready(op)
        x = self._tensor(op, "input", input, (*NUMBERS, DType.BOOL))
        y = self._tensor(op, "out", out, FLOATS if x.dtype.is_float else WHOLE)
        if dim is None:
            outer, length, inner = 1, x.size, 1
            allowed = {(), (1,) * len(x.shape)}
        else:
            axis = shapes.axis(op, "dim", dim, len(x.shape))
            outer, length, inner = around(x.shape, axis)
            before, after = x.shape[:axis], x.shape[axis + 1 :]
            allowed = {before + after, (*before, 1, *after)}
        if y.shape not in allowed:
            expected = " or ".join(map(str, sorted(allowed, key=len)))
            raise InvalidArgument(op, "out", y, f"have shape {expected}")
        if y.size == 0:
            return
        steps = ((outer, length, inner),)
        reductions.reduce(device, op, "sum", x, y, steps)
