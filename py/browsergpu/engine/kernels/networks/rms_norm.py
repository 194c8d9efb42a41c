"""Division of rows by their root mean square, in one kernel."""

from __future__ import annotations

from browsergpu.engine.core.grids import fold
from browsergpu.engine.core.params import params
from browsergpu.engine.gpu.program import Slot
from browsergpu.engine.kernels.base.build import Build
from browsergpu.engine.kernels.base.family import Kernel, KernelFamily, bindings


def rms_norm(
    build: Build, x: Slot, weight: Slot, y: Slot, rows: int, length: int, eps: float,
    residual: Slot | None = None,
) -> None:  # fmt: skip
    """Add y = x / √(mean(x²) + eps) · weight + residual for float32 rows.

    y is another buffer than x and the residual.
    """
    slots = x, weight, x if residual is None else residual, y
    build.dispatch("rms_norm", "", fold(rows), slots, rows, length, eps, int(residual is not None))


FAMILY = KernelFamily(
    kernels=(
        Kernel(
            "rms_norm", "rms_norm.wgsl", bindings("x", "weight", "residual", "y"),
            params("rows: u32", "length: u32", "eps: f32", "added: u32"),
        ),
    )
)  # fmt: skip
