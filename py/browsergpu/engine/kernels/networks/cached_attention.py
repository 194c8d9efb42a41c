"""Causal attention to a cache of keys and values."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings

#: Maximum elements of a head, which must be a multiple of 4.
WIDEST = 512
#: Queries that a workgroup processes at a time if there are many, and the widest heads for it.
_SEVERAL, _WIDEST_OF_SEVERAL = 8, 256


def attend(
    build: Build, q: Slot, keys: Slot, values: Slot, position: Slot, slots: Slot, y: Slot,
    shape: tuple[int, int, int], sequences: int, kv_heads: int, capacity: int, scale: float,
    softcap: float, window: int, *, is_int8: bool,
) -> None:  # fmt: skip
    """Add y = attention of queries [queries, heads, width] to a cache.

    Parameters
    ----------
    keys, values
        Float32 of shape [slots, kv_heads, capacity, width]. Or in 8 bits, as
        ``rotary.quantize`` writes them.
    position, slots
        Of each sequence, the position of its first query, and its slot of the cache. int32.
    sequences
        A divisor of the queries.
    softcap
        Scores become softcap tanh(score / softcap), unless 0.
    window
        How many keys up to its own a query attends to. 0 for all.
    """
    queries, heads, width = shape
    each = queries // sequences
    of_group = 1 if each < _SEVERAL // 2 or width > _WIDEST_OF_SEVERAL else _SEVERAL
    grid = heads, sequences * blocks(each, of_group), 1
    build.dispatch(
        "cached_attention_int8" if is_int8 else "cached_attention", str(of_group), grid,
        (q, keys, values, position, slots, y), queries, heads, kv_heads, width // 4, capacity,
        each, window, scale, softcap,
    )  # fmt: skip


_BINDINGS = bindings("q", "keys", "values", "position", "slots", "y")
_PARAMS = params(
    "queries: u32", "heads: u32", "kv_heads: u32", "quads: u32", "capacity: u32", "each: u32",
    "window: u32", "scale: f32", "softcap: f32",
)  # fmt: skip

_CONFIGURATIONS = {
    str(queries): {"QUERIES": queries, "QUADS": widest // 4, "SEVERAL": int(queries > 1)}
    for queries, widest in ((1, WIDEST), (_SEVERAL, _WIDEST_OF_SEVERAL))
}

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "cached_attention", "cached_attention.wgsl", _BINDINGS, _PARAMS,
            configurations=_CONFIGURATIONS,
        ),
        Kernel(
            "cached_attention_int8", "cached_attention_int8.wgsl", _BINDINGS, _PARAMS,
            configurations=_CONFIGURATIONS,
        ),
    )
)  # fmt: skip
