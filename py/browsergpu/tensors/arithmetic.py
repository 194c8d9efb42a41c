"""Elements, matrix products and sums."""

from __future__ import annotations

from browsergpu import checks
from browsergpu.dtypes import DType
from browsergpu.errors import InvalidArgument
from browsergpu.ops import elementwise, gemm, integers, reduce
from browsergpu.staging import Staging
from browsergpu.tensor_contract import TensorHandle
from browsergpu.tensors.store import FLOATS, NUMBERS, WHOLE, TensorStore, around


class Arithmetic(TensorStore):
    """pointwise_add, gelu, relu, matmul, matmul_bias, reduce_sum."""

    def pointwise_add(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        op = "pointwise_add"
        device = self._ready(op)
        first = self._tensor(op, "a", a, NUMBERS)
        second = self._tensor(op, "b", b, NUMBERS)
        result = self._tensor(op, "out", out, NUMBERS)
        self._same_shape(op, "b", b, second, first)
        self._same_shape(op, "out", out, result, first)
        kinds = {first.dtype, second.dtype, result.dtype}
        if not (kinds <= set(FLOATS) or len(kinds) == 1):
            raise InvalidArgument(
                op, "dtypes", ", ".join(sorted(kinds)), "floats alone, or one of i32, u32 and u8"
            )
        if first.size == 0:
            return
        if not first.dtype.is_float:
            kind = first.dtype.computed_as
            with Staging(device, op) as staging:
                y = staging.write(result, first, second, dtype=kind)
                integers.binary(
                    device, "add", staging.read(first, kind), staging.read(second, kind), y,
                    first.size,
                )  # fmt: skip
            return
        with Staging(device, op) as staging:
            y = staging.write(result)
            elementwise.binary(
                device, "add", staging.read(first), staging.read(second), y, first.size
            )

    def gelu(self, input: TensorHandle, out: TensorHandle, approximate: str = "tanh") -> None:
        if approximate not in ("tanh", "none"):
            raise InvalidArgument("gelu", "approximate", approximate, "'tanh' or 'none'")
        self._unary("gelu", input, out, "gelu" if approximate == "tanh" else "gelu_erf")

    def relu(self, input: TensorHandle, out: TensorHandle) -> None:
        self._unary("relu", input, out, "relu")

    def _unary(self, op: str, input: TensorHandle, out: TensorHandle, function: str) -> None:
        device = self._ready(op)
        x = self._tensor(op, "input", input, FLOATS)
        y = self._tensor(op, "out", out, FLOATS)
        self._same_shape(op, "out", out, y, x)
        if x.size:
            with Staging(device, op) as staging:
                target = staging.write(y)
                elementwise.unary(device, function, staging.read(x), target, x.size)

    def matmul(self, a: TensorHandle, b: TensorHandle, out: TensorHandle) -> None:
        self._matmul("matmul", a, b, None, out)

    def matmul_bias(
        self, a: TensorHandle, b: TensorHandle, bias: TensorHandle, out: TensorHandle
    ) -> None:
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
        for name, given, tensor in (("a", a, left), ("b", b, right)):
            if len(tensor.shape) < 2:
                raise InvalidArgument(
                    op, name, given, f"at least 2 dimensions, not shape {tensor.shape}"
                )
        *lead_a, m, k = left.shape
        *lead_b, k_b, n = right.shape
        if k_b != k:
            raise InvalidArgument(op, "b", b, f"{k} rows, as a has columns, not {k_b}")
        if lead_a and lead_b and lead_a != lead_b:
            raise InvalidArgument(
                op, "b", b, f"leading dimensions {tuple(lead_a)} as a's, not {tuple(lead_b)}"
            )
        lead = lead_a or lead_b
        expected = (*lead, m, n)
        if result.shape != expected:
            raise InvalidArgument(op, "out", out, f"shape {expected}, not {result.shape}")
        if added is not None and added.shape != (n,):
            raise InvalidArgument(op, "bias", bias, f"shape {(n,)}, not {added.shape}")
        if lead_a and not lead_b:  # one matrix for all: the batch is further rows of a
            m, lead = m * checks.product(lead_a), []
        plan = gemm.plan_gemm(
            op, "no_trans", "no_trans", m, n, k, 1.0, max(k, 1), m * k if lead_a else 0,
            max(n, 1), k * n if lead_b else 0, 0.0, max(n, 1), m * n, checks.product(lead), "C",
        )  # fmt: skip
        with Staging(device, op) as staging:
            y = staging.write(result, left, right, *(() if added is None else (added,)))
            gemm.gemm(
                device,
                plan,
                staging.read(left),
                staging.read(right),
                y,
                None if added is None else staging.read(added),
            )

    def reduce_sum(self, input: TensorHandle, out: TensorHandle, dim: int | None) -> None:
        op = "reduce_sum"
        device = self._ready(op)
        x = self._tensor(op, "input", input, (*NUMBERS, DType.BOOL))
        y = self._tensor(op, "out", out, FLOATS if x.dtype.is_float else WHOLE)
        if dim is None:
            outer, length, inner = 1, x.size, 1
            allowed = {(), (1,) * len(x.shape)}
        else:
            axis = self._axis(op, "dim", dim, x)
            outer, length, inner = around(x.shape, axis)
            before, after = x.shape[:axis], x.shape[axis + 1 :]
            allowed = {before + after, (*before, 1, *after)}
        if y.shape not in allowed:
            shapes = " or ".join(map(str, sorted(allowed, key=len)))
            raise InvalidArgument(op, "out", out, f"shape {shapes}, not {y.shape}")
        if y.size == 0:
            return
        with Staging(device, op) as staging:
            if x.dtype.is_float:
                target = staging.write(y, x)
                plan = reduce.plan_reduce("sum", (outer, length, inner), 1)
                reduce.reduce(device, plan, staging.read(x), target)
                return
            target = staging.write(y, x, dtype=y.dtype)
            if length == 0:
                elementwise.fill(device, target, 0.0, y.size)  # the bits of 0 are 0
            else:
                source = staging.read(x, x.dtype.computed_as)
                integers.total(device, source, target, outer, length, inner)
