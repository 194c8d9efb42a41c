"""Elementwise arithmetic with broadcasting, and matrix products."""

from __future__ import annotations

from struct import pack
from typing import Any

from browsergpu.compat.executor.base import ExecutorBase, number
from browsergpu.engine.core import shapes
from browsergpu.engine.core.checks import choice, flag
from browsergpu.engine.core.dtypes import FLOATS, NUMBERS, DType
from browsergpu.engine.core.enums import Activation
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors import pointwise
from browsergpu.engine.tensors.device_array import DeviceArray
from browsergpu.engine.tensors.matmul import multiply, planned
from browsergpu.engine.tensors.operand_checks import has_shape

Operand = DeviceArray | float


def _dtypes(op: str) -> tuple[DType, ...]:
    return FLOATS if op == "div" else NUMBERS


class Arithmetic(ExecutorBase):
    """The methods add to div and the matrix products of a KernelExecutor.

    Shapes are broadcast by NumPy's rules. f16 arrays are computed in float32. Integers are computed
    modulo 2^32 (u8: 256) and cannot be combined with floats. A Python number takes the dtype of the
    array. The array operators + - * / @ call these methods.
    """

    def add(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """Return a + b."""
        return self._binary("add", a, b, out)

    def sub(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """Return a - b."""
        return self._binary("sub", a, b, out)

    def mul(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """Return a b, element by element."""
        return self._binary("mul", a, b, out)

    def div(self, a: Operand, b: Operand, out: DeviceArray | None = None) -> DeviceArray:
        """Return a / b for floats."""
        return self._binary("div", a, b, out)

    def _binary(self, op: str, a: Operand, b: Operand, out: DeviceArray | None) -> DeviceArray:
        if not isinstance(a, DeviceArray):
            if not isinstance(b, DeviceArray):
                raise InvalidArgument(op, "a", a, "a DeviceArray, here or as b")
            return self._with_number(op, ("b", b), ("a", a), out, reverse=True)
        if not isinstance(b, DeviceArray):
            return self._with_number(op, ("a", a), ("b", b), out, reverse=False)
        dtypes = _dtypes(op)
        first, second = self._array(op, "a", a, dtypes), self._array(op, "b", b, dtypes)
        kinds = {first.dtype, second.dtype}
        if not kinds <= set(FLOATS) and len(kinds) > 1:
            raise InvalidArgument(
                op, "b", b, f"a dtype that goes with a's {first.dtype} (see cast)"
            )
        shape = shapes.broadcast(op, first.shape, second.shape)
        if not first.dtype.is_float:
            result = self._out(op, out, shape, first.dtype, (first.dtype,))
        else:
            kind = DType.F16 if kinds == {DType.F16} else DType.F32
            result = self._out(op, out, shape, kind)
        if result.size:
            pointwise.binary(self.device, op, op, first, second, result)
        return result

    def _with_number(
        self,
        op: str,
        array: tuple[str, DeviceArray],
        given: tuple[str, Any],
        out: DeviceArray | None,
        *,
        reverse: bool,
    ) -> DeviceArray:
        """Combine an array and a number, given with their argument names.

        The number is converted to the array's dtype. With ``reverse``, the number is the left
        operand.
        """
        name, value = given
        if not hasattr(value, "__float__"):
            raise InvalidArgument(op, name, value, "a DeviceArray (see from_numpy), or a number")
        x = self._array(op, *array, _dtypes(op))
        scalar = number(op, name, value, x.dtype)
        dtypes = FLOATS if x.dtype.is_float else (x.dtype,)
        result = self._out(op, out, x.shape, x.dtype, dtypes)
        if result.size:
            word = pack("<f", scalar) if x.dtype.is_float else scalar.tobytes()
            bits = int.from_bytes(word, "little")
            pointwise.with_number(self.device, op, x, bits, result, reverse=reverse)
        return result

    def matmul(
        self,
        a: DeviceArray,
        b: DeviceArray,
        out: DeviceArray | None = None,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ) -> DeviceArray:
        """Return the matrix product, as NumPy's.

        Leading axes are broadcast. A vector is a row on the left and a column on the right.
        ``transpose_a`` and ``transpose_b`` exchange the last two axes of an operand at no cost.
        """
        op = "matmul"
        kind = self._floats(op, a=a, b=b)
        if a.ndim == 0 or b.ndim == 0:
            raise InvalidArgument(
                op, "a" if a.ndim == 0 else "b", a if a.ndim == 0 else b, "have an axis"
            )
        flip_a = flag(op, "transpose_a", transpose_a) and a.ndim > 1
        flip_b = flag(op, "transpose_b", transpose_b) and b.ndim > 1
        plan, left, right = planned(op, a, b, flip_a, flip_b)
        result = self._out(op, out, plan.shape, kind)
        if result.size == 0:
            return result
        multiply(self.device, op, plan, left, right, result)
        return result

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
        """Return f(x w + bias) + residual, as one fused operation.

        Parameters
        ----------
        x : DeviceArray
            [..., K], of floats.
        w : DeviceArray
            [K, N].
        bias : DeviceArray, optional
            [N].
        activation : str, optional
            f: "relu", "gelu" (the tanh form), "silu" or "gelu_erf".
        residual : DeviceArray, optional
            [..., N].
        out : DeviceArray, optional
            Array for the result.

        Returns
        -------
        DeviceArray
            [..., N].
        """
        op = "linear"
        given = {"x": x, "w": w, "bias": bias, "residual": residual}
        kind = self._floats(op, **{name: y for name, y in given.items() if y is not None})
        function = None
        if activation is not None:
            function = choice(op, "activation", activation, Activation).value
        if x.ndim == 0:
            raise InvalidArgument(op, "x", x, "have an axis")
        k = x.shape[-1]
        if w.ndim != 2 or w.shape[0] != k:
            raise InvalidArgument(op, "w", w, f"have shape ({k}, N), because x has {k} columns")
        n = w.shape[1]
        shape = (*x.shape[:-1], n)
        if bias is not None:
            has_shape(op, "bias", bias, (n,))
        if residual is not None:
            has_shape(op, "residual", residual, shape)
        result = self._out(op, out, shape, kind)
        if result.size == 0:
            return result
        plan, left, right = planned(op, x, w)
        multiply(self.device, op, plan, left, right, result, bias, function, residual)
        return result

    def batched_matmul(
        self, a: DeviceArray, b: DeviceArray, out: DeviceArray | None = None
    ) -> DeviceArray:
        """Return the products of two batches of matrices, [..., M, K] and [..., K, N].

        The leading axes must be equal.
        """
        op = "batched_matmul"
        self._floats(op, a=a, b=b)
        if a.ndim < 3:
            raise InvalidArgument(
                op, "a", a, "have at least 3 axes", "matmul takes single matrices."
            )
        if b.ndim != a.ndim or b.shape[:-2] != a.shape[:-2]:
            raise InvalidArgument(
                op, "b", b, f"have shape {a.shape[:-2]} before its last two axes, as a"
            )
        if b.shape[-2] != a.shape[-1]:
            raise InvalidArgument(op, "b", b, f"have {a.shape[-1]} rows, as many as a has columns")
        if out is not None:
            self._out(op, out, (*a.shape[:-1], b.shape[-1]), DType.F32)
        return self.matmul(a, b, out)
