"""Tolerances of the tensor operations, with reasons."""

from __future__ import annotations

import numpy as np

from inside import tolerances
from inside.tolerances import SUBNORMAL, ULP, Tolerance, U


def _sum_of_weights(x: np.ndarray, axis: int) -> np.ndarray:
    """Return the relative error of the softmax's denominator.

    exp has an error of 3 + 2|d| ULP, and values more than 40 below the maximum have no weight. A
    row of random numbers raises its maximum about ln(n) times, and each time rescales the sum. The
    sum has n additions.
    """
    with np.errstate(all="ignore"):
        x = x.astype(np.float64)
        spread = np.minimum(x.max(axis, keepdims=True) - x.min(axis, keepdims=True), 40.0)
    n = x.shape[axis]
    error = (3 + 2 * spread) * ULP * 2 + 3 * np.log(n + 1) * ULP + (n / 2 + 16) * U
    return np.nan_to_num(error)


def softmax(x: np.ndarray, axis: int) -> Tolerance:
    with np.errstate(all="ignore"):
        distance = x.max(axis, keepdims=True).astype(np.float64) - x
    distance = np.nan_to_num(np.minimum(distance, 110.0))
    rtol = (3 + 3 * distance) * ULP + _sum_of_weights(x, axis) + 3 * ULP
    return Tolerance(rtol, 4 * SUBNORMAL, f"softmax of {x.shape[axis]} float32")


def cross_entropy(logits: np.ndarray, loss: np.ndarray) -> Tolerance:
    """Return the tolerance: log has an error of 2^-21 for arguments near 1, else of 3 ULP."""
    largest = np.abs(logits.astype(np.float64)).max(-1)
    log_sum = np.log(logits.shape[-1])
    atol = _sum_of_weights(logits, -1)[..., 0] + 2.0**-21 + 3 * ULP * log_sum + 4 * U * largest
    return Tolerance(4 * ULP, np.where(np.isfinite(loss), atol, 0.0), "log of a softmax's sum")


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float) -> Tolerance:
    """Return the tolerance of layer norm.

    Differences from the mean are as precise as x itself. Welford's updates add n / 256 + 8
    roundings to mean and variance.
    """
    x = x.astype(np.float64)
    steps = x.shape[-1] / 256 + 16
    deviation = np.sqrt(x.var(-1, keepdims=True) + eps)
    size = np.abs(x).max(-1, keepdims=True) / deviation
    plain = np.abs((x - x.mean(-1, keepdims=True)) / deviation * gamma)
    relative = steps * 4 * U * (1 + size)
    atol = (
        plain * (relative + 8 * ULP) + 4 * steps * U * size * np.abs(gamma) + 2 * U * np.abs(beta)
    )
    return Tolerance(2 * U, atol + SUBNORMAL, "Welford's moments in float32")


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, scale: float
) -> Tolerance:
    """Return WasmBackend's tolerance of attention, with a mask's magnitude added to the scores'."""
    q, k, v = (np.abs(x.astype(np.float64)) for x in (q, k, v))
    size = scale * q @ np.swapaxes(k, -1, -2)
    if mask is not None and mask.dtype != bool:
        size = size + np.where(np.isfinite(mask), np.abs(mask.astype(np.float64)), 0.0)
    largest = size.max(axis=-1, keepdims=True)
    score_error = (2 * q.shape[-1] + 5) * U * largest
    spread = np.minimum(2 * largest, 40.0)
    weight_error = 2 * score_error + (3 + 2 * spread) * ULP + 2 * k.shape[-2] * U + 4 * ULP
    atol = 2 * weight_error * v.max(axis=-2, keepdims=True) + SUBNORMAL
    return Tolerance(0.0, atol, "softmax of float32 scores")


def matmul(a: np.ndarray, b: np.ndarray, bias: np.ndarray | None = None) -> Tolerance:
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    if bias is not None:
        magnitude = magnitude + np.abs(bias.astype(np.float64))
    return tolerances.gemm(magnitude, a.shape[-1])


def total(x: np.ndarray, axis: int | None) -> Tolerance:
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    rtol, atol, why = tolerances.reduce("sum", flat, along)
    return Tolerance(rtol, atol, why)


def blur(sigma: float) -> Tolerance:
    """Return the tolerance of two sums with weights down to exp(-4.5 …); values are at most 1."""
    taps = 2 * np.ceil(3 * sigma) + 1
    return Tolerance(0.0, 2 * (taps * U + 16 * ULP), f"two sums of {taps:g} weights")


#: For values in 0..1, and a few sums and products.
IMAGE = Tolerance(0.0, 32 * U, "a few operations on 0..1")
