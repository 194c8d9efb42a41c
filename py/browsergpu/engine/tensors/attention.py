"""Attention of checked float tensors. Outputs may be inputs."""

from __future__ import annotations

from math import sqrt

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.device.device import Device
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.matmul import gemm
from browsergpu.engine.kernels.matmul.products import B_HALVES, BIAS_HALVES
from browsergpu.engine.kernels.networks import attention as kernels
from browsergpu.engine.kernels.networks import attention_gradients as gradient_kernels
from browsergpu.engine.kernels.networks.attention import AttentionPlan
from browsergpu.engine.kernels.networks.attention_gradients import GradientPlan
from browsergpu.engine.tensors.operand_checks import broadcast_mask, has_axes, has_shape
from browsergpu.engine.tensors.staging import Operand, Staging, launch, of_operands
from browsergpu.engine.tensors.view import View

#: The broadcast of a mask: the extent of the inner leading index, and strides of the outer, inner,
#: query and key indices.
Spread = tuple[int, tuple[int, int, int, int]]


def plan(
    op: str,
    q: View,
    k: View,
    v: View,
    mask: View | None,
    scale: float | None,
    *,
    causal: bool,
) -> tuple[AttentionPlan, Spread | None]:
    """Plan attention and the broadcast of its mask.

    Parameters
    ----------
    op
        The name of the function, for error messages.
    q
        Queries of shape [..., S, D].
    k, v
        Keys and values of shape [..., T, D].
    mask
        A mask that broadcasts to [..., S, T].
    scale
        The factor of the scores, by default 1 / sqrt(D).
    causal
        Mask the keys after each query.

    Raises
    ------
    InvalidArgument
        If the shapes do not match.
    """
    has_axes(op, "q", q, 2, "have shape [.., S, D]")
    *lead, seq_q, head_dim = q.shape
    if len(k.shape) < 2 or k.shape != (*lead, k.shape[-2], head_dim):
        expected = ", ".join(map(str, (*lead, "T", head_dim)))
        raise InvalidArgument(op, "k", k, f"have shape [{expected}]")
    has_shape(op, "v", v, k.shape)
    seq_kv = k.shape[-2]
    factor = 1 / sqrt(max(head_dim, 1)) if scale is None else scale
    problem = kernels.plan_attention(product(lead), 1, seq_q, seq_kv, head_dim, factor, causal)
    spread = None
    if mask is not None:
        spread = broadcast_mask(op, mask, (*lead, seq_q, seq_kv))
    return problem, spread


def takes(device: Device, plan: AttentionPlan, *, is_half: bool) -> bool:
    """Whether kernels read arrays as they are, without casts to float32."""
    return not is_half or kernels.takes_halves(device.facts, plan)


def attention(
    device: Device,
    op: str,
    plan: AttentionPlan,
    q: View,
    k: View,
    v: View,
    o: View,
    mask: View | None = None,
    spread: Spread | None = None,
) -> None:
    """Compute o = softmax(scale q kᵀ, mask) v for nonempty o.

    A float mask is added to the scores. A bool mask selects them. ``spread`` is its broadcast.
    """
    launch(device, op, _attention, (q, k, v, o, mask), plan, spread)


@of_operands
def _attention(
    build: Build,
    q: Operand,
    k: Operand,
    v: Operand,
    o: Operand,
    mask: Operand | None,
    plan: AttentionPlan,
    spread: Spread | None,
) -> None:
    staging = Staging(build)
    halves = all(x.dtype is DType.F16 for x in (q, k, v, o))
    if mask is None and halves and kernels.takes_halves(build.facts, plan):
        y = staging.write(o, q, k, v, dtype=DType.F16)
        kernels.attention_f16(build, q.slot, k.slot, v.slot, y, plan)
    else:
        y = staging.write(o, q, k, v, mask)
        limits = None
        if mask is not None and spread is not None:
            is_bool = mask.dtype is DType.BOOL
            slot = mask.slot if is_bool else staging.read(mask)
            limits = kernels.Mask(slot, "bool" if is_bool else "float", *spread)
        first, second, third = (staging.read(x) for x in (q, k, v))
        kernels.attention(build, first, second, third, y, plan, limits)
    staging.deliver()


def gradients(
    device: Device,
    op: str,
    plan: GradientPlan,
    q: View,
    k: View,
    v: View,
    g: View,
    o: View,
    d_q: View,
    d_kv: View,
) -> None:
    """Compute the gradients for q, k and v from the gradient g for attention's result o.

    All views have one dtype, float32 or float16. The outputs are none of the inputs.
    """
    launch(device, op, _gradients, (q, k, v, g, o, d_q, d_kv), plan)


@of_operands
def _gradients(
    build: Build,
    q: Operand,
    k: Operand,
    v: Operand,
    g: Operand,
    o: Operand,
    d_q: Operand,
    d_kv: Operand,
    plan: GradientPlan,
) -> None:
    gradient_kernels.gradients(
        build, q.slot, k.slot, v.slot, g.slot, o.slot, d_q.slot, d_kv.slot, plan,
        is_half=q.dtype is DType.F16,
    )  # fmt: skip


def block(
    device: Device,
    op: str,
    x: View,
    y: View,
    w_qkv: View,
    w_out: View,
    b_qkv: View | None,
    b_out: View | None,
    heads: int,
    causal: bool,
) -> None:
    """Compute y = x + attention(x w_qkv + b_qkv) w_out + b_out for nonempty y.

    The product with w_qkv holds q, k and v, each with its heads side by side. The scale is 1 /
    sqrt(E / heads).
    """
    launch(device, op, _block, (x, y, w_qkv, w_out, b_qkv, b_out), op, heads, causal)


@of_operands
def _block(
    build: Build,
    x: Operand,
    y: Operand,
    w_qkv: Operand,
    w_out: Operand,
    b_qkv: Operand | None,
    b_out: Operand | None,
    op: str,
    heads: int,
    causal: bool,
) -> None:
    seq, width = x.shape[-2:]
    count, head_dim = x.size // width, width // heads
    plan = kernels.plan_attention(
        count // seq, heads, seq, seq, head_dim, 1 / sqrt(head_dim), causal,
        kernels.packed(heads, head_dim),
    )  # fmt: skip
    staging = Staging(build)
    source = staging.read(x)
    projected = staging.temporary(DType.F32, 3 * x.size)
    _dense(build, op, staging, source, w_qkv, b_qkv, projected, count)
    mixed = staging.temporary(DType.F32, x.size)
    kernels.attention(build, projected, projected, projected, mixed, plan)
    target = staging.write(y, x, w_out, b_out)
    _dense(build, op, staging, mixed, w_out, b_out, target, count, source)
    staging.deliver()


def _dense(
    build: Build,
    op: str,
    staging: Staging,
    x: Slot,
    weight: Operand,
    bias: Operand | None,
    y: Slot,
    rows: int,
    residual: Slot | None = None,
) -> None:
    """Compute y = x weight + bias + residual in float32. The weight and bias may be float16."""
    inputs, outputs = weight.shape
    plan = gemm.plan_product(op, rows, outputs, inputs)
    matrix, halves = staging.read_halves(weight, B_HALVES)
    added = None
    if bias is not None:
        added, some = staging.read_halves(bias, BIAS_HALVES if halves else 0)
        halves |= some
    gemm.gemm(build, x, matrix, y, plan, added, None, residual, halves)
