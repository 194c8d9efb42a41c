"""Products of float32 matrices as matrix products of float16.

Each operand is split into two float16 matrices, and three of their products are summed in float32.
The method is from H. Ootomo, R. Yokota: Recovering single precision accuracy from Tensor Cores
while surpassing the FP32 theoretical peak performance, 2022, https://arxiv.org/abs/2203.03341.

The paper scales the low parts. This module scales whole rows of A and columns of B instead, so that
any float32 can be split. The three products are computed as one product with inner length 3k, whose
sums stay in float32.

The error bound in functions/linalg/linear.py has these parts:

- Two float16 leave a relative error of 2^-22 per element of either operand. The omitted product of
  low parts is as small. Together: 6 · 2^-23.
- Parts below 2^-14, the smallest normal float16, may be flushed to 0, in rows and columns scaled to
  reach 2^14: 2 · 2^-28.
- Hardware may truncate sums at 2^-23, and also the four or more terms that it adds at once: 5 / 4 ·
  k steps of 2^-23. The small sums come first, in 2k steps that are 2^-10 as large.
"""

from __future__ import annotations

from browsergpu.engine.core.grids import blocks, fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import (
    MATRICES,
    Fields,
    Kernel,
    KernelFamily,
    Operation,
    Problem,
    Variant,
    Work,
    bindings,
)
from browsergpu.engine.kernels.elements.strided import gather
from browsergpu.engine.kernels.matmul.gemm import GemmPlan, gemm, plan_product
from browsergpu.engine.kernels.matmul.gemm_f16 import gemm_f16, plan_gemm_f16
from browsergpu.engine.kernels.matmul.products import Product

_OP = "gemm_high"
_WHOLE = "whole"  # the variant that does not split
_HALVES = 8  # in a vec4u; rows are padded to a multiple
_COLUMNS = 16  # columns whose largest elements one workgroup finds
_SIDE = 512  # rows, columns and k for which the product takes long compared with splitting
_LARGE = 2**31  # minimum multiplications: on an H200, 1024³ gain nothing, 2048³ a factor of 1.4


def gemm_high(build: Build, a: Slot, b: Slot, c: Slot, plan: GemmPlan) -> None:
    """Add C = A B of float32 for row-major contiguous C, with the device's preferred variant.

    c must be a different buffer from all others.
    """
    product = plan.product
    if product is None:
        return
    parts = 2 * 3 * max(
        product.m * _filled(product.k),
        _filled(product.k) * _filled(product.n),
    )  # fmt: skip
    largest = max(parts, 4 * product.m * _filled(product.n))

    def able(variant: Variant) -> bool:
        return variant.name == _WHOLE or largest <= build.facts.largest_buffer

    variant = build.facts.variants.choose(_OP, _size_class(product), able)
    if variant.name == _WHOLE:
        gemm(build, a, b, c, plan)
    else:
        _of_parts(build, a, b, c, product)


def _size_class(product: Product) -> str:
    m, n, k = product.m, product.n, product.k
    return "large" if min(m, n, k) >= _SIDE and m * n * k >= _LARGE else "small"


def _filled(columns: int) -> int:
    """Return the number of columns padded to a multiple of 8."""
    return blocks(columns, _HALVES) * _HALVES


def _of_parts(build: Build, a: Slot, b: Slot, c: Slot, product: Product) -> None:
    m, n, k, count = product.m, product.n, product.k, product.count
    left, a_batch = _in_rows(
        build, a, count, (m, k), (product.a_batch, product.a_row, product.a_col)
    )
    right, b_batch = _in_rows(
        build, b, count, (k, n), (product.b_batch, product.b_row, product.b_col)
    )
    wide_n, wide_k = _filled(n), _filled(k)
    a_largest, b_largest = build.temporary(4 * m), build.temporary(4 * n)
    a_parts, b_parts = build.temporary(6 * m * wide_k), build.temporary(6 * wide_k * wide_n)
    products = build.temporary(4 * m * wide_n)
    plan = plan_gemm_f16(m, wide_n, 3 * wide_k, 1.0, 0.0)
    threads = build.facts.workgroup_sizes.elementwise
    for z in range(count):
        first_a, first_b = z * a_batch, z * b_batch
        if not z or a_batch:
            build.dispatch("split_largest", "rows", fold(m), (left, a_largest), m, k, first_a)
            _split(build, "left", left, a_largest, a_parts, (m, k), first_a, m)
        if not z or b_batch:
            grid = fold(blocks(n, _COLUMNS))
            build.dispatch("split_largest", "columns", grid, (right, b_largest), k, n, first_b)
            _split(build, "right", right, b_largest, b_parts, (k, n), first_b, wide_k)
        gemm_f16(build, a_parts, b_parts, products, plan, wide=True)
        build.dispatch(
            "split_join", "", fold(blocks(m * n, threads)),
            (left, right, a_largest, b_largest, products, c),
            m, n, k, first_a, first_b, z * product.c_batch,
        )  # fmt: skip
    build.release(a_largest, b_largest, a_parts, b_parts, products, *{left, right} - {a, b})


def _in_rows(
    build: Build, x: Slot, count: int, shape: tuple[int, int], strides: tuple[int, int, int]
) -> tuple[Slot, int]:
    """Return row-major matrices and their batch stride: the operand itself, or a copy."""
    rows, columns = shape
    batch, row, column = strides
    if (column == 1 or columns == 1) and (row == columns or rows == 1):
        return x, batch
    count = count if batch else 1
    made = build.temporary(4 * count * rows * columns)
    gather(build, _OP, x, strides, made, (count, rows, columns))
    return made, rows * columns if batch else 0


def _split(
    build: Build,
    side: str,
    x: Slot,
    largest: Slot,
    parts: Slot,
    shape: tuple[int, int],
    first: int,
    tall: int,
) -> None:
    words = tall * _filled(shape[1]) // _HALVES
    grid = fold(blocks(words, build.facts.workgroup_sizes.elementwise))
    build.dispatch("split_halves", side, grid, (x, largest, parts), *shape, first, tall)


def _split_work(f: Fields) -> Work:
    n = f["rows"] * f["columns"]
    return 0, 10 * n


# "matrices" and "split" compute the same. They are fast on devices with float16 subgroup matrices,
# and serve only tune() and tests elsewhere. gemm_f16 and gemm choose the kernels for their
# products.
_VARIANTS = (
    Variant(
        "matrices",
        "gemm_f16_matrix128",
        "wide",
        features=MATRICES,
        workgroup_bytes=24_576,
        threads=128,
    ),
    Variant("split", "gemm_f16", "wide", workgroup_bytes=4_224, threads=256),
    Variant(_WHOLE, "gemm", "32", workgroup_bytes=9_216, threads=128),
)
_PICKS = {
    "": {"small": _WHOLE, "large": _WHOLE},
    "nvidia": {"large": "matrices"},
}


def _problem(size_class: str, n: int) -> Problem:
    plan = plan_product(_OP, n, n, n)

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm_high(build, a, b, c, plan)

    return Problem(_OP, size_class, (n * n, n * n, n * n), product)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "split_largest",
            "split_largest.wgsl",
            bindings("x", "largest"),
            params("rows: u32", "columns: u32", "first: u32"),
            configurations={"rows": {"ACROSS": 1}, "columns": {"ACROSS": _COLUMNS}},
            cost=lambda f: (0, 4 * f["rows"] * f["columns"]),
        ),
        Kernel(
            "split_halves",
            "split_halves.wgsl",
            bindings("x", "largest", "parts"),
            params("rows: u32", "columns: u32", "first: u32", "tall: u32"),
            configurations={"left": {"RIGHT": 0}, "right": {"RIGHT": 1}},
            family="elementwise",
            cost=_split_work,
        ),
        Kernel(
            "split_join",
            "split_join.wgsl",
            bindings("a", "b", "largest_a", "largest_b", "products", "c"),
            params("m: u32", "n: u32", "k: u32", "first_a: u32", "first_b: u32", "first_c: u32"),
            family="elementwise",
            cost=lambda f: (f["m"] * f["n"], 8 * f["m"] * f["n"]),
        ),
    ),
    operations=(Operation(_OP, _VARIANTS, _PICKS),),
    # Small products are not measured, since one result would apply to all of them.
    problems=(_problem("large", 2048),),
)
