"""``jax.numpy.fft``."""

from __future__ import annotations

from typing import Any

from browsergpu.jax.arrays import dtypes
from browsergpu.jax.arrays.array import as_jax
from browsergpu.jax.numpy import wrappers

_NAMES = (
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
)  # fmt: skip
__all__ = list(_NAMES)

for _name in _NAMES:
    globals()[_name] = wrappers.general(f"fft.{_name}")


def _frequencies(name: str) -> Any:
    def call(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
        kind = dtypes.dtype_of(name, dtype)
        return as_jax(wrappers.own(f"fft.{name}")(n, d, device, dtype=kind))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return ``jnp.fft.{name}``, as float32."
    return call


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
