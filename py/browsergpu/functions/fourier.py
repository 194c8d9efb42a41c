"""Discrete Fourier transforms, the ``fft`` extension of the Python Array API standard.

The functions compute in float32 and complex64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from browsergpu.arrays import apply, reduce
from browsergpu.arrays.array import Array
from browsergpu.arrays.autograd.nodes import Like
from browsergpu.arrays.autograd.rules import differentiable
from browsergpu.arrays.lazy.node import room
from browsergpu.arrays.reduce import pairs_view
from browsergpu.engine.core import checks, shapes
from browsergpu.engine.core.element_types import COMPLEX64, FLOAT32
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.engine.tensors import fourier
from browsergpu.functions import creation, elementwise, manipulation

_NORMS = ("backward", "ortho", "forward")


def _scale(op: str, norm: Any, n: int, *, inverse: bool) -> float:
    if norm not in _NORMS:
        raise InvalidArgument(op, "norm", norm, f"one of {', '.join(_NORMS)}")
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "backward") == inverse else 1.0


def _length(op: str, n: Any, default: int) -> int:
    return checks.integer(op, "n", default if n is None else n, 1)


def _resized(x: Array, axis: int, n: int) -> Array:
    """Cut off an array along an axis, or pad it with zeros."""
    extent = x.shape[axis]
    if extent > n:
        return x[(*(slice(None),) * axis, slice(n))]
    if extent < n:
        shape = (*x.shape[:axis], n - extent, *x.shape[axis + 1 :])
        behind = creation.zeros(shape, dtype=x.dtype, device=x.device)
        return manipulation.concat([x, behind], axis=axis)
    return x


def _complex(op: str, x: Array) -> Array:
    return apply.packed(apply.cast_to(op, x, COMPLEX64, copy=False))


#: Norm of the transposed transform. Both transforms have the same scale.
_TRANSPOSED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _fft_gradient(g: Array, x_like: Like, axis: int, norm: str) -> Array:
    back = ifft(g, axis=axis, norm=_TRANSPOSED[norm])
    return _resized(back, axis % g.ndim, x_like.shape[axis])


def _ifft_gradient(g: Array, x_like: Like, axis: int, norm: str) -> Array:
    back = fft(g, axis=axis, norm=_TRANSPOSED[norm])
    return _resized(back, axis % g.ndim, x_like.shape[axis])


def _scale_half(x: Array, axis: int, n: int, factor: float) -> Array:
    """Scale the numbers of half a transform that stand for two of its ``n`` numbers."""
    at = axis % x.ndim
    factors = np.full(x.shape[at], factor, np.float32)
    factors[0] = 1
    if n % 2 == 0:
        factors[-1] = 1
    shape = [-1 if other == at else 1 for other in range(x.ndim)]
    found: Array = x * creation.asarray(factors.reshape(shape), device=x.device)
    return found


def _rfft_gradient(g: Array, x_like: Like, n: int | None, axis: int, norm: str) -> Array:
    length = x_like.shape[axis] if n is None else n
    halves = _scale_half(g, axis, length, 0.5)
    back = irfft(halves, n=length, axis=axis, norm=_TRANSPOSED[norm])
    return _resized(back, axis % g.ndim, x_like.shape[axis])


def _irfft_gradient(g: Array, x_like: Like, axis: int, norm: str) -> Array:
    length = g.shape[axis]
    twice = _scale_half(rfft(g, axis=axis, norm=_TRANSPOSED[norm]), axis, length, 2.0)
    return _resized(twice, axis % g.ndim, x_like.shape[axis])


def _transform(op: str, x: Array, n: Any, axis: int, norm: Any, *, inverse: bool) -> Array:
    at = shapes.axis(op, "axis", axis, x.ndim)
    length = _length(op, n, x.shape[at])
    scale = _scale(op, norm, length, inverse=inverse)
    own = _complex(op, _resized(x, at, length))
    found = own.like(room(x.device, op, COMPLEX64, own.shape))
    fourier.transform(
        x.device, op, pairs_view(own.node), pairs_view(found.node), inverse, scale, at
    )
    return found


@differentiable(x=_fft_gradient)
def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    n : int, optional
        Length of the transform. Longer arrays are cut off, and shorter ones padded with zeros. By
        default, the extent of the axis.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        complex64, with ``n`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    return _transform("fft", x, n, axis, norm, inverse=False)


@differentiable(x=_ifft_gradient)
def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse discrete Fourier transform along an axis.

    Parameters
    ----------
    x : Array
        Any dtype.
    n : int, optional
        Length of the transform, as in :func:`fft`.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        complex64, with ``n`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    return _transform("ifft", x, n, axis, norm, inverse=True)


@differentiable(x=_rfft_gradient)
def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the discrete Fourier transform of real numbers along an axis.

    The result has only the first ``n // 2 + 1`` numbers. The others are their conjugates.

    Parameters
    ----------
    x : Array
        Real numbers.
    n : int, optional
        Length of the transform, as in :func:`fft`.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        complex64, with ``n // 2 + 1`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    op = "rfft"
    at = shapes.axis(op, "axis", axis, x.ndim)
    length = _length(op, n, x.shape[at])
    scale = _scale(op, norm, length, inverse=False)
    real = apply.cast_to(op, x, FLOAT32, copy=False)
    own = apply.packed(manipulation.moveaxis(_resized(real, at, length), at, -1))
    shape = (*own.shape[:-1], length // 2 + 1)
    found = own.like(room(x.device, op, COMPLEX64, shape))
    fourier.of_real(x.device, op, reduce.memory_view(own.node), pairs_view(found.node), scale)
    return manipulation.moveaxis(found, -1, at)


@differentiable(x=_irfft_gradient)
def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse of :func:`rfft`.

    Parameters
    ----------
    x : Array
        The first ``n // 2 + 1`` numbers of a transform.
    n : int, optional
        Number of results. By default, ``2 * (m - 1)`` for m elements along the axis.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        float32, with ``n`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    op = "irfft"
    at = shapes.axis(op, "axis", axis, x.ndim)
    length = _length(op, n, 2 * (x.shape[at] - 1))
    scale = _scale(op, norm, length, inverse=True)
    own = _complex(op, manipulation.moveaxis(_resized(x, at, length // 2 + 1), at, -1))
    found = own.like(room(x.device, op, FLOAT32, (*own.shape[:-1], length)))
    fourier.to_real(x.device, op, pairs_view(own.node), reduce.memory_view(found.node), scale)
    return manipulation.moveaxis(found, -1, at)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the real discrete Fourier transform of a Hermitian-symmetric signal.

    The input is the first half of the signal. The other half has its conjugates.

    Parameters
    ----------
    x : Array
        Any dtype.
    n : int, optional
        Number of results. By default, ``2 * (m - 1)`` for m elements along the axis.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        float32, with ``n`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    turned = _TRANSPOSED.get(norm, norm)
    return irfft(elementwise.conj(x), n=n, axis=axis, norm=turned)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse of :func:`hfft`.

    Parameters
    ----------
    x : Array
        Real numbers.
    n : int, optional
        Length of the transform, as in :func:`fft`.
    axis : int, optional
        The axis.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled. "backward" divides the inverse one by ``n``, "forward" the other
        one, and "ortho" both by the square root.

    Returns
    -------
    Array
        complex64, with ``n // 2 + 1`` elements along the axis.

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1, ``norm`` has another value, or the axis is out of range.
    """
    turned = _TRANSPOSED.get(norm, norm)
    return elementwise.conj(rfft(x, n=n, axis=axis, norm=turned))


def _axes(op: str, x: Array, s: Any, axes: Any) -> list[tuple[int, int]]:
    """Return the axes of a transform, each with its length."""
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = range(x.ndim - count, x.ndim)
    elif not checks.is_several(axes) and not isinstance(axes, range):
        raise InvalidArgument(op, "axes", axes, "a sequence of axes")
    chosen = [shapes.axis(op, "axes", axis, x.ndim) for axis in axes]
    lengths = [x.shape[axis] for axis in chosen] if s is None else list(s)
    if len(lengths) != len(chosen):
        raise InvalidArgument(op, "s", s, f"have {len(chosen)} lengths, one for each axis")
    return list(zip(chosen, lengths, strict=True))


def _some_axes(op: str, x: Array, s: Any, axes: Any) -> list[tuple[int, int]]:
    """Return the axes of a transform of real numbers, which needs one to halve."""
    found = _axes(op, x, s, axes)
    if not found:
        raise InvalidArgument(op, "axes", axes, f"at least one axis of x, which has {x.ndim}")
    return found


def _along(
    op: str, transform: Callable[..., Array], x: Array, s: Any, axes: Any, norm: str
) -> Array:
    """Transform along one axis after the other. Without axes, return a copy."""
    chosen = _axes(op, x, s, axes)
    for axis, n in chosen:
        x = transform(x, n=n, axis=axis, norm=norm)
    return x if chosen else x.__copy__()


def fftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:  # fmt: skip
    """Return the discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    s : sequence of int, optional
        Length of the transform along each axis. By default, the extent of the axis.
    axes : sequence of int, optional
        The axes. By default, the last ``len(s)`` axes, or all.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled, as in :func:`fft`.

    Returns
    -------
    Array
        complex64.

    Raises
    ------
    InvalidArgument
        If a length is less than 1, ``s`` and ``axes`` have different lengths, ``norm`` has another
        value, or an axis is out of range.
    """
    return _along("fftn", fft, x, s, axes, norm)


def ifftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:  # fmt: skip
    """Return the inverse discrete Fourier transform along several axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    s : sequence of int, optional
        Length of the transform along each axis. By default, the extent of the axis.
    axes : sequence of int, optional
        The axes. By default, the last ``len(s)`` axes, or all.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled, as in :func:`fft`.

    Returns
    -------
    Array
        complex64.

    Raises
    ------
    InvalidArgument
        If a length is less than 1, ``s`` and ``axes`` have different lengths, ``norm`` has another
        value, or an axis is out of range.
    """
    return _along("ifftn", ifft, x, s, axes, norm)


def rfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:  # fmt: skip
    """Return the discrete Fourier transform of real numbers along several axes.

    The result has only half of the numbers along the last axis, as in :func:`rfft`.

    Parameters
    ----------
    x : Array
        Real numbers.
    s : sequence of int, optional
        Length of the transform along each axis. By default, the extent of the axis.
    axes : sequence of int, optional
        The axes. By default, the last ``len(s)`` axes, or all.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled, as in :func:`fft`.

    Returns
    -------
    Array
        complex64, with ``n // 2 + 1`` elements along the last of the axes.

    Raises
    ------
    InvalidArgument
        If a length is less than 1, ``s`` and ``axes`` have different lengths, ``norm`` has another
        value, or an axis is out of range.
    """
    *rest, (last, n) = _some_axes("rfftn", x, s, axes)
    found = rfft(x, n=n, axis=last, norm=norm)
    for axis, length in rest:
        found = fft(found, n=length, axis=axis, norm=norm)
    return found


def irfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:  # fmt: skip
    """Return the inverse of :func:`rfftn`.

    Parameters
    ----------
    x : Array
        The numbers that :func:`rfftn` returns.
    s : sequence of int, optional
        Length of the transform along each axis. By default, the extent m of the axis, and ``2 * (m
        - 1)`` for the last axis.
    axes : sequence of int, optional
        The axes. By default, the last ``len(s)`` axes, or all.
    norm : {"backward", "ortho", "forward"}, optional
        Which transform is scaled, as in :func:`fft`.

    Returns
    -------
    Array
        float32.

    Raises
    ------
    InvalidArgument
        If a length is less than 1, ``s`` and ``axes`` have different lengths, ``norm`` has another
        value, or an axis is out of range.
    """
    *rest, (last, n) = _some_axes("irfftn", x, s, axes)
    for axis, length in rest:
        x = ifft(x, n=length, axis=axis, norm=norm)
    return irfft(x, n=2 * (n - 1) if s is None else n, axis=last, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of a discrete Fourier transform.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, optional
        Distance of the samples.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        Shape [n].

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1.
    """
    count = checks.integer("fftfreq", "n", n, 1)
    half = (count + 1) // 2
    kind = FLOAT32.numpy if dtype is None else dtype
    parts = [creation.arange(0, half, dtype=kind, device=device),
             creation.arange(half - count, 0, dtype=kind, device=device)]  # fmt: skip
    return manipulation.concat(parts) / (count * d)  # type: ignore[no-any-return]


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of :func:`rfft`.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, optional
        Distance of the samples.
    dtype : dtype, optional
        float32 by default.
    device : Device, optional
        The current device by default.

    Returns
    -------
    Array
        Shape [n // 2 + 1].

    Raises
    ------
    InvalidArgument
        If ``n`` is less than 1.
    """
    count = checks.integer("rfftfreq", "n", n, 1)
    kind = FLOAT32.numpy if dtype is None else dtype
    found = creation.arange(0, count // 2 + 1, dtype=kind, device=device)
    return found / (count * d)  # type: ignore[no-any-return]


def fftshift(x: Array, /, *, axes: Any = None) -> Array:
    """Shift the zero frequency to the middle of axes.

    Parameters
    ----------
    x : Array
        Any dtype.
    axes : int or tuple of int, optional
        The axes. All by default.

    Returns
    -------
    Array
        A copy of the shape and dtype of ``x``.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    chosen = shapes.axes("fftshift", "axes", axes, x.ndim)
    return manipulation.roll(x, [x.shape[n] // 2 for n in chosen], axis=chosen)


def ifftshift(x: Array, /, *, axes: Any = None) -> Array:
    """Undo :func:`fftshift`.

    Parameters
    ----------
    x : Array
        Any dtype.
    axes : int or tuple of int, optional
        The axes. All by default.

    Returns
    -------
    Array
        A copy of the shape and dtype of ``x``.

    Raises
    ------
    InvalidArgument
        If an axis is out of range or repeated.
    """
    chosen = shapes.axes("ifftshift", "axes", axes, x.ndim)
    return manipulation.roll(x, [-(x.shape[n] // 2) for n in chosen], axis=chosen)
