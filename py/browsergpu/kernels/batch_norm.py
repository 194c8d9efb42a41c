"""Batch normalisation."""

from __future__ import annotations

from browsergpu.device.device import Device
from browsergpu.core.grids import blocks, fold
from browsergpu.gpu.memory import Allocation
from browsergpu.kernels.moments import moments
from browsergpu.core.shapes import reduction_steps


def normalise(
    device: Device,
    x: Allocation,
    mean: Allocation,
    variance: Allocation,
    gamma: Allocation,
    beta: Allocation,
    y: Allocation,
    shape: tuple[int, int, int],
    eps: float,
) -> None:
    """y = (x - mean) / sqrt(variance + eps) * gamma + beta for x of [N, C, inner] with C values of
    each; y is none of the others, no extent is 0."""
    images, channels, inner = shape
    n = images * channels * inner
    device.recorder.dispatch(
        device.pipeline("batch_norm"), *fold(blocks(n, device.workgroup_sizes.elementwise)),
        x.id, mean.id, variance.id, gamma.id, beta.id, y.id, n, channels, inner, eps, 0.0, 0.0,
    )  # fmt: skip


def statistics(
    device: Device,
    x: Allocation,
    mean: Allocation,
    variance: Allocation,
    running_mean: Allocation,
    running_variance: Allocation,
    shape: tuple[int, int, int],
    momentum: float,
) -> None:
    """mean and (biased) variance = those of each channel of x, of [N, C, inner]; the running ones
    move towards them by ``momentum``, with the unbiased variance. All five are different buffers;
    a channel has at least two elements."""
    images, channels, inner = shape
    count = images * inner
    steps = reduction_steps(shape, (0, 2))
    found = moments(device, "batch_norm", x, steps)
    try:
        device.recorder.dispatch(
            device.pipeline("batch_norm_statistics"),
            *fold(blocks(channels, device.workgroup_sizes.elementwise)),
            found.id, mean.id, variance.id, running_mean.id, running_variance.id,
            0, channels, inner, 0.0, momentum, count / (count - 1),
        )  # fmt: skip
    finally:
        device.memory.return_buffer(found)
