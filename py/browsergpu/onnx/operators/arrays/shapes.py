"""Shapes: reshaping, joining, splitting, padding, and arrays of a shape."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from browsergpu.onnx.graph.narrow import Narrow
from browsergpu.onnx.graph.node import Node
from browsergpu.onnx.graph.values import (
    MOST_ON_HOST,
    axis_of,
    integers,
    namespace_of,
    on_host,
    to_gpu,
)
from browsergpu.onnx.namespace import bg
from browsergpu.onnx.registry import operator


def _codes(function: Any) -> Any:
    """Let a function of an array's elements work on the codes of a narrow type."""

    def call(x: Any, *args: Any, **options: Any) -> Any:
        if isinstance(x, Narrow):
            return x.like(function(to_gpu(x.codes), *args, **options))
        return function(x, *args, **options)

    call.__doc__ = function.__doc__
    return call


def joined(arrays: Any, axis: int) -> Any:
    """Concatenate arrays of the host, or of the GPU."""
    if on_host(*arrays):
        return np.concatenate(arrays, axis)
    if len(arrays) == 1:
        return arrays[0]
    return bg.concatenate([to_gpu(x) for x in arrays], axis)


@operator("Shape", raw=True)
def shape(x: Any, *, start: int = 0, end: int | None = None) -> Any:
    """Return the shape, or a part of it, on the host."""
    return np.array(x.shape[start:end], np.int64)


@operator("Size", raw=True)
def size(x: Any) -> Any:
    """Return the number of elements, on the host."""
    return np.array(prod(x.shape), np.int64)


@operator("Identity", raw=True)
def identity(x: Any) -> Any:
    """Return the value."""
    return x


@operator("Reshape", since=5, raw=True)
def reshape(x: Any, shape: Any, *, allowzero: int = 0, node: Node) -> Any:
    """Give another shape. 0 keeps an extent, and -1 is what is left."""
    sizes = list(integers(node.read(shape)))
    if not allowzero:
        sizes = [x.shape[at] if n == 0 and at < x.ndim else n for at, n in enumerate(sizes)]
    if -1 in sizes:
        rest = prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = prod(x.shape) // rest if rest else 0
    return _reshaped(x, tuple(sizes))


@_codes
def _reshaped(x: Any, sizes: tuple[int, ...]) -> Any:
    return x.reshape(sizes)


@operator("Flatten", since=1, raw=True)
def flatten(x: Any, *, axis: int = 1) -> Any:
    """Make a matrix of the axes before one, and of those from it on."""
    at = axis + len(x.shape) if axis < 0 else axis
    return _reshaped(x, (prod(x.shape[:at]), prod(x.shape[at:])))


@operator("Transpose", raw=True)
def transpose(x: Any, *, perm: list[int] | None = None) -> Any:
    """Permute axes, or reverse their order."""
    return _transposed(x, perm)


@_codes
def _transposed(x: Any, perm: Any) -> Any:
    return namespace_of(x).transpose(x, None if perm is None else tuple(perm))


def _squeezed(x: Any, axes: Any) -> Any:
    if axes is None:
        sizes = tuple(n for n in x.shape if n != 1)
    else:
        gone = {axis_of(axis, len(x.shape)) for axis in axes}
        wrong = [axis for axis in gone if x.shape[axis] != 1]
        if wrong:
            raise ValueError(f"axes must have the extent 1, got {x.shape} for axes {wrong}")
        sizes = tuple(n for at, n in enumerate(x.shape) if at not in gone)
    return _reshaped(x, sizes)


@operator("Squeeze", until=12, raw=True)
def squeeze_of_attribute(x: Any, *, axes: list[int] | None = None) -> Any:
    """Remove axes of one element, which an attribute names."""
    return _squeezed(x, axes)


@operator("Squeeze", since=13, raw=True)
def squeeze(x: Any, axes: Any = None, *, node: Node) -> Any:
    """Remove axes of one element."""
    return _squeezed(x, None if axes is None else integers(node.read(axes)))


def _unsqueezed(x: Any, axes: Any) -> Any:
    rank = len(x.shape) + len(axes)
    new = {axis_of(axis, rank) for axis in axes}
    old = iter(x.shape)
    return _reshaped(x, tuple(1 if at in new else next(old) for at in range(rank)))


@operator("Unsqueeze", until=12, raw=True)
def unsqueeze_of_attribute(x: Any, *, axes: list[int]) -> Any:
    """Add axes of one element, which an attribute names."""
    return _unsqueezed(x, axes)


@operator("Unsqueeze", since=13, raw=True)
def unsqueeze(x: Any, axes: Any, *, node: Node) -> Any:
    """Add axes of one element."""
    return _unsqueezed(x, integers(node.read(axes)))


@operator("Concat", since=4, folds=True)
def concat(*inputs: Any, axis: int) -> Any:
    """Join arrays along an axis."""
    return joined(inputs, axis)


def _split(x: Any, sizes: Any, axis: int) -> tuple[Any, ...]:
    at = axis_of(axis, x.ndim)
    if sum(sizes) != x.shape[at]:
        raise ValueError(f"split must be numbers whose sum is {x.shape[at]}, got {list(sizes)}")
    found, begin = [], 0
    for n in sizes:
        found.append(x[(*(slice(None),) * at, slice(begin, begin + n))])
        begin += n
    return tuple(found)


def even_sizes(extent: int, count: int) -> list[int]:
    """Return the sizes of parts, of which the last may be smaller."""
    each = -(-extent // count)
    return [max(0, min(each, extent - at * each)) for at in range(count)]


@operator("Split", until=12, folds=True)
def split_of_attribute(x: Any, *, axis: int = 0, split: list[int] | None = None, node: Node) -> Any:
    """Split along an axis, into parts that an attribute names."""
    sizes = split or even_sizes(x.shape[axis], len(node.outputs))
    return _split(x, sizes, axis)


@operator("Split", since=13, folds=True, host=("split",))
def split(
    x: Any, split: Any = None, *, axis: int = 0, num_outputs: int | None = None, node: Node
) -> Any:
    """Split along an axis."""
    if split is not None:
        return _split(x, integers(split), axis)
    return _split(x, even_sizes(x.shape[axis], num_outputs or len(node.outputs)), axis)


@operator("Expand", since=8, host=("shape",), folds=True)
def expand(x: Any, shape: Any) -> Any:
    """Broadcast to a shape."""
    sizes = np.broadcast_shapes(x.shape, integers(shape))
    if on_host(x) and prod(sizes) <= MOST_ON_HOST:
        return np.broadcast_to(x, sizes)
    return bg.broadcast_to(to_gpu(x), sizes)


@operator("Tile", since=6, host=("repeats",), folds=True)
def tile(x: Any, repeats: Any) -> Any:
    """Repeat an array along its axes."""
    times = integers(repeats)
    if on_host(x) and prod(times) * x.size <= MOST_ON_HOST:
        return np.tile(x, times)
    return bg.tile(to_gpu(x), times)


@operator("ConstantOfShape", since=9, host=("shape",), folds=True)
def constant_of_shape(shape: Any, *, value: Any = None, node: Node) -> Any:
    """Return an array of one number."""
    sizes = integers(shape)
    if isinstance(value, Narrow):
        return value.like(bg.full(sizes, value.codes.reshape(()).item(), dtype=value.type.codes))
    number = np.zeros(1, np.float32) if value is None else value
    if prod(sizes) <= MOST_ON_HOST and number.dtype.kind in "iub":
        return np.full(sizes, number.reshape(())[()])
    return bg.full(sizes, number.item(), dtype=node.context.dtype(number.dtype))


@operator("Range", since=11, host=("start", "limit", "delta"), folds=True)
def range_(start: Any, limit: Any, delta: Any) -> Any:
    """Return numbers with equal distances."""
    first, last, step = (x.item() for x in (start, limit, delta))
    count = max(-int(-(last - first) // step), 0)
    if count <= MOST_ON_HOST and start.dtype.kind in "iu":
        return np.arange(count, dtype=start.dtype) * delta.reshape(()) + start.reshape(())
    return (bg.arange(count) * step + first).astype(start.dtype, copy=False)


@operator("EyeLike", since=9, raw=True)
def eye_like(x: Any, *, dtype: int | None = None, k: int = 0, node: Node) -> Any:
    """Return ones on a diagonal, in the shape of a matrix."""
    kind = x.dtype if dtype is None else node.dtype(dtype)
    return bg.eye(x.shape[0], x.shape[1], k, dtype=kind)


@operator("DepthToSpace")
def depth_to_space(x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    """Move channels into blocks of pixels."""
    n, c, *spatial = x.shape
    rank = len(spatial)
    blocks, left = (blocksize,) * rank, c // blocksize**rank
    if mode == "DCR":
        apart = x.reshape((n, *blocks, left, *spatial))
        order = [0, rank + 1]
        first = 1
    else:
        apart = x.reshape((n, left, *blocks, *spatial))
        order = [0, 1]
        first = 2
    for at in range(rank):
        order += [rank + 2 + at, first + at]
    return apart.transpose(order).reshape((n, left, *(m * blocksize for m in spatial)))


@operator("SpaceToDepth")
def space_to_depth(x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    """Move blocks of pixels into channels."""
    n, c, *spatial = x.shape
    rank = len(spatial)
    sizes: list[int] = []
    for extent in spatial:
        sizes += [extent // blocksize, blocksize]
    apart = x.reshape((n, c, *sizes))
    inner = [3 + 2 * at for at in range(rank)]
    outer = [2 + 2 * at for at in range(rank)]
    order = (0, *inner, 1, *outer) if mode == "DCR" else (0, 1, *inner, *outer)
    return apart.transpose(order).reshape(
        (n, c * blocksize**rank, *(m // blocksize for m in spatial))
    )


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def padded(x: Any, pads: Any, mode: str, number: Any, axes: Any = None) -> Any:
    """Pad or crop axes. ``pads`` has the numbers before all axes, then those after them."""
    used = range(x.ndim) if axes is None else [axis_of(axis, x.ndim) for axis in axes]
    count = len(pads) // 2
    pairs = [(0, 0)] * x.ndim
    for at, axis in enumerate(used):
        pairs[axis] = (pads[at], pads[count + at])
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, got {mode!r}")
    crops = tuple(
        slice(max(-before, 0), extent - max(-after, 0) if after < 0 else None)
        for extent, (before, after) in zip(x.shape, pairs, strict=True)
    )
    if any(n < 0 for pair in pairs for n in pair):
        x = x[crops]
    pairs = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if not any(n for pair in pairs for n in pair):
        return x
    module = namespace_of(x)
    if mode == "constant" and module is np:
        return np.pad(x, pairs, constant_values=number)
    if mode == "constant":  # one kernel for all axes
        return bg.nn.pad(x, [n for pair in reversed(pairs) for n in pair], value=number)
    return module.pad(x, pairs, mode=mode)


@operator("Pad", since=2, until=10)
def pad_of_attributes(
    x: Any, *, pads: list[int], mode: str = "constant", value: float = 0.0
) -> Any:
    """Pad, by numbers in attributes."""
    return padded(x, pads, mode, value)


@operator("Pad", since=11, host=("pads", "value", "axes"), folds=True)
def pad(x: Any, pads: Any, value: Any = None, axes: Any = None, *, mode: str = "constant") -> Any:
    """Pad with a number, the edge, mirrored or repeated elements."""
    number = 0 if value is None or not value.size else value.item()
    used = None if axes is None else integers(axes)
    if x.dtype.kind == "b":
        return padded(x.astype("uint8", copy=False), integers(pads), mode, int(number), used) != 0
    return padded(x, integers(pads), mode, number, used)


@operator("CenterCropPad", since=18, host=("shape",))
def center_crop_pad(x: Any, shape: Any, *, axes: list[int] | None = None) -> Any:
    """Crop or pad with zeros around the center, to a shape."""
    used = range(x.ndim) if axes is None else [axis_of(axis, x.ndim) for axis in axes]
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, wanted in zip(used, integers(shape), strict=True):
        extra = wanted - x.shape[axis]
        begin = extra // 2 if extra >= 0 else -((-extra) // 2)
        before[axis], after[axis] = begin, extra - begin
    return padded(x, [*before, *after], "constant", 0)


@operator("Trilu", since=14, host=("k",))
def trilu(x: Any, k: Any = None, *, upper: int = 1) -> Any:
    """Keep the elements on one side of a diagonal."""
    diagonal = 0 if k is None else int(k.item())
    if x.dtype.kind == "b":
        return trilu(x.astype("uint8", copy=False), k, upper=upper) != 0
    return (bg.triu if upper else bg.tril)(x, diagonal)
