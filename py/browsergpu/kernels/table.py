"""THE TABLE: every kernel's file, entry point, bindings, parameters and configurations, gathered
from the families that declare them.

A test checks it against the files (each struct field, binding, override and entry point, none
missing, none extra), and another compiles every kernel in every configuration.
"""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.kernels import (
    adam,
    arg_reduce,
    attention_facts,
    batch_norm,
    broadcast,
    cast,
    cholesky,
    compact,
    conv2d_facts,
    conv2d_products,
    depthwise,
    elementwise,
    embedding,
    fft,
    gemm_f16,
    gemm_facts,
    gemm_high,
    images,
    integers,
    jacobi,
    lu,
    matrices,
    moments,
    philox,
    pivots,
    pool,
    qr,
    reduce,
    rows,
    scan,
    search,
    segment_sum,
    sort,
    strided,
)
from browsergpu.kernels.family import Kernel, KernelFamily

#: All families; operations with variants are tuned in this order.
FAMILIES: tuple[KernelFamily, ...] = tuple(
    module.FAMILY
    for module in (
        elementwise,
        broadcast,
        cast,
        integers,
        strided,
        reduce,
        moments,
        scan,
        sort,
        compact,
        arg_reduce,
        search,
        segment_sum,
        gemm_facts,
        gemm_f16,
        gemm_high,
        conv2d_facts,
        conv2d_products,
        depthwise,
        attention_facts,
        rows,
        embedding,
        batch_norm,
        pool,
        adam,
        images,
        fft,
        philox,
        matrices,
        lu,
        pivots,
        cholesky,
        qr,
        jacobi,
    )
)

KERNELS: Mapping[str, Kernel] = {
    kernel.name: kernel for family in FAMILIES for kernel in family.kernels
}

#: Shader files that no compute kernel uses: they belong to the canvas.
RENDER_SHADERS = frozenset({"draw.wgsl"})
