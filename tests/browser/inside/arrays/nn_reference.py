"""Reference results of network functions, in float64 NumPy, from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import erfc, prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from inside.executor_reference import pool_extent

Ints = Sequence[int]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * np.vectorize(erfc, otypes=[float])(-x / np.sqrt(2)) / 2


ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(x, 0),
    "gelu": gelu,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}


def log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    x = x.astype(np.float64)
    moved = x - x.max(axis, keepdims=True)
    return moved - np.log(np.exp(moved).sum(axis, keepdims=True))


def normalised(x: np.ndarray, axes: Any, eps: float) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def convolved(
    x: np.ndarray, w: np.ndarray, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> np.ndarray:
    """Return the cross-correlation along any number of axes."""
    axes = tuple(range(2, x.ndim))
    around = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    windows = sliding_window_view(around, reach, axis=axes)
    steps = [slice(None, None, n) for n in (*stride, *dilation)]
    windows = windows[(slice(None), slice(None), *steps)]
    parts = [
        np.tensordot(part, own, axes=([1, *range(-len(axes), 0)], [1, *axes]))
        for part, own in zip(np.split(windows, groups, 1), np.split(w, groups), strict=True)
    ]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def transposed(
    x: np.ndarray, w: np.ndarray, stride: Ints, padding: Ints, output_padding: Ints,
    dilation: Ints, groups: int,
) -> np.ndarray:  # fmt: skip
    """Multiply each element by the filters and add the products at the element's place."""
    kernel = w.shape[2:]
    spans = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride, strict=True)]
    whole = [span + d * (k - 1) + more for span, d, k, more
             in zip(spans, dilation, kernel, output_padding, strict=True)]  # fmt: skip
    found = np.zeros((x.shape[0], groups, w.shape[1], *whole))
    for tap in product(*map(range, kernel)):
        own = w[(slice(None), slice(None), *tap)].reshape(groups, -1, w.shape[1])
        parts = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        places = [slice(t * d, t * d + span, s) for t, d, span, s
                  in zip(tap, dilation, spans, stride, strict=True)]  # fmt: skip
        found[(..., *places)] += np.einsum("ngc...,gcf->ngf...", parts, own)
    found = found.reshape(x.shape[0], groups * w.shape[1], *whole)
    return found[(..., *(slice(p, n - p) for p, n in zip(padding, whole, strict=True)))]


def pooled(
    op: str, x: np.ndarray, kernel: Ints, stride: Ints, padding: Ints, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> np.ndarray:  # fmt: skip
    """Return the "max" or "mean" of each window, along any number of axes."""
    rank = len(kernel)
    axes = tuple(range(-rank, 0))
    along = list(zip(x.shape[-rank:], kernel, stride, padding, strict=True))
    extents = [pool_extent(n, k, s, p, 1, ceil_mode) for n, k, s, p in along]
    found = np.zeros((*x.shape[:-rank], *extents))
    for place in product(*map(range, extents)):
        lows = [at * s - p for at, (_, _, s, p) in zip(place, along, strict=True)]
        window = x[(..., *(slice(max(low, 0), low + k)
                           for low, (_, k, _, _) in zip(lows, along, strict=True)))]  # fmt: skip
        if op == "max":
            found[(..., *place)] = window.max(axes)
            continue
        inside = prod(window.shape[-rank:])
        padded = prod(min(low + k, n + p) - low
                      for low, (n, k, _, p) in zip(lows, along, strict=True))  # fmt: skip
        count = padded if count_include_pad else inside
        found[(..., *place)] = window.astype(np.float64).sum(axes) / count
    return found


def averaged(x: np.ndarray, sizes: Sequence[int | None]) -> np.ndarray:
    """Return the means of ``sizes`` windows of the last two axes, as adaptive_avg_pool2d does."""
    for axis, own in ((-2, sizes[0]), (-1, sizes[1])):
        extent = x.shape[axis]
        count = own or extent
        parts = [
            np.take(x, range(n * extent // count, -(-(n + 1) * extent // count)), axis)
            for n in range(count)
        ]
        x = np.stack([part.mean(axis) for part in parts], axis)
    return x


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: Any = None, *, causal: bool = False,
    scale: float | None = None,
) -> np.ndarray:  # fmt: skip
    scores = q.astype(np.float64) @ k.swapaxes(-1, -2) * (scale or 1 / np.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    is_blind = scores.max(-1, keepdims=True) == -np.inf
    return np.where(is_blind, 0.0, np.exp(log_softmax(np.where(is_blind, 0.0, scores), -1))) @ v
