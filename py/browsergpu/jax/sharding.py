"""``jax.sharding``: the place of an array, which is one device."""

from __future__ import annotations

from typing import Any

from browsergpu.engine.core.errors import UnknownName
from browsergpu.jax.arrays.array import Sharding as Sharding
from browsergpu.jax.arrays.array import SingleDeviceSharding as SingleDeviceSharding


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax.sharding' has no attribute {name!r}")
    advice = "it is not available. Use browsergpu.dask for several GPUs."
    raise UnknownName(f"browsergpu.jax.sharding.{name}", advice)
