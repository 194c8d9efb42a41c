"""Fourier transforms, as ``torch.fft``."""

from __future__ import annotations

from typing import Any

from browsergpu import fft as _own
from browsergpu.engine.core.errors import UnknownName
from browsergpu.torch.tensors.public import returning_tensors


def _of_one(name: str) -> Any:
    def call(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        return getattr(_own, name)(input, n, dim, norm)

    call.__name__, call.__doc__ = name, f"Return the transform ``{name}`` of an axis."
    return returning_tensors(call, out=True)


def _of_several(name: str, default: Any) -> Any:
    def call(input: Any, s: Any = None, dim: Any = default, norm: Any = None) -> Any:
        return getattr(_own, name)(input, s, dim, norm)

    call.__name__, call.__doc__ = name, f"Return the transform ``{name}`` of axes."
    return returning_tensors(call, out=True)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    globals()[_name] = _of_one(_name)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    globals()[_name] = _of_several(_name, (-2, -1))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    globals()[_name] = _of_several(_name, None)


def _shifted(name: str) -> Any:
    def call(input: Any, dim: Any = None) -> Any:
        return getattr(_own, name)(input, dim)

    call.__name__, call.__doc__ = name, f"Reorder frequencies, as ``{name}``."
    return returning_tensors(call)


fftshift, ifftshift = _shifted("fftshift"), _shifted("ifftshift")


@returning_tensors
def fftfreq(n: int, d: float = 1.0) -> Any:
    """Return the frequencies of a transform."""
    return _own.fftfreq(n, d).astype("float32")


@returning_tensors
def rfftfreq(n: int, d: float = 1.0) -> Any:
    """Return the frequencies of a transform of real numbers."""
    return _own.rfftfreq(n, d).astype("float32")


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnknownName(f"torch.fft.{name}", "it is not available.")
