"""``numpy.fft``, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.operands import supports_meta, write_out
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions import fourier


def _one_axis_function(own: Callable[..., Array]) -> Callable[..., Array]:
    @supports_meta
    def call(a: Array, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Array:
        _check_real(own.__name__, a)
        return write_out(out, own(a, n=n, axis=axis, norm=_norm(norm)))

    return call


def _axes_function(
    own: Callable[..., Array], default: tuple[int, ...] | None
) -> Callable[..., Array]:
    @supports_meta
    def call(
        a: Array, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None
    ) -> Array:
        _check_real(own.__name__, a)
        return write_out(out, own(a, s=s, axes=axes, norm=_norm(norm)))

    return call


def _check_real(name: str, a: Array) -> None:
    if name in ("rfft", "rfftn", "ihfft") and a.dtype.kind == "c":
        raise InvalidType(name, "a", a.dtype, "real numbers")


def _norm(norm: Any) -> Any:
    return "backward" if norm is None else norm


_N_DIMENSIONAL = ("fft", "ifft", "rfft", "irfft")

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{
        getattr(np.fft, name): _one_axis_function(getattr(fourier, name))
        for name in (*_N_DIMENSIONAL, "hfft", "ihfft")
    },
    **{
        getattr(np.fft, f"{name}n"): _axes_function(getattr(fourier, f"{name}n"), None)
        for name in _N_DIMENSIONAL
    },
    **{
        getattr(np.fft, f"{name}2"): _axes_function(getattr(fourier, f"{name}n"), (-2, -1))
        for name in _N_DIMENSIONAL
    },
    np.fft.fftshift: lambda x, axes=None: fourier.fftshift(x, axes=axes),
    np.fft.ifftshift: lambda x, axes=None: fourier.ifftshift(x, axes=axes),
}
