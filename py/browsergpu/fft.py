"""Discrete Fourier transforms, as in ``numpy.fft`` and the Array API standard."""

from typing import Any as _Any

from numpy.fft import __all__ as _names

from browsergpu.compat.numpy.namespace import module_attribute as _module_attribute

__all__ = list(_names)


def __getattr__(name: str) -> _Any:
    found = globals()[name] = _module_attribute("fft", name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
