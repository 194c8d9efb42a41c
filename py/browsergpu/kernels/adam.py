"""Adam's update of parameters."""

from __future__ import annotations

from browsergpu.device.device import Device
from browsergpu.core.grids import blocks, fold
from browsergpu.gpu.memory import Allocation

_THREADS = 256


def adam(
    device: Device,
    param: Allocation,
    grad: Allocation,
    m: Allocation,
    v: Allocation,
    n: int,
    *,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    step: int,
) -> None:
    """One step in place on n float32 parameters; the four buffers are different, n is not 0."""
    device.recorder.dispatch(
        device.pipeline("adam"), *fold(blocks(n, _THREADS)), grad.id, param.id, m.id, v.id,
        n, lr, beta1, beta2, 1.0 - beta1, 1.0 - beta2, eps, 1.0 - beta1**step, 1.0 - beta2**step,
    )  # fmt: skip
