"""``jax.typing``: names for annotations."""

from __future__ import annotations

from typing import Any

from browsergpu.jax.arrays.array import JaxArray

Array = JaxArray
ArrayLike = Any
DTypeLike = Any
