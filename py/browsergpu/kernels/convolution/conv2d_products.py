"""Float16 convolutions as matrix products on subgroup matrices (im2col).

The filters are multiplied by the windows that they see. The windows need memory for one copy of the
input per filter element. A plain 1 × 1 convolution uses the input directly.
"""

from __future__ import annotations

from browsergpu.core.checks import product
from browsergpu.core.grids import blocks, fold, layers
from browsergpu.core.params import params
from browsergpu.gpu.program import Slot
from browsergpu.kernels.base.build import Build
from browsergpu.kernels.base.facts import Facts
from browsergpu.kernels.base.family import Kernel, KernelFamily, bindings
from browsergpu.kernels.convolution.conv2d import Conv2dPlan, Convolution
from browsergpu.kernels.matmul import gemm_f16

_KERNEL = "windows_halves"
_EIGHT = 8  # halves that a thread writes
#: Maximum bytes of the windows, so that they do not displace other buffers.
_MOST_BYTES = 2**29
#: Minimum filters for which each window is read often enough.
_LEAST_FILTERS = 32


def _product(p: Convolution) -> gemm_f16.GemmF16Plan:
    """Plan the product of one image: [filters, steps] [steps, outputs]."""
    steps = p.channels * product(p.kernel)
    outputs = product(p.out) if _is_as_it_lies(p) else _pitch(p)
    return gemm_f16.plan_gemm_f16(
        p.filters, outputs, steps, 1.0, 0.0, p.images, False, p.images > 1, False, False
    )


def _is_as_it_lies(p: Convolution) -> bool:
    return p.kind == "point" and p.stride == (1, 1)


def _pitch(p: Convolution) -> int:
    return blocks(product(p.out), _EIGHT) * _EIGHT


def _nbytes(p: Convolution) -> int:
    return 2 * p.images * p.channels * product(p.kernel) * _pitch(p)


def is_by_product(facts: Facts, plan: Conv2dPlan) -> bool:
    """Return whether a float16 convolution is faster as a matrix product."""
    p = plan.problem
    if p.groups > 1 or p.filters < _LEAST_FILTERS or not plan.output_elements:
        return False
    if _nbytes(p) > min(_MOST_BYTES, facts.largest_buffer):
        return False
    return gemm_f16.is_by_matrices(facts, _product(p))


def conv2d_by_product(build: Build, x: Slot, w: Slot, y: Slot, plan: Conv2dPlan) -> None:
    """Add y = cross-correlation of x with w, contiguous float16, one group, summed in float32.

    y must be a different buffer from all others.
    """
    p = plan.problem
    own = _product(p)
    if _is_as_it_lies(p):
        gemm_f16.gemm_f16(build, w, x, y, own)
        return
    windows = build.temporary(_nbytes(p))
    pitch, outputs = _pitch(p), product(p.out)
    threads = p.channels * product(p.kernel) * (pitch // _EIGHT)
    grid = fold(blocks(threads, build.facts.workgroup_sizes.elementwise))[:2]
    fields = (
        p.channels, *p.image, *p.kernel, *p.out, *p.stride, *p.padding, *p.dilation, pitch
    )  # fmt: skip
    for first, count in layers(p.images):
        build.dispatch(_KERNEL, "", (*grid, count), (x, windows), *fields, first)
    if pitch == outputs:
        gemm_f16.gemm_f16(build, w, windows, y, own)
        build.release(windows)
        return
    made = build.temporary(2 * p.images * p.filters * pitch)
    gemm_f16.gemm_f16(build, w, windows, made, own)
    gemm_f16.repitch(build, p.images * p.filters, made, pitch, y, outputs)
    build.release(windows, made)


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            _KERNEL,
            "windows_halves.wgsl",
            bindings("x", "y"),
            params(
                "channels: u32", "height: u32", "width: u32", "kernel_h: u32", "kernel_w: u32",
                "out_h: u32", "out_w: u32", "stride_h: u32", "stride_w: u32", "pad_h: u32",
                "pad_w: u32", "dilation_h: u32", "dilation_w: u32", "pitch: u32", "first_z: u32",
            ),
            family="elementwise",
            cost=lambda f: (
                0,
                2 * f["channels"] * (f["height"] * f["width"]
                                     + f["kernel_h"] * f["kernel_w"] * f["pitch"]),
            ),
        ),
    )
)  # fmt: skip
