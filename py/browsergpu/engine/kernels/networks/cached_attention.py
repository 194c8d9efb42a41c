"""Causal attention to a cache of keys and values."""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold, layers
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    bindings,
)
from browsergpu.engine.kernels.elements.fill import fill
from browsergpu.engine.kernels.networks.attention import FEW_ROWS, SMALLEST_SCALE, TILED
from browsergpu.engine.kernels.networks.attention_facts import matrix, matrix_tiles, tiled, tiles

#: Maximum elements of a head, which must be a multiple of 4.
WIDEST = 512
#: Queries that a workgroup processes at a time if there are many, and the widest heads for it.
_SEVERAL, _WIDEST_OF_SEVERAL = 8, 256
_OP = "cached_attention"


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

    def able(variant: Variant) -> bool:
        if variant.kernel == _OP:
            return True
        rows, head_dim = variant.traits["rows"], variant.traits["head_dim"]
        return head_dim == width and 2 * each >= rows and scale >= SMALLEST_SCALE and not is_int8

    rows = "few" if queries * heads <= FEW_ROWS else "many"
    size_class = f"{width} {rows}" if width in TILED else "other"
    variant = build.facts.variants.choose(_OP, size_class, able)
    if variant.kernel != _OP:
        bound = q, keys, values, position, slots, y
        grid_x, grid_y, _ = fold(blocks(blocks(each, variant.traits["rows"]), 2))
        for first, count in layers(sequences * heads):
            build.dispatch(
                variant.kernel, variant.configuration, (grid_x, grid_y, count), bound, heads,
                kv_heads, capacity, each, window, first, scale, softcap,
            )  # fmt: skip
        return
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

_BINDINGS_OF_TILES = bindings("q", "k", "v", "position", "slots", "o")
_PARAMS_OF_TILES = params(
    "heads: u32", "kv_heads: u32", "capacity: u32", "each: u32", "window: u32", "first_z: u32",
    "scale: f32", "softcap: f32",
)  # fmt: skip

_CONFIGURATIONS = {
    str(queries): {"QUERIES": queries, "QUADS": widest // 4, "SEVERAL": int(queries > 1)}
    for queries, widest in ((1, WIDEST), (_SEVERAL, _WIDEST_OF_SEVERAL))
}


def _problem(width: int, heads: int) -> Problem:
    queries = 512
    count = queries * heads * width

    def of_one(build: Build, q: Slot, keys: Slot, values: Slot, places: Slot, y: Slot) -> None:
        shape = queries, heads, width
        scale = width**-0.5
        fill(build, places, 0.0, 1)  # the integer 0, as position and slot
        attend(
            build, q, keys, values, places, places, y, shape, 1, heads, queries, scale, 0.0, 0,
            is_int8=False,
        )  # fmt: skip

    rows = "few" if queries * heads <= FEW_ROWS else "many"
    return Problem(_OP, f"{width} {rows}", (count, count, count, 1, count), of_one)


_ON_A_CPU = {f"{width} {rows}": "general" for width in TILED for rows in ("few", "many")}
_GENERAL = Variant("general", _OP, "8", workgroup_bytes=14_336, threads=128, is_quick=True)

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
        Kernel(
            "cached_attention_tiled", "cached_attention_tiled.wgsl", _BINDINGS_OF_TILES,
            _PARAMS_OF_TILES, configurations=tiles(halves=False),
        ),
        Kernel(
            "cached_attention_matrix", "cached_attention_matrix.wgsl", _BINDINGS_OF_TILES,
            _PARAMS_OF_TILES, configurations=matrix_tiles(),
        ),
    ),
    operations=(
        # Register tiles do not help a CPU and take seconds to compile.
        Operation(
            _OP,
            (
                *matrix("cached_attention_matrix"),
                *tiled(kernel="cached_attention_tiled", more_bytes=16),
                _GENERAL,
            ),
            {
                "google swiftshader": _ON_A_CPU,
                "software": _ON_A_CPU,
                # Measured on an H200, without its subgroup matrices and with them.
                "": {"64 few": "64x32", "64 many": "64x32", "128 few": "general"},
                "nvidia": {
                    "64 few": "matrix 64x64",
                    "64 many": "matrix 64x64",
                    "128 few": "matrix 128x64",
                },
            },
        ),
    ),
    problems=tuple(_problem(width, heads) for width in TILED for heads in (16, 64)),
)  # fmt: skip
