"""Pooling along one, two and three axes, in float32.

All functions use the two-dimensional kernel. With three axes, it pools two first and then the
third.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.families import INTERCEPTED
from browsergpu.arrays.autograd.grad_mode import no_grad
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.engine.core import checks
from browsergpu.engine.core.checks import product
from browsergpu.engine.core.element_types import INT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.core.shapes import Shape
from browsergpu.engine.core.turns import exclusive
from browsergpu.engine.kernels.convolution.pool import plan_pool
from browsergpu.engine.tensors import nn
from browsergpu.functions.nn import inputs
from browsergpu.functions.nn import pooling_gradients as gradients
from browsergpu.functions.weighted_sums import weighted_sums, weighted_sums_gradient

#: Kernel, stride, padding and dilation along an axis that is not pooled.
_NEUTRAL = (1, 1, 0, 1)


def _maxima(x: Array, along: Sequence[Shape], upwards: bool) -> tuple[Array, Array]:
    """Return maxima of images and their indices, without recording for gradients."""
    kernel, stride, padding, dilation = along
    with no_grad():
        found, places = max_pool2d(x, kernel, stride, padding, dilation, upwards, True)
    return found, places


def _maxima_and_places(
    rank: int,
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """Return the result of max_pool1d or max_pool2d, and the indices of the maxima."""
    op = f"max_pool{rank}d"
    has_both = checks.flag(op, "return_indices", return_indices)
    windows = kernel_size, stride, padding, dilation, ceil_mode
    found, places = _max_pool(op, rank, input, windows, True)
    return (found, places) if has_both else found, {"places": places}


def _adaptive_gradient(g: Any, input_like: Like) -> Any:
    for axis in (g.ndim - 2, g.ndim - 1):
        extent = input_like.shape[axis]
        g = weighted_sums_gradient(g, axis, *adaptive_windows(extent, g.shape[axis]), extent)
    return g


@differentiable(input=gradients.of_max(1), keeping=partial(_maxima_and_places, 1))
def max_pool1d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window along one axis.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Elements added at both ends. They are never the maximum. At most half of ``kernel_size``.
    dilation : int or sequence of int, optional
        Distance of elements in a window.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.
    return_indices : bool, optional
        Whether to return the index of each maximum, too.

    Returns
    -------
    Array or tuple of Array
        Shape [N, C, P] or [C, P], of the dtype of ``input``. With ``return_indices``, also the
        index in [L] of each maximum, as int32. The first one is taken among equals.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    windows = kernel_size, stride, padding, dilation, ceil_mode
    return _max_pool("max_pool1d", 1, input, windows, return_indices)


@differentiable(input=gradients.of_max(2), keeping=partial(_maxima_and_places, 2))
def max_pool2d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element of each window along two axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window. This and the next three options are one number, or one for each axis.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Elements added at both ends. They are never the maximum. At most half of ``kernel_size``.
    dilation : int or sequence of int, optional
        Distance of elements in a window.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.
    return_indices : bool, optional
        Whether to return the index of each maximum, too.

    Returns
    -------
    Array or tuple of Array
        Shape [N, C, P, Q] or [C, P, Q], of the dtype of ``input``. With ``return_indices``, also
        the index in [H, W] of each maximum, row × W + column, as int32. The first one is taken
        among equals.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    windows = kernel_size, stride, padding, dilation, ceil_mode
    return _max_pool("max_pool2d", 2, input, windows, return_indices)


@differentiable(input=gradients.of_max_3d(_maxima))
def max_pool3d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Array:
    """Return the largest element of each window along three axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window. This and the next three options are one number, or one for each axis.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Elements added at both ends. They are never the maximum. At most half of ``kernel_size``.
    dilation : int or sequence of int, optional
        Distance of elements in a window.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.

    Returns
    -------
    Array
        Shape [N, C, O, P, Q] or [C, O, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    windows = kernel_size, stride, padding, dilation, ceil_mode
    return _pool("max_pool3d", 3, "max", input, windows)


@differentiable(input=gradients.of_mean(1))
def avg_pool1d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """Return the mean of each window along one axis.

    Parameters
    ----------
    input : Array
        Shape [N, C, L] or [C, L], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Zeros added at both ends. At most half of ``kernel_size``.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.
    count_include_pad : bool, optional
        Whether the zeros of the padding count as elements.

    Returns
    -------
    Array
        Shape [N, C, P] or [C, P], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "avg_pool1d"
    function = _mean(op, count_include_pad)
    return _pool(op, 1, function, input, (kernel_size, stride, padding, 1, ceil_mode))


@differentiable(input=gradients.of_mean(2))
def avg_pool2d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """Return the mean of each window along two axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window. This and the next two options are one number, or one for each axis.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Zeros added at both ends. At most half of ``kernel_size``.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.
    count_include_pad : bool, optional
        Whether the zeros of the padding count as elements.

    Returns
    -------
    Array
        Shape [N, C, P, Q] or [C, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "avg_pool2d"
    function = _mean(op, count_include_pad)
    return _pool(op, 2, function, input, (kernel_size, stride, padding, 1, ceil_mode))


@differentiable(input=gradients.of_mean(3))
def avg_pool3d(
    input: Array,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """Return the mean of each window along three axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, D, H, W] or [C, D, H, W], float32 or float16.
    kernel_size : int or sequence of int
        Extent of the window. This and the next two options are one number, or one for each axis.
    stride : int or sequence of int, optional
        Distance of windows. ``kernel_size`` by default.
    padding : int or sequence of int, optional
        Zeros added at both ends. At most half of ``kernel_size``.
    ceil_mode : bool, optional
        Whether to keep a last window that extends beyond the end.
    count_include_pad : bool, optional
        Whether the zeros of the padding count as elements.

    Returns
    -------
    Array
        Shape [N, C, O, P, Q] or [C, O, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If shapes or options do not fit.
    InvalidType
        If ``input`` does not consist of floats.
    """
    op = "avg_pool3d"
    function = _mean(op, count_include_pad)
    return _pool(op, 3, function, input, (kernel_size, stride, padding, 1, ceil_mode))


@differentiable(input=_adaptive_gradient)
def adaptive_avg_pool2d(input: Array, output_size: Any) -> Array:
    """Return the means of a given number of windows along two axes.

    Parameters
    ----------
    input : Array
        Shape [N, C, H, W] or [C, H, W], float32 or float16.
    output_size : int or sequence
        Number of windows [P, Q], or one number for both. None keeps the extent of an axis.

    Returns
    -------
    Array
        Shape [N, C, P, Q] or [C, P, Q], of the dtype of ``input``.

    Raises
    ------
    InvalidArgument
        If ``output_size`` is invalid, or ``input`` has a wrong shape or no elements.
    InvalidType
        If ``input`` does not consist of floats.

    Notes
    -----
    Along an axis of extent n, window i of m has the indices from ⌊i n / m⌋ to ⌈(i + 1) n / m⌉ - 1.
    """
    op = "adaptive_avg_pool2d"
    x, alone = inputs.images(op, "input", input, 2)
    sizes = window_counts(op, output_size, x)
    if all(extent % size == 0 for extent, size in zip(x.shape[2:], sizes, strict=True)):
        kernel = [extent // size for extent, size in zip(x.shape[2:], sizes, strict=True)]
        return avg_pool2d(input, kernel)
    x = means(x, sizes)
    return x.reshape(x.shape[1:]) if alone else x


def window_counts(op: str, output_size: Any, x: Array) -> Shape:
    """Return the number of windows along each axis after N and C. None keeps the extent."""
    extents = x.shape[2:]
    given = output_size if checks.is_several(output_size) else (output_size,) * len(extents)
    if len(given) != len(extents):
        raise InvalidArgument(op, "output_size", output_size, f"one number, or {len(extents)}")
    if 0 in extents:
        raise InvalidArgument(op, "input", x, "have elements")
    return tuple(
        extent if size is None else checks.integer(op, "output_size", size, 1)
        for size, extent in zip(given, extents, strict=True)
    )


def means(x: Array, sizes: Sequence[int]) -> Array:
    """Return the means of windows along the last axes."""
    for axis, size in enumerate(sizes, x.ndim - len(sizes)):
        if size != x.shape[axis]:
            x = weighted_sums(x, axis, *adaptive_windows(x.shape[axis], size))
    return x


def adaptive_windows(extent: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices in each window and their shares of the mean, padded to equal length."""
    edges = np.arange(size + 1, dtype=np.int64) * extent  # wider than a page's intp
    first = (edges[:-1] // size).astype(np.intp)
    end = -(-edges[1:] // size).astype(np.intp)
    places = first[:, None] + np.arange((end - first).max())
    inside = places < end[:, None]
    shares = inside / (end - first)[:, None]
    return np.where(inside, places, first[:, None]), shares.astype(np.float32)


def _mean(op: str, count_include_pad: Any) -> str:
    padding = checks.flag(op, "count_include_pad", count_include_pad)
    return "mean_padded" if padding else "mean"


@exclusive
def pooled_unevenly(
    op: str, function: str, x: Array, kernel: Shape, stride: Shape, dilation: Shape,
    pairs: Sequence[tuple[int, int]], *, upwards: bool = False,
) -> Array | None:  # fmt: skip
    """Pool [N, C, L] or [N, C, H, W] with other padding before than after, or return None.

    ``function`` is "max", or "mean" of the elements within x. ``pairs`` are (before, after) for
    each axis, and ``upwards`` keeps a last window that extends beyond the end. Tracked and batched
    arrays are left to functions that have gradients and batching rules.
    """
    rank = len(kernel)
    halves = [extent // 2 for extent in kernel]
    fits = all(
        min(pair) >= 0 and max(pair) <= most for pair, most in zip(pairs, halves, strict=True)
    )
    if type(x) in INTERCEPTED or rank > 2 or x.ndim != rank + 2 or not fits:
        return None
    before, after = zip(*pairs, strict=True)
    along = [tuple(own) for own in (kernel, stride, before, dilation, after)]
    own = x
    if rank == 1:
        own = x.reshape((*x.shape[:2], 1, x.shape[2]))
        along = [(neutral, *one) for neutral, one in zip((*_NEUTRAL, 0), along, strict=True)]
    *settings, behind = along
    found, _ = _pool_2d(op, function, own, (*settings, upwards, behind))
    return found.reshape((*x.shape[:2], *found.shape[4 - rank :]))


def _max_pool(op: str, rank: int, input: Any, windows: tuple[Any, ...], return_indices: Any) -> Any:
    if not checks.flag(op, "return_indices", return_indices):
        return _pool(op, rank, "max", input, windows)
    x, along, upwards, alone = _as_images(op, rank, input, windows)
    found, places = _pool_2d(op, "max", x, (*along, upwards), indices=True)
    shape = (*found.node.shape[alone:2], *found.node.shape[4 - rank :])
    return inputs.in_shape(found, shape), inputs.in_shape(places, shape)


def _as_images(
    op: str, rank: int, input: Any, windows: tuple[Any, ...]
) -> tuple[Array, list[Shape], bool, bool]:
    """Return the input, its options, whether extents are rounded up, and whether it is one image.

    An input of one axis becomes images of one row. Options are for all axes.
    """
    x, alone = inputs.images(op, "input", input, rank)
    *along, upwards = _windows(op, rank, *windows)
    if rank == 1:
        x = x.reshape((*x.shape[:2], 1, x.shape[2]))
        along = [(neutral, *own) for neutral, own in zip(_NEUTRAL, along, strict=True)]
    return x, along, upwards, alone


def _windows(
    op: str, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> tuple[Any, ...]:
    """Return the checked options of each axis, and whether extents are rounded up."""
    kernel = checks.each_axis(op, "kernel_size", kernel_size, rank, 1)
    steps = kernel if stride is None else checks.each_axis(op, "stride", stride, rank, 1)
    around = checks.each_axis(op, "padding", padding, rank, 0)
    apart = checks.each_axis(op, "dilation", dilation, rank, 1)
    for extent, cut in zip(kernel, around, strict=True):
        if 2 * cut > extent:
            expected = f"at most half of kernel_size, {kernel}"
            raise InvalidArgument(op, "padding", padding, expected)
    return kernel, steps, around, apart, checks.flag(op, "ceil_mode", ceil_mode)


def _pool(op: str, rank: int, function: str, input: Any, windows: tuple[Any, ...]) -> Array:
    x, along, upwards, alone = _as_images(op, rank, input, windows)
    own = x.node.shape
    lead = own[:2]
    flat_images = inputs.in_shape(x, (lead[0], product(own[1:-2]), *own[-2:]))
    last = [setting[-2:] for setting in along]
    found, _ = _pool_2d(op, function, flat_images, (*last, upwards))
    shape = found.node.shape[2 if rank > 1 else 3 :]
    if rank == 3:
        columns = found.reshape((*lead, x.shape[2], product(shape)))
        deep = [(own[0], neutral) for neutral, own in zip(_NEUTRAL, along, strict=True)]
        found, _ = _pool_2d(op, function, columns, (*deep, upwards))
        shape = (found.shape[2], *shape)
    return inputs.in_shape(found, (*lead[alone:], *shape))


def _pool_2d(
    op: str, function: str, x: Array, windows: tuple[Any, ...], *, indices: bool = False
) -> tuple[Array, Array]:
    """Pool [N, C, H, W], and find the indices of the maxima if requested."""
    try:
        plan = plan_pool(op, x.shape, *windows)
    except InvalidArgument as error:  # the windows do not fit, as all else is checked
        raise InvalidArgument(op, "kernel_size", windows[0], error.expected) from None
    made = inputs.room(op, x, x.node.kind, plan.output_shape)
    places = inputs.room(op, x, INT32, plan.output_shape if indices else (0,))
    if made.size:
        own = apply.packed(x)
        nn.pool(
            x.device, op, function, plan, inputs.memory(own), inputs.memory(made),
            inputs.memory(places) if indices else None,
        )  # fmt: skip
    return made, places
