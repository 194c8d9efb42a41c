"""Changes of element type."""

from __future__ import annotations

from browsergpu.device.device import Device
from browsergpu.core.dtypes import DType
from browsergpu.core.grids import blocks, fold
from browsergpu.gpu.memory import Allocation


def cast(
    device: Device, source: DType, target: DType, x: Allocation, y: Allocation, n: int
) -> None:
    """y[i] = x[i] in another element type, for i < n; y is not x, source is not target."""
    _cast(device, f"{source}_{target}", x, y, n)


def picture_cast(
    device: Device, source: DType, target: DType, x: Allocation, y: Allocation, n: int
) -> None:
    """:func:`cast` of pictures to or from f32: 0..255 of u8 stands for 0..1."""
    names = ("unorm8" if dtype is DType.U8 else dtype.value for dtype in (source, target))
    _cast(device, "_".join(names), x, y, n)


def _cast(device: Device, configuration: str, x: Allocation, y: Allocation, n: int) -> None:
    if n > 0:
        device.recorder.dispatch(
            device.pipeline("cast", configuration),
            *fold(blocks(n, 4 * device.workgroup_sizes.elementwise)), x.id, y.id, n,
        )  # fmt: skip
