"""Causal attention to a cache of keys and values."""

from __future__ import annotations

from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings

#: Maximum elements of a head, which must be a multiple of 4.
WIDEST = 512


def attend(
    build: Build, q: Slot, keys: Slot, values: Slot, position: Slot, y: Slot,
    shape: tuple[int, int, int], kv_heads: int, capacity: int, scale: float, softcap: float,
    window: int,
) -> None:  # fmt: skip
    """Add y = attention of queries [queries, heads, width] to a cache.

    Parameters
    ----------
    keys, values
        Float32 of shape [kv_heads, capacity, width].
    position
        The position of the first query, int32.
    softcap
        Scores become softcap tanh(score / softcap), unless 0.
    window
        How many keys up to its own a query attends to. 0 for all.
    """
    queries, heads, width = shape
    build.dispatch(
        "cached_attention", "", (heads, queries, 1), (q, keys, values, position, y), queries,
        heads, kv_heads, width // 4, capacity, window, scale, softcap,
    )  # fmt: skip


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "cached_attention", "cached_attention.wgsl",
            bindings("q", "keys", "values", "position", "y"),
            params(
                "queries: u32", "heads: u32", "kv_heads: u32", "quads: u32", "capacity: u32",
                "window: u32", "scale: f32", "softcap: f32",
            ),
        ),
    )
)  # fmt: skip
