"""What transformers are made of: attention, and a block of it with its projections."""

from __future__ import annotations

from math import sqrt

from browsergpu import checks
from browsergpu.checks import product
from browsergpu.device_array import DeviceArray
from browsergpu.dtypes import DType
from browsergpu.errors import InvalidArgument
from browsergpu.executor.base import FLOATS, ExecutorBase
from browsergpu.memory import Allocation
from browsergpu.ops import attention, gemm
from browsergpu.ops.products import B_HALVES, BIAS_HALVES
from browsergpu.staging import Staging
from browsergpu.tensors import masks


class Transformers(ExecutorBase):
    """attention and attention_block of a KernelExecutor. Floats only: f16 arrays are computed with
    float32 sums."""

    def attention(
        self,
        q: DeviceArray,
        k: DeviceArray,
        v: DeviceArray,
        *,
        causal: bool = False,
        scale: float | None = None,
        mask: DeviceArray | None = None,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """softmax(scale q kᵀ) v of [.., S, D] queries and [.., T, D] keys and values; the scale is
        1 / sqrt(D) if none is given.

        Where ``causal``, query i sees the first i + 1 keys. A mask is broadcast to [.., S, T],
        leading axes in at most two groups: floats are added to the scaled scores, and keys whose
        bool is False are not seen. Queries that see no key become NaN, zeros where T is 0.
        """
        op = "attention"
        kind = self._floats(op, q=q, k=k, v=v)
        if q.ndim < 2:
            raise InvalidArgument(op, "q", q, "[.., S, D]")
        *lead, seq_q, head_dim = q.shape
        if k.ndim != q.ndim or k.shape != (*lead, k.shape[-2], head_dim):
            expected = ", ".join(map(str, (*lead, "T", head_dim)))
            raise InvalidArgument(op, "k", k, f"shape [{expected}]")
        if v.shape != k.shape:
            raise InvalidArgument(op, "v", v, f"k's shape {k.shape}")
        seq_kv = k.shape[-2]
        later = checks.flag(op, "causal", causal)
        factor = 1 / sqrt(max(head_dim, 1)) if scale is None else scale
        plan = attention.plan_attention(product(lead), 1, seq_q, seq_kv, head_dim, factor, later)
        limits = None
        if mask is not None:
            limits = self._array(op, "mask", mask, (*FLOATS, DType.BOOL)).tensor
            inner, strides = masks.broadcast(op, mask, limits, (*lead, seq_q, seq_kv))
        result = self._out(op, out, q.shape, kind)
        if result.size == 0:
            return result
        reads = (q.tensor, k.tensor, v.tensor)
        halves = all(array.dtype is DType.F16 for array in (q, k, v, result))
        with Staging(self.device, op) as staging:
            if limits is None and halves and attention.takes_halves(self.device, plan):
                y = staging.write(result.tensor, *reads, dtype=DType.F16)
                first, second, third = (tensor.buffer for tensor in reads)
                attention.attention_f16(self.device, plan, first, second, third, y)
                return result
            added = None
            if limits is None:
                y = staging.write(result.tensor, *reads)
            else:
                y = staging.write(result.tensor, *reads, limits)
                is_bool = limits.dtype is DType.BOOL
                buffer = limits.buffer if is_bool else staging.read(limits)
                added = attention.Mask(buffer, "bool" if is_bool else "float", inner, strides)
            first, second, third = (staging.read(tensor) for tensor in reads)
            attention.attention(self.device, plan, first, second, third, y, added)
        return result

    def attention_block(
        self,
        x: DeviceArray,
        w_qkv: DeviceArray,
        b_qkv: DeviceArray | None,
        w_out: DeviceArray,
        b_out: DeviceArray | None,
        *,
        heads: int,
        causal: bool = False,
        out: DeviceArray | None = None,
    ) -> DeviceArray:
        """x + (softmax(q kᵀ / sqrt(E / heads)) v) w_out + b_out, head by head, of [S, E] or
        [B, S, E].

        q, k and v are the parts of x w_qkv + b_qkv, [.., 3 E], each with its heads side by side.
        """
        op = "attention_block"
        kind = self._floats(op, x=x, w_qkv=w_qkv, w_out=w_out)
        if x.ndim not in (2, 3):
            raise InvalidArgument(op, "x", x, "[S, E] or [B, S, E]")
        seq, width = x.shape[-2:]
        for name, weight, columns in (("w_qkv", w_qkv, 3 * width), ("w_out", w_out, width)):
            if weight.shape != (width, columns):
                raise InvalidArgument(op, name, weight, f"shape {(width, columns)}")
        if b_qkv is not None:
            self._vector(op, "b_qkv", b_qkv, 3 * width)
        if b_out is not None:
            self._vector(op, "b_out", b_out, width)
        count = checks.integer(op, "heads", heads, 1)
        if width % count:
            raise InvalidArgument(op, "heads", heads, f"a divisor of x's {width} columns")
        later = checks.flag(op, "causal", causal)
        result = self._out(op, out, x.shape, kind)
        if result.size == 0:
            return result
        rows, head_dim = x.size // width, width // count
        plan = attention.plan_attention(
            rows // seq, count, seq, seq, head_dim, 1 / sqrt(head_dim), later,
            attention.packed(count, head_dim),
        )  # fmt: skip
        with Staging(self.device, op) as staging:
            source = staging.read(x.tensor)
            projected = staging.temporary(DType.F32, 3 * x.size)
            self._dense(op, staging, source, w_qkv, b_qkv, projected, rows)
            mixed = staging.temporary(DType.F32, x.size)
            attention.attention(self.device, plan, projected, projected, projected, mixed)
            reads = [array.tensor for array in (x, w_out, b_out) if array is not None]
            y = staging.write(result.tensor, *reads)
            self._dense(op, staging, mixed, w_out, b_out, y, rows, source)
        return result

    def _dense(
        self,
        op: str,
        staging: Staging,
        x: Allocation,
        weight: DeviceArray,
        bias: DeviceArray | None,
        y: Allocation,
        rows: int,
        residual: Allocation | None = None,
    ) -> None:
        """y = x weight + bias + residual, of float32 but for the weight and the bias"""
        inputs, outputs = weight.shape
        plan = gemm.plan_product(op, rows, outputs, inputs)
        halves = 0
        if weight.dtype is DType.F16:
            halves = B_HALVES
            if bias is not None and bias.dtype is DType.F16:
                halves |= BIAS_HALVES
        added = None
        if bias is not None:
            added = bias.tensor.buffer if halves & BIAS_HALVES else staging.read(bias.tensor)
        gemm.gemm(self.device, plan, x, weight.tensor.buffer, y, added, None, residual, halves)
