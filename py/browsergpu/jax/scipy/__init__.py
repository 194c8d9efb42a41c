"""``jax.scipy``: ``special``, ``linalg`` and ``stats``."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.scipy import linalg, special, stats

__all__ = ["linalg", "special", "stats"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.scipy' has no attribute {name!r}")
    raise UnknownName(f"browsergpu.jax.scipy.{name}", f"use one of {', '.join(__all__)}")
