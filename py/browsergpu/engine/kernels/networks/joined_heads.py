"""Queries, keys and values of one product: normalized, rotated, and written to a cache."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

_HEADS = 4  # of a workgroup


def split(
    build: Build, x: Slot, norms: Slot | None, angles: Slot, position: Slot, slots: Slot,
    keys: Slot, values: Slot, y: Slot, shape: tuple[int, int, int], heads: int, kv_heads: int,
    rotated: int, adjacent: bool, entries: int, sequences: int, capacity: int, eps: float,
    *, is_int8: bool,
) -> None:  # fmt: skip
    """Split x [tokens, joined, width] into queries y [tokens, heads, width] and caches.

    Parameters
    ----------
    norms
        Weights of the RMS norms of queries and keys, [2, width]. None for no norms.
    angles, position, slots, rotated, adjacent, entries, sequences
        As ``rotary.rotate`` takes them.
    keys, values
        Caches of ``kv_heads`` heads, as ``rotary.rotate`` or ``rotary.quantize`` writes them.
        Values are not written unless ``joined`` is heads + 2 kv_heads.
    """
    tokens, joined, width = shape
    build.dispatch(
        "joined_heads_int8" if is_int8 else "joined_heads", "",
        fold(blocks(tokens * joined, _HEADS)),
        (x, x if norms is None else norms, angles, position, slots, keys, values, y), tokens,
        joined, heads, kv_heads, width, rotated, int(adjacent), capacity, entries,
        tokens // sequences, int(norms is not None), eps,
    )  # fmt: skip


_BINDINGS = (
    *bindings("x", "norms", "angles", "position", "slots", written=0),
    *bindings("keys", "values", "y", first=5, written=3),
)
_PARAMS = params(
    "tokens: u32", "joined: u32", "heads: u32", "kv_heads: u32", "width: u32", "rotated: u32",
    "adjacent: u32", "capacity: u32", "entries: u32", "each: u32", "normed: u32", "eps: f32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel("joined_heads", "joined_heads.wgsl", _BINDINGS, _PARAMS),
        Kernel("joined_heads_int8", "joined_heads_int8.wgsl", _BINDINGS, _PARAMS),
    )
)
