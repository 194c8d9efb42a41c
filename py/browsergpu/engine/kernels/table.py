"""THE TABLE: every kernel's file, entry point, bindings, parameters and configurations.

Each family declares its own rows. One test checks that the table and the shader files agree in
every struct field, binding, override and entry point. Another test compiles every kernel in every
configuration.
"""

from __future__ import annotations

from collections.abc import Mapping

from browsergpu.engine.kernels.base.family import Kernel, KernelFamily
from browsergpu.engine.kernels.convolution import (
    conv2d_facts,
    conv2d_filters,
    conv2d_products,
    depthwise,
    pool,
)
from browsergpu.engine.kernels.elements import cast, fill, philox, strided
from browsergpu.engine.kernels.fourier import fft
from browsergpu.engine.kernels.linalg import cholesky, jacobi, lu, matrices, pivots, qr
from browsergpu.engine.kernels.matmul import gemm_f16, gemm_facts, gemm_high
from browsergpu.engine.kernels.networks import (
    attention_facts,
    attention_gradients,
    cached_attention,
    embedding,
    excitation,
    images,
    joined_heads,
    rms_norm,
    rotary,
    token_attention,
)
from browsergpu.engine.kernels.ordering import arg_reduce, compact, scan, search, segment_sum, sort
from browsergpu.engine.kernels.quantized import matrices as quantized_matrices
from browsergpu.engine.kernels.quantized import products as quantized_products
from browsergpu.engine.kernels.quantized import rows as quantized_rows
from browsergpu.engine.kernels.reductions import batch_norm, moments, norm_sums, rows

#: All families. Operations with variants are tuned in this order.
FAMILIES: tuple[KernelFamily, ...] = tuple(
    module.FAMILY
    for module in (
        fill,
        cast,
        strided,
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
        conv2d_filters,
        conv2d_products,
        depthwise,
        attention_facts,
        attention_gradients,
        rows,
        embedding,
        batch_norm,
        norm_sums,
        pool,
        images,
        excitation,
        fft,
        philox,
        matrices,
        lu,
        pivots,
        cholesky,
        qr,
        jacobi,
        rms_norm,
        rotary,
        joined_heads,
        token_attention,
        cached_attention,
        quantized_rows,
        quantized_products,
        quantized_matrices,
    )
)

KERNELS: Mapping[str, Kernel] = {
    kernel.name: kernel for family in FAMILIES for kernel in family.kernels
}

#: Shader files of the canvas, which no compute kernel uses.
RENDER_SHADERS = frozenset({"draw.wgsl"})

#: Entry points of shader files that functions run as custom kernels.
CUSTOM_SHADERS: Mapping[str, tuple[str, ...]] = {"plot.wgsl": ("line", "points")}
