"""Pooling: maxima, means and norms of windows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from browsergpu.functions.nn.pooling import pooled_unevenly
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import integers
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.operators.arrays.shapes import padded
from browsergpu.onnx.operators.networks.windows import Windows, windows
from browsergpu.onnx.registry import operator


def _filled(x: Any, own: Windows, counts: list[int], number: Any) -> Any:
    """Pad so that all windows lie within the array, and crop what none of them meets."""
    after = [
        (count - 1) * step + span - extent - first
        for count, step, span, extent, first in zip(
            counts, own.strides, own.spans(), x.shape[2:], own.before, strict=True
        )
    ]
    return padded(x, [*own.before, *after], "constant", number, range(2, x.ndim))


def _uneven(function: str, x: Any, own: Windows, ceil_mode: int) -> Any:
    """Pool by the kernel that pads, with other pads before than after, or return None."""
    settings = tuple(own.kernel), tuple(own.strides), tuple(own.dilations)
    pairs = [*zip(own.before, own.after, strict=True)]
    op = f"{function}_pool"
    return pooled_unevenly(op, function, x, *settings, pairs, upwards=bool(ceil_mode))


@operator("MaxPool")
def max_pool(
    x: Any, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    dilations: list[int] | None = None, pads: list[int] | None = None, storage_order: int = 0,
    strides: list[int] | None = None, node: Node,
) -> Any:  # fmt: skip
    """Return the largest element of each window."""
    rank, kind = x.ndim - 2, x.dtype
    extents = x.shape[2:]
    own = windows(extents, kernel_shape, strides, dilations, pads, auto_pad)
    counts = own.counts(extents, ceil_mode)
    lowest = float(np.iinfo(kind).min) if kind.kind in "iu" else -np.inf
    wide = x if kind.kind == "f" else x.astype("float32", copy=False)
    steps, gaps = tuple(own.strides), tuple(own.dilations)
    function = getattr(bg.nn, f"max_pool{rank}d")
    is_plain = own.before == own.after and not ceil_mode
    is_plain = is_plain and all(2 * n <= k for n, k in zip(own.before, own.kernel, strict=True))
    if not node.wants(1):
        if is_plain:
            padding = tuple(own.before)
            return function(wide, tuple(kernel_shape), steps, padding, gaps).astype(
                kind, copy=False
            )
        found = _uneven("max", wide, own, ceil_mode)
        if found is None:
            whole = _filled(wide, own, counts, lowest)
            found = function(whole, tuple(kernel_shape), steps, 0, gaps)
        return found.astype(kind, copy=False)
    if rank > 2:
        raise ValueError("Indices of volumes are not available.")
    whole = _filled(wide, own, counts, lowest)
    found, flat = function(whole, tuple(kernel_shape), steps, 0, gaps, return_indices=True)
    flat = flat.astype("int64", copy=False)
    places = []
    for extent in reversed(whole.shape[2:]):
        places.append(flat % extent)
        flat = flat // extent
    inside = [place - first for place, first in zip(reversed(places), own.before, strict=True)]
    order = range(rank) if storage_order == 0 else reversed(range(rank))
    index: Any = 0
    for at in order:
        index = index * extents[at] + inside[at]
    planes = np.arange(x.shape[0] * x.shape[1]).reshape((*x.shape[:2], *(1,) * rank))
    return found.astype(kind, copy=False), index + bg.asarray(planes * prod(extents))


def _counted(own: Windows, extents: Any, counts: list[int], whole: int) -> np.ndarray:
    """Return the elements that each window counts: without pads, or with those not of ceil_mode."""
    found = np.ones((), np.float32)
    for at, count in enumerate(counts):
        first = np.arange(count) * own.strides[at] - own.before[at]
        places = first[:, None] + np.arange(own.kernel[at]) * own.dilations[at]
        low, high = (-own.before[at], extents[at] + own.after[at]) if whole else (0, extents[at])
        each = ((places >= low) & (places < high)).sum(1).astype(np.float32, copy=False)
        found = found[..., None] * each
    return found


def _sums(x: Any, own: Windows, counts: list[int]) -> Any:
    """Return the sums of windows, zeros where they leave the array."""
    rank = x.ndim - 2
    whole = _filled(x, own, counts, 0)
    if any(gap != 1 for gap in own.dilations):
        ones = bg.ones((x.shape[1], 1, *own.kernel), dtype=x.dtype)
        function = getattr(bg.nn, f"conv{rank}d")
        gaps = tuple(own.dilations)
        return function(whole, ones, None, tuple(own.strides), 0, gaps, x.shape[1])
    function = getattr(bg.nn, f"avg_pool{rank}d")
    return function(whole, tuple(own.kernel), tuple(own.strides)) * prod(own.kernel)


@operator("AveragePool")
def average_pool(
    x: Any, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    count_include_pad: int = 0, dilations: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window."""
    extents = x.shape[2:]
    own = windows(extents, kernel_shape, strides, dilations, pads, auto_pad)
    counts = own.counts(extents, ceil_mode)
    number = _counted(own, extents, counts, count_include_pad)
    is_even = (number == number.flat[0]).all() and number.flat[0] == prod(own.kernel)
    if is_even and all(gap == 1 for gap in own.dilations):
        function = getattr(bg.nn, f"avg_pool{x.ndim - 2}d")
        settings = tuple(own.kernel), tuple(own.strides)
        fits = all(2 * n <= extent for n, extent in zip(own.before, own.kernel, strict=True))
        if own.before == own.after and not ceil_mode and fits and min(own.before) >= 0:
            return function(x, *settings, tuple(own.before))
        return function(_filled(x, own, counts, 0), *settings)
    found = None
    if not count_include_pad and number.min() > 0:
        found = _uneven("mean", x, own, ceil_mode)
    if found is None:
        found = _sums(x, own, counts) / bg.asarray(np.maximum(number, 1))
    return found.astype(x.dtype, copy=False)


@operator("LpPool", since=2)
def lp_pool(
    x: Any, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    dilations: list[int] | None = None, p: int = 2, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Return the p-norm of each window."""
    own = windows(x.shape[2:], kernel_shape, strides, dilations, pads, auto_pad)
    sums = _sums(bg.abs(x) ** p, own, own.counts(x.shape[2:], ceil_mode))
    return sums ** (1 / p)


def _spatial(x: Any) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(x: Any) -> Any:
    """Return the mean of each channel."""
    return bg.mean(x, axis=_spatial(x), keepdims=True)


@operator("GlobalMaxPool")
def global_max_pool(x: Any) -> Any:
    """Return the largest element of each channel."""
    return bg.max(x, axis=_spatial(x), keepdims=True)


@operator("GlobalLpPool", since=2)
def global_lp_pool(x: Any, *, p: int = 2) -> Any:
    """Return the p-norm of each channel."""
    return bg.sum(bg.abs(x) ** p, axis=_spatial(x), keepdims=True) ** (1 / p)


@operator("MaxUnpool", since=9, host=("output_shape",))
def max_unpool(
    x: Any, indices: Any, output_shape: Any = None, *, kernel_shape: list[int],
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    """Put elements back to the places of maxima, and zeros elsewhere."""
    rank = x.ndim - 2
    steps, around = strides or [1] * rank, pads or [0] * 2 * rank
    sizes = [
        (n - 1) * step + k - around[at] - around[rank + at]
        for at, (n, step, k) in enumerate(zip(x.shape[2:], steps, kernel_shape, strict=True))
    ]
    shape = (*x.shape[:2], *sizes)
    own = shape if output_shape is None else integers(output_shape)
    places = indices.reshape(-1).astype("int64", copy=False)
    if tuple(own) != shape:  # indices are those of the smaller array
        apart = []
        for extent in reversed(shape):
            apart.append(places % extent)
            places = places // extent
        places = apart[-1]
        for at, extent in zip(reversed(range(len(shape) - 1)), own[1:], strict=True):
            places = places * extent + apart[at]
    flat = bg.zeros((prod(own),), dtype=x.dtype)
    bg.put_along_axis(flat, places, x.reshape(-1), 0)
    return flat.reshape(own)
