"""Attention of one token of each sequence to a cache, which also gets the token's key and value."""

from __future__ import annotations

from browsergpu.engine.core.grids import MAX_PER_DIMENSION, blocks
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

#: Maximum elements of a head, which must be a multiple of 4.
_WIDEST = 256
#: Up to this number of keys, a workgroup computes a head. A second kernel costs more then.
_ALONE = 1024
#: The fewest keys of a workgroup with others, and the most workgroups that share a head.
_PART, _PARTS = 256, 64


def takes(tokens: int, sequences: int, width: int) -> bool:
    """Return whether :func:`attend` computes heads of this width of so many tokens."""
    is_one = tokens == sequences <= MAX_PER_DIMENSION
    return is_one and not width % 4 and 0 < width <= _WIDEST


def attend(
    build: Build, x: Slot, norms: Slot | None, angles: Slot, position: Slot, slots: Slot,
    keys: Slot, values: Slot, y: Slot, tokens: int, heads: int, kv_heads: int, width: int,
    rotated: int, adjacent: bool, entries: int, capacity: int, eps: float, scale: float,
    softcap: float, window: int,
) -> None:  # fmt: skip
    """Add y [tokens, heads, width] = attention of x [tokens, heads + 2 kv_heads, width] to a cache.

    Each token is of a sequence of its own. The other arguments are those of ``joined_heads.split``
    and ``cached_attention.attend``, for a cache in float32.
    """
    keys_seen = min(window, capacity) if window else capacity
    part = keys_seen if keys_seen <= _ALONE else max(_PART, blocks(keys_seen, _PARTS))
    parts = blocks(keys_seen, part)
    target = y if parts == 1 else build.temporary(4 * tokens * heads * parts * (width + 2))
    build.dispatch(
        "token_attention", "", (heads, tokens, parts),
        (x, x if norms is None else norms, angles, position, slots, keys, values, target), heads,
        kv_heads, width, rotated, int(adjacent), capacity, entries, 1, int(norms is not None),
        window, eps, scale, part, softcap,
    )  # fmt: skip
    if parts > 1:
        build.dispatch(
            "token_attention_join", "", (heads, tokens, 1), (target, y), heads, width, parts
        )
        build.release(target)


_PARAMS = params(
    "heads: u32", "kv_heads: u32", "width: u32", "rotated: u32", "adjacent: u32", "capacity: u32",
    "entries: u32", "each: u32", "normed: u32", "window: u32", "eps: f32", "scale: f32",
    "part: u32", "softcap: f32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "token_attention", "token_attention.wgsl",
            (
                *bindings("x", "norms", "angles", "position", "slots", written=0),
                *bindings("keys", "values", "y", first=5, written=3),
            ),
            _PARAMS,
        ),
        Kernel(
            "token_attention_join", "token_attention_join.wgsl", bindings("x", "y"),
            params("heads: u32", "width: u32", "parts: u32"),
        ),
    )
)  # fmt: skip
