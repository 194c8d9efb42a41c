"""Declarations of attention and its kernels."""

from __future__ import annotations

from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    MATRICES,
    Codes,
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
    by_code,
)
from browsergpu.engine.kernels.networks.attention import (
    attention,
    attention_f16,
    plan_attention,
    takes_halves,
)


def _work(f: Fields) -> Work:
    pairs = f["seq_q"] * f["seq_kv"]
    if f["causal"]:  # query i sees the first i + 1 keys
        short = min(f["seq_q"], f["seq_kv"])
        pairs = short * (short + 1) / 2 + (f["seq_q"] - short) * f["seq_kv"]
    return 4 * pairs * f["head_dim"], 8 * (f["seq_q"] + f["seq_kv"]) * f["head_dim"]


def _work_of_halves(f: Fields) -> Work:
    operations, nbytes = _work(f)
    return operations, nbytes / 2


#: Tiles of the kernels of lib/attention_tiles.wgsl: head_dim, queries per workgroup, threads per
#: query, queries per thread.
_TILES = (
    (64, 96, 8, 6), (64, 64, 16, 4), (64, 48, 16, 6), (64, 32, 16, 4),
    (32, 96, 8, 6), (128, 48, 8, 4),
)  # fmt: skip
#: Tiles of the kernels of lib/attention_matrices.wgsl: head_dim, subgroups of 16 queries each, and
#: subgroups that share the same queries.
_MATRIX_TILES = ((64, 4, 1), (64, 4, 2), (32, 4, 1), (128, 4, 1))
#: Kinds of masks and their codes.
MASK_CODES: Codes = {"": 0, "float": 1, "bool": 2}


def tiled(
    suffix: str = "", kernel: str = "attention_tiled", more_bytes: int = 0
) -> tuple[Variant, ...]:
    """Return the variants of a kernel of lib/attention_tiles.wgsl, named by head_dim and queries.

    ``more_bytes`` is the workgroup memory of the kernel's own variables.
    """
    return tuple(
        Variant(
            f"{head_dim}x{rows}",
            kernel,
            f"{head_dim}x{rows}{suffix}",
            workgroup_bytes=4 * (rows * (head_dim + 4 * lanes) + 4 * lanes * head_dim) + more_bytes,
            threads=lanes * rows // each,
            traits={"head_dim": head_dim, "rows": rows},
        )
        for head_dim, rows, lanes, each in _TILES
    )


def tiles(*, halves: bool) -> Configurations:
    """Return the configurations of these kernels, for float32 or float16."""
    return {
        f"{head_dim}x{queries}{' f16' * halves}": {
            "HEAD_DIM": head_dim, "QUERIES": queries, "LANES": lanes, "ROWS": rows,
            "HALVES": int(halves),
        }
        for head_dim, queries, lanes, rows in _TILES
    }  # fmt: skip


def matrix(kernel: str = "attention_matrix") -> tuple[Variant, ...]:
    """Return the variants of a kernel by subgroup matrices, named by head_dim and queries."""
    return tuple(
        Variant(
            f"matrix {head_dim}x{16 * subgroups // split}",
            kernel,
            f"{head_dim}x{16 * subgroups // split}",
            features=MATRICES,
            workgroup_bytes=(
                (9_216 * (2 if head_dim > 64 else 1) + 128) * split + 3_712 * subgroups + 32
            ),
            threads=32 * subgroups,
            traits={"head_dim": head_dim, "rows": 16 * subgroups // split},
        )
        for head_dim, subgroups, split in _MATRIX_TILES
    )


def matrix_tiles() -> Configurations:
    """Return the configurations of these kernels."""
    return {
        f"{head_dim}x{16 * subgroups // split}": {
            "HEAD_DIM": head_dim, "SUBGROUPS": subgroups, "SPLIT": split
        }
        for head_dim, subgroups, split in _MATRIX_TILES
    }  # fmt: skip


_GENERAL = Variant("general", "attention", workgroup_bytes=12_672, threads=256, is_quick=True)

#: Register tiles do not help a CPU and take seconds to compile.
_ON_A_CPU = {
    f"{head_dim} {rows}{causal}": "general"
    for head_dim in (32, 64, 128)
    for rows in ("few", "many")
    for causal in ("", " causal")
}
_PICKS = {
    "google swiftshader": _ON_A_CPU,
    "software": _ON_A_CPU,
    "nvidia": {  # measured on an H200
        "64 few": "64x96",
        "64 few causal": "64x48",
        "64 many": "64x64",
        "64 many causal": "64x64",
    },
}


def _problem(op: str, heads: int, seq: int, head_dim: int, causal: bool) -> Problem:
    plan = plan_attention(1, heads, seq, seq, head_dim, head_dim**-0.5, causal)

    def heads_of_one(build: Build, q: Slot, k: Slot, v: Slot, o: Slot) -> None:
        if op == "attention_f16" and takes_halves(build.facts, plan):
            attention_f16(build, q, k, v, o, plan)
        else:
            attention(build, q, k, v, o, plan)

    return Problem(op, plan.size_class, (heads * seq * head_dim,) * 4, heads_of_one)


_PARAMS = (
    "seq_q: u32", "seq_kv: u32", "head_dim: u32", "heads: u32", "q_row: u32", "kv_row: u32",
    "k_first: u32", "v_first: u32", "first_z: u32", "causal: u32", "scale: f32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "attention",
            "attention.wgsl",
            bindings("q", "k", "v", "mask", "o"),
            params(
                *_PARAMS, "mask_inner_count: u32", "mask_outer: u32", "mask_inner: u32",
                "mask_row: u32", "mask_col: u32",
            ),
            configurations=by_code(MASK_CODES, "MASK"),
            cost=_work,
        ),
        Kernel(
            "attention_tiled",
            "attention_tiled.wgsl",
            bindings("q", "k", "v", "o"),
            params(*_PARAMS),
            configurations={**tiles(halves=False), **tiles(halves=True)},
            cost=_work,  # counted as for float32
        ),
        Kernel(
            "attention_matrix",
            "attention_matrix.wgsl",
            bindings("q", "k", "v", "o"),
            params(*_PARAMS),
            configurations=matrix_tiles(),
            cost=_work_of_halves,
        ),
    ),
    # Traits: the head_dim and queries of a tile.
    operations=(
        # The last variant supports every head_dim, and masks.
        Operation("attention", (*tiled(), _GENERAL), _PICKS),
        # The last variant stands for the computation in float32.
        Operation(
            "attention_f16",
            (*matrix(), *tiled(" f16"), _GENERAL),
            {"google swiftshader": _ON_A_CPU, "software": _ON_A_CPU},
        ),
    ),
    problems=tuple(
        _problem(op, heads, seq, head_dim, causal)
        for op in ("attention", "attention_f16")
        for heads, seq, head_dim in ((12, 1024, 64), (48, 512, 64), (12, 1024, 32), (8, 1024, 128))
        for causal in (False, True)
    ),
    warm_up={"attention": 50},
)  # fmt: skip
