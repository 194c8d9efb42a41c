"""Random numbers: ``browsergpu.random.default_rng(seed)``."""

from typing import Any

from numpy import random as _of_numpy

from browsergpu.arrays.functions.drawing import Generator, default_rng
from browsergpu.core.errors import UnknownName

__all__ = ["Generator", "default_rng"]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(_of_numpy, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    message = "there is no such name here. Draw with browsergpu.random.default_rng(seed)."
    raise UnknownName(f"browsergpu.random.{name}", message)
