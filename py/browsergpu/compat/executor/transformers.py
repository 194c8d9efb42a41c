"""Transformer operations: attention, and an attention block with projections."""

from __future__ import annotations

from browsergpu.compat.executor.base import ExecutorBase
from browsergpu.engine.core import checks
from browsergpu.engine.core.dtypes import FLOATS, DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors import attention
from browsergpu.engine.tensors.device_array import DeviceArray
from browsergpu.engine.tensors.operand_checks import has_shape


class Transformers(ExecutorBase):
    """The methods attention and attention_block of a KernelExecutor.

    Operations take floats. f16 arrays are summed in float32.
    """

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
        """Return softmax(scale q kᵀ) v.

        Parameters
        ----------
        q : DeviceArray
            Queries, [..., S, D].
        k, v : DeviceArray
            Keys and values, [..., T, D].
        causal : bool
            Whether query i attends only to the first i + 1 keys.
        scale : float, optional
            1 / sqrt(D) by default.
        mask : DeviceArray, optional
            Broadcast to [..., S, T], with leading axes in at most two groups. A float mask is added
            to the scaled scores. A bool mask is False where a key is not attended to.
        out : DeviceArray, optional
            Array for the result.

        Returns
        -------
        DeviceArray
            [..., S, D]. Queries that attend to no key give 0.
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
        """Return x + (softmax(q kᵀ / sqrt(E / heads)) v) w_out + b_out for [S, E] or [B, S, E].

        q, k and v are the parts of x w_qkv + b_qkv, [..., 3 E]. Each has its heads side by side.
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
