"""A typical problem of each size class of the operations that have several variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from browsergpu.device.device import Device
from browsergpu.gpu.memory import Allocation
from browsergpu.gpu.program import Slot
from browsergpu.kernels import attention, conv2d, gemm, gemm_f16
from browsergpu.kernels.build import Build, Prepare


@dataclass(frozen=True)
class Problem:
    """Work that stands for a size class: how many float32 each of its buffers has, and what
    prepares it. The buffers hold ones."""

    op: str
    size_class: str
    elements: tuple[int, ...]
    prepare: Prepare

    def record(self, device: Device, buffers: Sequence[Allocation]) -> None:
        """Records it once on a device."""
        device.launch("tune", self.prepare, buffers)


def _gemm(size_class: str, m: int, n: int, k: int, count: int = 1) -> Problem:
    plan = gemm.plan_gemm(
        "tune", "no_trans", "no_trans", m, n, k, 1.0, k, m * k, n, k * n, 0.0, n, m * n, count, "C"
    )

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm.gemm(build, a, b, c, plan)

    elements = (count * m * k, count * k * n, count * m * n)
    return Problem("gemm", size_class, elements, product)


def _gemm_f16(size_class: str, m: int, n: int, k: int) -> Problem:
    plan = gemm_f16.plan_gemm_f16(m, n, k, 1.0, 0.0)

    def product(build: Build, a: Slot, b: Slot, c: Slot) -> None:
        gemm_f16.gemm_f16(build, a, b, c, plan)

    return Problem("gemm_f16", size_class, (m * k // 2, k * n // 2, m * n // 2), product)


def _attention(op: str, heads: int, seq: int, head_dim: int, causal: bool) -> Problem:
    plan = attention.plan_attention(1, heads, seq, seq, head_dim, head_dim**-0.5, causal)

    def heads_of_one(build: Build, q: Slot, k: Slot, v: Slot, o: Slot) -> None:
        if op == "attention_f16" and attention.takes_halves(build.facts, plan):
            attention.attention_f16(build, q, k, v, o, plan)
        else:
            attention.attention(build, q, k, v, o, plan)

    return Problem(op, plan.size_class, (heads * seq * head_dim,) * 4, heads_of_one)


def _conv2d(
    size_class: str,
    channels: int,
    size: int,
    filters: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
) -> Problem:
    image, padding = (1, channels, size, size), kernel // 2
    shape = (filters, channels // groups, kernel, kernel)
    plan = conv2d.plan_conv2d("tune", image, shape, None, stride, padding, 1, groups)

    def convolution(build: Build, x: Slot, w: Slot, y: Slot) -> None:
        conv2d.conv2d(build, x, w, y, plan)

    elements = (plan.input_elements, plan.filter_elements, plan.output_elements)
    return Problem("conv2d", size_class, elements, convolution)


PROBLEMS: tuple[Problem, ...] = (
    _gemm("tiny", 8, 8, 8, 8192),
    _gemm("along", 2048, 1, 2048),
    _gemm("across", 1, 2048, 2048),
    _gemm("along few", 2048, 4, 2048),
    _gemm("across few", 4, 2048, 2048),
    _gemm("small", 256, 256, 256),
    _gemm("medium", 1024, 1024, 1024),
    _gemm("large", 2048, 2048, 2048),
    _gemm_f16("row", 1, 2048, 2048),
    _gemm_f16("thin", 6, 2048, 2048),
    _gemm_f16("small", 256, 256, 256),
    _gemm_f16("medium", 1024, 1024, 512),
    _gemm_f16("large", 1536, 1536, 1024),
    _conv2d("window 256k", 64, 112, 64, 3),
    _conv2d("window 128k", 64, 56, 64, 3),
    _conv2d("window 64k", 128, 28, 128, 3),
    _conv2d("window 32k", 256, 14, 256, 3),
    _conv2d("window 0", 512, 7, 512, 3),
    _conv2d("point 256k", 64, 56, 256, 1),
    _conv2d("point 128k", 256, 56, 64, 1),
    _conv2d("point 64k", 512, 28, 128, 1),
    _conv2d("point 32k", 1024, 14, 256, 1),
    _conv2d("point 0", 2048, 7, 512, 1),
    _conv2d("other 256k", 3, 224, 64, 7, 2),
    _conv2d("other 128k", 64, 112, 64, 3, 2),
    _conv2d("other 64k", 128, 56, 128, 3, 2),
    _conv2d("other 32k", 256, 28, 256, 3, 2),
    _conv2d("other 0", 512, 14, 512, 3, 2),
    _conv2d("depthwise", 384, 56, 384, 3, groups=384),
    *(
        _attention(op, heads, seq, head_dim, causal)
        for op in ("attention", "attention_f16")
        for heads, seq, head_dim in ((12, 1024, 64), (48, 512, 64), (12, 1024, 32), (8, 1024, 128))
        for causal in (False, True)
    ),
)
