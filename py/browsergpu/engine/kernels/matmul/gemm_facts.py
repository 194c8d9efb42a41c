"""Declarations of gemm and its kernels."""

from __future__ import annotations

from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    Configurations,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
)
from browsergpu.engine.kernels.matmul.gemm import gemm, plan_gemm
from browsergpu.engine.kernels.matmul.products import (
    A_HALVES,
    ACTIVATIONS,
    B_HALVES,
    QUADS_LIE,
    THIN_MATRIX_HALVES,
    THIN_VECTOR_HALVES,
)


def product_work(f: Fields, of_a: int = A_HALVES, of_b: int = B_HALVES) -> Work:
    """Return the work of a product. The bits of ``added`` show which operands are float16."""
    m, n, k = f["m"], f["n"], min(f["k"], f.get("chunk", f["k"]))  # k of one part
    outputs = m * n * (2 if f["beta"] else 1)
    added = int(f.get("added", 0))
    a, b = (2 if added & bit else 4 for bit in (of_a, of_b))
    return 2 * m * n * k, a * m * k + b * k * n + 4 * outputs


def _thin_work(f: Fields) -> Work:
    names = {"m": "lines", "n": "vectors", "k": "k", "beta": "beta", "added": "added"}
    fields = {name: f[field] for name, field in names.items()}
    return product_work(fields, THIN_MATRIX_HALVES, THIN_VECTOR_HALVES)


def _tiny_work(f: Fields) -> Work:
    operations, nbytes = product_work(f)
    count = f["total"] / (f["m"] * f["n"])
    return operations * count, nbytes * count


def _sum_work(f: Fields) -> Work:
    outputs = f["m"] * f["n"]
    return outputs * f["pieces"], 4 * outputs * (f["pieces"] + (2 if f["beta"] else 1))


#: Tiles of gemm.wgsl: their side lengths and the division of k.
_TILES: Configurations = {
    "32": {"SIDE": 32, "DEPTH": 32, "TALL": 0, "WIDE": 0, "SLICES": 4},
    "64": {"SIDE": 64, "DEPTH": 16, "TALL": 0, "WIDE": 0, "SLICES": 1},
    "128": {"SIDE": 128, "DEPTH": 16, "TALL": 1, "WIDE": 1, "SLICES": 1},
}
#: Tiles of gemm_quads.wgsl: rows in fours and in threads, and columns.
_QUADS: Configurations = {
    "128": {"DOWN": 16, "QUADS": 4},
    "128x64": {"DOWN": 16, "QUADS": 2},
    "64": {"DOWN": 8, "QUADS": 2},
}
#: Endings of a configuration of gemm: float16 for no operand, for B, or for A and B. The last one
#: has no activation.
_HALVES = {"": 0, " b": 1, " ab": 2}
#: Arrangements of the threads of gemm_thin.wgsl: along k, or along the lines.
_WAYS: Configurations = {
    "along": {"LANES": 1, "QUADS": 0, "THREADS": 256},
    "across": {"LANES": 8, "QUADS": 0, "THREADS": 256},
    "quads": {"LANES": 8, "QUADS": 1, "THREADS": 256},
    "quads_wide": {"LANES": 8, "QUADS": 1, "THREADS": 1024},
}
#: Number of vectors that gemm_thin.wgsl multiplies.
_FEW = {"": 1, "_few": 4}


def _thin(way: str, few: str) -> Variant:
    """Return a variant of gemm_thin.

    Traits: the number of vectors, the lanes, and whether strides must be divisible by 4.
    """
    constants = _WAYS[way]
    threads, lanes, quads = (constants[name] for name in ("THREADS", "LANES", "QUADS"))
    traits = {"vectors": _FEW[few], "lanes": lanes, "quads": quads}
    return Variant(
        way + few,
        "gemm_thin",
        way + few,
        workgroup_bytes=16 * threads,
        threads=threads,
        traits=traits,
    )


def _tile(side: int, depth: int, nbytes: int) -> Variant:
    """Return a variant of gemm with tiles of side × side and ``depth`` steps of k at a time."""
    traits = {"rows": side, "columns": side, "depth": depth}
    return Variant(
        f"tile{side}", "gemm", str(side), workgroup_bytes=nbytes, threads=128, traits=traits
    )


def _quads(name: str) -> Variant:
    """Return a variant of gemm_quads."""
    rows, columns = 8 * _QUADS[name]["DOWN"], 32 * _QUADS[name]["QUADS"]
    return Variant(
        f"quads{name}",
        "gemm_quads",
        name,
        workgroup_bytes=16 * 16 * (rows // 4 + 1 + columns // 4 + 1),
        threads=rows,
        traits={"rows": rows, "columns": columns, "depth": 16},
    )


_VARIANTS = (
    *(_thin(way, few) for few in _FEW for way in ("quads_wide", "quads", "across", "along")),
    _tile(128, 16, 16_896),
    _tile(64, 16, 8_704),
    *(_quads(name) for name in _QUADS),
    # Supports everything but is slow where it is not the tuned default, so it follows the tiles.
    Variant("tiny", "gemm_tiny", threads=128, classes=frozenset({"tiny"}), is_quick=True),
    _tile(32, 32, 9_216),
)
_PICKS = {
    "": {
        "tiny": "tiny",
        "along": "along",
        "across": "quads_wide",
        "along few": "along_few",
        "across few": "quads_wide_few",
        "small": "tile32",
        "medium": "tile64",
        "large": "tile128",
        **{f"whole {name}": f"quads{name}" for name in _QUADS},
    }
}


def _problem(size_class: str, m: int, n: int, k: int, count: int = 1) -> Problem:
    plan = plan_gemm(
        "tune", "no_trans", "no_trans", m, n, k, 1.0, k, m * k, n, k * n, 0.0, n, m * n, count, "C"
    )

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm(build, a, b, c, plan)

    elements = (count * m * k, count * k * n, count * m * n)
    return Problem("gemm", size_class, elements, product)


_MATRICES = bindings("a", "b", "bias", "residual", "c")
_STRIDES = (
    "m: u32", "n: u32", "k: u32", "a_row: u32", "a_col: u32", "b_row: u32", "b_col: u32",
    "c_row: u32", "a_batch: u32", "b_batch: u32", "c_batch: u32",
)  # fmt: skip

FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "gemm",
            "gemm.wgsl",
            _MATRICES,
            params(
                *_STRIDES, "first: u32", "chunk: u32", "added: u32", "alpha: f32", "beta: f32"
            ),
            configurations={
                f"{tile}{f'_{function}' if function else ''}{suffix}": {
                    **constants, "FUNCTION": code, "HALVES": halves
                }
                for suffix, halves in _HALVES.items()
                for tile, constants in _TILES.items()
                for function, code in ACTIVATIONS.items()
                if suffix != " ab" or function is None
            },
            cost=product_work,
        ),
        Kernel(
            "gemm_quads",
            "gemm_quads.wgsl",
            _MATRICES,
            params(
                "m: u32", "n: u32", "k: u32", "a_line: u32", "b_line: u32", "c_row: u32",
                "a_batch: u32", "b_batch: u32", "c_batch: u32", "first: u32", "chunk: u32",
                "added: u32", "alpha: f32", "beta: f32",
            ),
            configurations={
                f"{tile}{f'_{function}' if function else ''}{suffix}": {
                    **constants, "FUNCTION": code, "A_ALONG": int(a), "B_ALONG": int(b)
                }
                for (a, b), suffix in QUADS_LIE.items()
                for tile, constants in _QUADS.items()
                for function, code in ACTIVATIONS.items()
            },
            cost=product_work,
        ),
        Kernel(
            "gemm_tiny",
            "gemm_tiny.wgsl",
            _MATRICES,
            params(
                *_STRIDES, "total: u32", "added: u32", "function: u32", "alpha: f32", "beta: f32"
            ),
            cost=_tiny_work,
        ),
        Kernel(
            "gemm_thin",
            "gemm_thin.wgsl",
            bindings("x", "x4", "v", "bias", "residual", "c"),
            params(
                "lines: u32", "vectors: u32", "k: u32", "x_line: u32", "x_step: u32",
                "v_line: u32", "v_step: u32", "c_line: u32", "c_vector: u32", "x_batch: u32",
                "v_batch: u32", "c_batch: u32", "chunk: u32", "added: u32", "alpha: f32",
                "beta: f32",
            ),
            configurations={
                f"{way}{few}{mixed}": {**constants, "VECTORS": vectors, "MIXED": int(bool(mixed))}
                for way, constants in _WAYS.items()
                for few, vectors in _FEW.items()
                for mixed in ("", " mixed")  # if B is float16
            },
            cost=_thin_work,
        ),
        Kernel(
            "gemm_sum",
            "gemm_sum.wgsl",
            bindings("products", "bias", "residual", "c"),
            params(
                "m: u32", "n: u32", "pieces: u32", "c_row: u32", "c_batch: u32", "added: u32",
                "function: u32", "alpha: f32", "beta: f32",
            ),
            # Named by the number of threads per element.
            configurations={str(parts): {"PARTS": parts} for parts in (1, 8)},
            cost=_sum_work,
        ),
    ),
    operations=(Operation("gemm", _VARIANTS, _PICKS),),
    problems=(
        _problem("tiny", 8, 8, 8, 8192),
        _problem("along", 2048, 1, 2048),
        _problem("across", 1, 2048, 2048),
        _problem("along few", 2048, 4, 2048),
        _problem("across few", 4, 2048, 2048),
        _problem("small", 256, 256, 256),
        _problem("medium", 1024, 1024, 1024),
        # n and k that are not divisible by 4, and some that are
        _problem("large", 2048, 2046, 2046),
        _problem("whole 128", 2048, 2048, 2048),
        _problem("whole 128x64", 3072, 3072, 3072),
        _problem("whole 64", 2560, 2560, 2560),
    ),
    warm_up={"gemm": 10},
)  # fmt: skip
