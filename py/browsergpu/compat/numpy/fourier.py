"""NumPy's ``fft``, with NumPy's names of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import described, into
from browsergpu.functions import fourier


def _of_one_axis(own: Callable[..., Array]) -> Callable[..., Array]:
    @described
    def call(a: Array, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Array:
        return into(out, own(a, n=n, axis=axis, norm=_norm(norm)))

    return call


def _of_axes(own: Callable[..., Array], default: tuple[int, ...] | None) -> Callable[..., Array]:
    @described
    def call(
        a: Array, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None
    ) -> Array:
        return into(out, own(a, s=s, axes=axes, norm=_norm(norm)))

    return call


def _norm(norm: Any) -> Any:
    return "backward" if norm is None else norm


_SEVERAL = ("fft", "ifft", "rfft", "irfft")

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{
        getattr(np.fft, name): _of_one_axis(getattr(fourier, name))
        for name in (*_SEVERAL, "hfft", "ihfft")
    },
    **{
        getattr(np.fft, f"{name}n"): _of_axes(getattr(fourier, f"{name}n"), None)
        for name in _SEVERAL
    },
    **{
        getattr(np.fft, f"{name}2"): _of_axes(getattr(fourier, f"{name}n"), (-2, -1))
        for name in _SEVERAL
    },
    np.fft.fftshift: lambda x, axes=None: fourier.fftshift(x, axes=axes),
    np.fft.ifftshift: lambda x, axes=None: fourier.ifftshift(x, axes=axes),
}
