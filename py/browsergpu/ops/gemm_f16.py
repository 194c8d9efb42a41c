"""Matrix products of float16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from browsergpu import checks
from browsergpu.device import Device
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation
from browsergpu.ops.remembered import remembered
from browsergpu.variants import Variant

_OP = "gemm_f16"
_VECTOR = 8  # halves in a vec4u: the rows that tiles are loaded from are whole ones
_WORTH_PADDING = 32  # columns from which padding rows to whole vectors does not cost much memory


@dataclass(frozen=True, slots=True)
class GemmF16Plan:
    """Elements that each operand must hold, the kernels' parameters, and the size class: "small",
    "medium" or "large", by the tiles of C."""

    a_elements: int
    b_elements: int
    c_elements: int
    size_class: str
    m: int
    n: int
    k: int
    alpha: float
    beta: float

    @property
    def has_whole_rows(self) -> bool:
        """Whether the rows of all operands are whole vectors."""
        return self.n % _VECTOR == 0 and self.k % _VECTOR == 0

    def fits(self, variant: Variant) -> bool:
        """Whether a variant can do it: those that want whole rows get padded copies, unless the
        copies would be much larger."""
        if "any_rows" in variant.traits:
            return True
        return all(x % _VECTOR == 0 or x >= _WORTH_PADDING for x in (self.n, self.k))


@remembered
def plan_gemm_f16(m: Any, n: Any, k: Any, alpha: Any, beta: Any) -> GemmF16Plan:
    """Checks the arguments of ``ComputeBackend.gemm_f16`` that are not buffers."""
    m = checks.integer(_OP, "m", m)
    n = checks.integer(_OP, "n", n)
    k = checks.integer(_OP, "k", k)
    alpha = checks.real(_OP, "alpha", alpha)
    beta = checks.real(_OP, "beta", beta)
    c_elements = m * n
    a_elements, b_elements = m * k, k * n
    if alpha == 0:
        k = 0  # BLAS: A and B are not read, so that their NaN do not count
    return GemmF16Plan(
        a_elements, b_elements, c_elements, _size_class(m, n, k), m, n, k, alpha, beta
    )


def _size_class(m: int, n: int, k: int) -> str:
    if min(m, n, k) < 32 or m * n * k < 2**21:
        return "small"
    return "large" if blocks(m, 128) * blocks(n, 128) >= 128 else "medium"


def gemm_f16(
    device: Device, plan: GemmF16Plan, a: Allocation, b: Allocation, c: Allocation
) -> None:
    """C = alpha A B + beta C, contiguous float16 with float32 sums; c is neither a nor b."""
    m, n, k = plan.m, plan.n, plan.k
    if plan.c_elements == 0:
        return
    variant = device.variants.choose(_OP, plan.size_class, plan.fits)
    traits = variant.traits
    pipeline = device.pipeline(variant.kernel, variant.configuration)
    grid = fold(blocks(m, traits["rows"]) * blocks(n, traits["columns"]))
    if plan.has_whole_rows or "any_rows" in traits:
        device.recorder.dispatch(pipeline, *grid, a.id, b.id, c.id, m, n, k, plan.alpha, plan.beta)
        return
    temporary: list[Allocation] = []

    def padded(rows: int, columns: int, x: Allocation | None) -> Allocation:
        """The matrix x, or room for one, in rows of whole vectors."""
        pitch = blocks(columns, _VECTOR) * _VECTOR
        buffer = device.memory.get_buffer(_OP, 2 * max(rows * pitch, 1), "temporary")
        temporary.append(buffer)
        if x is not None:
            _repitch(device, rows, x, columns, buffer, pitch)
        return buffer

    try:
        wide = n % _VECTOR != 0
        left = padded(m, k, a) if k % _VECTOR else a
        right = padded(k, n, b) if wide else b
        product = padded(m, n, c if plan.beta else None) if wide else c
        device.recorder.dispatch(
            pipeline, *grid, left.id, right.id, product.id, m, n, k, plan.alpha, plan.beta
        )
        if wide:
            _repitch(device, m, product, blocks(n, _VECTOR) * _VECTOR, c, n)
    finally:
        for buffer in temporary:
            device.memory.return_buffer(buffer)


def _repitch(
    device: Device, rows: int, x: Allocation, x_pitch: int, y: Allocation, y_pitch: int
) -> None:
    """y's rows are x's, cut or filled up with zeros."""
    words = blocks(rows * y_pitch, 2)
    if words:
        device.recorder.dispatch(
            device.pipeline("repitch"),
            *fold(blocks(words, device.workgroup_sizes.elementwise)),
            x.id, y.id, rows, x_pitch, y_pitch,
        )  # fmt: skip
