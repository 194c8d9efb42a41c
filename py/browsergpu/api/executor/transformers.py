"""What transformers are made of: attention, and a block of it with its projections."""

from __future__ import annotations

from browsergpu.api.executor.base import ExecutorBase
from browsergpu.core import checks
from browsergpu.core.dtypes import FLOATS, DType
from browsergpu.core.errors import InvalidArgument
from browsergpu.tensors import attention
from browsergpu.tensors.device_array import DeviceArray
from browsergpu.tensors.operand_checks import has_shape


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
        bool is False are not seen. Queries that see no key become 0.
        """
        op = "attention"
        kind = self._floats(op, q=q, k=k, v=v)
        limits = None if mask is None else self._array(op, "mask", mask, (*FLOATS, DType.BOOL))
        later = checks.flag(op, "causal", causal)
        plan, spread = attention.plan(op, q, k, v, limits, scale, causal=later)
        result = self._out(op, out, q.shape, kind)
        if result.size == 0:
            return result
        attention.attention(self.device, op, plan, q, k, v, result, limits, spread)
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
            raise InvalidArgument(op, "x", x, "have shape [S, E] or [B, S, E]")
        width = x.shape[-1]
        has_shape(op, "w_qkv", w_qkv, (width, 3 * width))
        has_shape(op, "w_out", w_out, (width, width))
        for name, bias, columns in (("b_qkv", b_qkv, 3 * width), ("b_out", b_out, width)):
            if bias is not None:
                has_shape(op, name, self._array(op, name, bias, FLOATS), (columns,))
        count = checks.integer(op, "heads", heads, 1)
        if width % count:
            raise InvalidArgument(op, "heads", heads, f"a divisor of x's {width} columns")
        later = checks.flag(op, "causal", causal)
        result = self._out(op, out, x.shape, kind)
        if result.size == 0:
            return result
        attention.block(self.device, op, x, result, w_qkv, w_out, b_qkv, b_out, count, later)
        return result
