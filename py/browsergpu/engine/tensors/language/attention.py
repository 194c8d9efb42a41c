"""Attention to a cache, rotary position embeddings, and norms, of packed float32 views."""

from __future__ import annotations

from browsergpu.engine.core.dtypes import DType
from browsergpu.engine.device.device import Device
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.networks import (
    cached_attention,
    joined_heads,
    rotary,
    token_attention,
)
from browsergpu.engine.kernels.networks import rms_norm as rms_norm_kernel
from browsergpu.engine.tensors.staging import Operand, launch, of_operands
from browsergpu.engine.tensors.view import View


def rotate(
    device: Device, op: str, x: View, angles: View, position: View, slots: View, y: View,
    *, adjacent: bool,
) -> None:  # fmt: skip
    """Compute y = x [tokens, heads, width] rotated at the positions of its tokens.

    position and slots have an int32 for each sequence. y has the shape of x, or is a cache
    [slots, heads, capacity, width], or one in 8 bits. angles are [entries, rotated / 2, 2]. No
    extent is 0, except rotated.
    """
    launch(device, op, _rotate, (x, angles, position, slots, y), y.shape != x.shape, adjacent)


@of_operands
def _rotate(
    build: Build, x: Operand, angles: Operand, position: Operand, slots: Operand, y: Operand,
    to_cache: bool, adjacent: bool,
) -> None:  # fmt: skip
    tokens, heads, width = x.shape
    entries, pairs, _ = angles.shape
    write = rotary.quantize if y.dtype is DType.U32 else rotary.rotate
    write(
        build, x.slot, angles.slot, position.slot, slots.slot, y.slot, (tokens, heads, width),
        2 * pairs, adjacent, entries, position.size, y.shape[2] if to_cache else 0,
    )  # fmt: skip


def split_heads(
    device: Device, op: str, x: View, norms: View | None, angles: View, position: View, slots: View,
    keys: View, values: View, y: View, *, adjacent: bool, eps: float,
) -> None:  # fmt: skip
    """Split x [tokens, joined, width] into queries y [tokens, heads, width] and caches.

    Queries and keys are normalized with the weights ``norms`` [2, width], and rotated as by
    :func:`rotate`. No extent is 0, except rotated. Values are written if x has them.
    """
    views = x, norms, angles, position, slots, keys, values, y
    launch(device, op, _split_heads, views, adjacent, eps)


@of_operands
def _split_heads(
    build: Build, x: Operand, norms: Operand | None, angles: Operand, position: Operand,
    slots: Operand, keys: Operand, values: Operand, y: Operand, adjacent: bool, eps: float,
) -> None:  # fmt: skip
    entries, pairs, _ = angles.shape
    _, kv_heads, capacity, _ = keys.shape
    tokens, joined, width = x.shape
    joined_heads.split(
        build, x.slot, None if norms is None else norms.slot, angles.slot, position.slot,
        slots.slot, keys.slot, values.slot, y.slot, (tokens, joined, width), y.shape[1], kv_heads,
        2 * pairs, adjacent, entries, position.size, capacity, eps, is_int8=keys.dtype is DType.U32,
    )  # fmt: skip


def takes_token(x: View, heads: int, keys: View, position: View) -> bool:
    """Return whether :func:`attend_token` computes these operands.

    They are one token of each sequence, with queries, keys and values of heads that are not too
    wide, and a cache in float32.
    """
    tokens, joined, width = x.shape
    is_whole = joined == heads + 2 * keys.shape[1] and keys.dtype is DType.F32
    return is_whole and token_attention.takes(tokens, position.shape[0], width)


def attend_token(
    device: Device, op: str, x: View, norms: View | None, angles: View, position: View, slots: View,
    keys: View, values: View, y: View, *, adjacent: bool, eps: float, scale: float, softcap: float,
    window: int,
) -> None:  # fmt: skip
    """Compute :func:`attend` of the queries of x, after :func:`split_heads`, by one kernel."""
    views = x, norms, angles, position, slots, keys, values, y
    launch(device, op, _attend_token, views, adjacent, eps, scale, softcap, window)


@of_operands
def _attend_token(
    build: Build, x: Operand, norms: Operand | None, angles: Operand, position: Operand,
    slots: Operand, keys: Operand, values: Operand, y: Operand, adjacent: bool, eps: float,
    scale: float, softcap: float, window: int,
) -> None:  # fmt: skip
    entries, pairs, _ = angles.shape
    _, kv_heads, capacity, width = keys.shape
    tokens, heads, _ = y.shape
    token_attention.attend(
        build, x.slot, None if norms is None else norms.slot, angles.slot, position.slot,
        slots.slot, keys.slot, values.slot, y.slot, tokens, heads, kv_heads, width, 2 * pairs,
        adjacent, entries, capacity, eps, scale, softcap, window,
    )  # fmt: skip


def rms_norm(
    device: Device, op: str, x: View, weight: View, y: View, residual: View | None = None,
    *, eps: float,
) -> None:  # fmt: skip
    """Compute y = x / √(mean(x²) + eps) · weight + residual over the last axis of a nonempty x."""
    launch(device, op, _rms_norm, (x, weight, y, residual), eps)


@of_operands
def _rms_norm(
    build: Build, x: Operand, weight: Operand, y: Operand, residual: Operand | None, eps: float
) -> None:
    length, added = x.shape[-1], None if residual is None else residual.slot
    rms_norm_kernel.rms_norm(
        build, x.slot, weight.slot, y.slot, x.size // length, length, eps, added
    )


def attend(
    device: Device, op: str, q: View, keys: View, values: View, position: View, slots: View,
    y: View, *, scale: float, softcap: float, window: int,
) -> None:  # fmt: skip
    """Compute y = causal attention of q [queries, heads, width] to a cache, for a nonempty y."""
    views = q, keys, values, position, slots, y
    launch(device, op, _attend, views, scale, softcap, window)


@of_operands
def _attend(
    build: Build, q: Operand, keys: Operand, values: Operand, position: Operand, slots: Operand,
    y: Operand, scale: float, softcap: float, window: int,
) -> None:  # fmt: skip
    queries, heads, width = q.shape
    _, kv_heads, capacity, _ = keys.shape
    cached_attention.attend(
        build, q.slot, keys.slot, values.slot, position.slot, slots.slot, y.slot,
        (queries, heads, width), position.size, kv_heads, capacity, scale, softcap, window,
        is_int8=keys.dtype is DType.U32,
    )  # fmt: skip
