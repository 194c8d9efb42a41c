"""``jax.scipy``: ``special``, ``linalg`` and ``stats``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from browsergpu.core.errors import UnknownName

_MODULES = ("linalg", "special", "stats")


def unknown(module: str, name: str) -> UnknownName:
    """Return the error for a name that a module of SciPy does not have here."""
    advice = "it is not available. browsergpu.special, browsergpu.linalg may have it."
    return UnknownName(f"browsergpu.jax.scipy.{module}.{name}", advice)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"browsergpu.jax.scipy.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.scipy' has no attribute {name!r}")
    raise UnknownName(f"browsergpu.jax.scipy.{name}", f"use one of {', '.join(_MODULES)}")
