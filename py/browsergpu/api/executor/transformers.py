"""What transformers are made of: attention, and a block of it with its projections."""

from __future__ import annotations

from math import sqrt

from browsergpu.api.executor.base import FLOATS, ExecutorBase
from browsergpu.array import attention, masks
from browsergpu.array.device_array import DeviceArray
from browsergpu.core import checks
from browsergpu.core.checks import product
from browsergpu.core.dtypes import DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.kernels.attention import plan_attention


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
        plan = plan_attention(product(lead), 1, seq_q, seq_kv, head_dim, factor, later)
        limits = spread = None
        if mask is not None:
            limits = self._array(op, "mask", mask, (*FLOATS, DType.BOOL)).tensor
            spread = masks.broadcast(op, mask, limits, (*lead, seq_q, seq_kv))
        result = self._out(op, out, q.shape, kind)
        if result.size == 0:
            return result
        attention.attention(
            self.device, op, plan, q.tensor, k.tensor, v.tensor, result.tensor, limits, spread
        )
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
        width = x.shape[-1]
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
        attention.block(
            self.device, op, x.tensor, result.tensor, w_qkv.tensor, w_out.tensor,
            None if b_qkv is None else b_qkv.tensor, None if b_out is None else b_out.tensor,
            count, later,
        )  # fmt: skip
        return result
