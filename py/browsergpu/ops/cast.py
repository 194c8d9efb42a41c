"""Changes of element type."""

from __future__ import annotations

from browsergpu.device import Device
from browsergpu.dtypes import DType
from browsergpu.grids import blocks, fold
from browsergpu.memory import Allocation


def cast(
    device: Device, source: DType, target: DType, x: Allocation, y: Allocation, n: int
) -> None:
    """y[i] = x[i] in another element type, for i < n; y is not x, source is not target."""
    if n > 0:
        device.recorder.dispatch(
            device.pipeline("cast", f"{source}_{target}"),
            *fold(blocks(n, 4 * device.workgroup_sizes.elementwise)), x.id, y.id, n,
        )  # fmt: skip
