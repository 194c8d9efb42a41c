"""Reference results of KernelExecutor, in float64 NumPy, by simple loops over the definitions."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Pair = tuple[int, int]


def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> np.ndarray:
    """Return the cross-correlation, computed one group of channels and one filter tap at a time."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    (ph, pw), (sh, sw), (dh, dw) = padding, stride, dilation
    padded = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    spread = (dh * (w.shape[2] - 1) + 1, dw * (w.shape[3] - 1) + 1)
    windows = sliding_window_view(padded, spread, axis=(2, 3))[:, :, ::sh, ::sw, ::dh, ::dw]
    parts = [
        np.einsum("ncpqrs,fcrs->nfpq", images, filters)
        for images, filters in zip(
            np.split(windows, groups, axis=1), np.split(w, groups, axis=0), strict=True
        )
    ]
    return np.concatenate(parts, axis=1)


def pool_extent(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """Return the number of windows, by counting the allowed ones."""
    spread = dilation * (kernel - 1) + 1
    count = 0
    start = -padding
    while start + spread <= size + padding:
        count += 1
        start += stride
    # With ceil_mode, a last window may extend past the end if it starts in the input or the left
    # padding, and if the previous windows leave elements uncovered.
    if ceil_mode and start < size and start + spread - stride < size + padding:
        count += 1
    return count


def pool(
    op: str,
    x: np.ndarray,
    kernel: Pair,
    stride: Pair,
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (values, flat indices of the maxima), computed one window at a time."""
    images, channels, height, width = x.shape
    high = pool_extent(height, kernel[0], stride[0], padding[0], dilation[0], ceil_mode)
    wide = pool_extent(width, kernel[1], stride[1], padding[1], dilation[1], ceil_mode)
    values = np.zeros((images, channels, high, wide))
    indices = np.zeros((images, channels, high, wide), np.int32)
    for p in range(high):
        for q in range(wide):
            taps = [
                (p * stride[0] + r * dilation[0] - padding[0],
                 q * stride[1] + s * dilation[1] - padding[1])
                for r in range(kernel[0]) for s in range(kernel[1])
            ]  # fmt: skip
            inside = [(i, j) for i, j in taps if 0 <= i < height and 0 <= j < width]
            counted = inside
            if count_include_pad:
                counted = [
                    (i, j) for i, j in taps if i < height + padding[0] and j < width + padding[1]
                ]
            window = np.array([x[:, :, i, j] for i, j in inside], np.float64)
            if op == "mean":
                values[:, :, p, q] = window.sum(axis=0) / len(counted)
                continue
            flat = np.array([i * width + j for i, j in inside])
            best = window.argmax(axis=0)  # the first NaN, or the first of the largest
            indices[:, :, p, q] = flat[best]
            values[:, :, p, q] = np.take_along_axis(window, best[None], axis=0)[0]
    return values, indices


def normalised(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    eps: float,
) -> np.ndarray:
    """Return the batch norm of [N, C, ...] with given statistics, one channel at a time."""
    result = np.zeros(x.shape)
    for c in range(x.shape[1]):
        factor = float(gamma[c]) / np.sqrt(float(variance[c]) + eps)
        result[:, c] = (x[:, c].astype(np.float64) - float(mean[c])) * factor + float(beta[c])
    return result


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float) -> np.ndarray:
    """Return the layer norm along the last axis."""
    x = x.astype(np.float64)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gamma.astype(np.float64) + beta.astype(np.float64)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    """Return the softmax, shifted by the maximum."""
    x = x.astype(np.float64)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
