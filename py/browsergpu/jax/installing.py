"""``install()``: the name ``jax`` for other people's programs."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from browsergpu.engine.core.errors import Unsupported
from browsergpu.jax.arrays.array import JAX

_HERE = __package__
#: The modules under ``jax``.
_MODULES = (
    "", "dtypes", "flatten_util", "lax", "nn", "nn.initializers", "numpy", "numpy.fft",
    "numpy.linalg", "random", "scipy", "scipy.linalg", "scipy.special", "scipy.stats", "sharding",
    "tree", "tree_util", "typing",
)  # fmt: skip


def install() -> None:
    """Put this package under the name ``jax``, for programs that import it.

    Raises
    ------
    Unsupported
        If JAX is installed, or has been imported.

    Examples
    --------
    >>> import browsergpu.jax
    >>> browsergpu.jax.install()
    >>> import jax.numpy as jnp
    >>> jnp.arange(3)
    Array([0, 1, 2], dtype=int32)
    """
    own = sys.modules[_HERE]
    if sys.modules.get("jax") is own:
        return
    if "jax" in sys.modules or find_spec("jax") is not None:
        message = "JAX is installed here. Use import browsergpu.jax as jax."
        raise Unsupported("install", message)
    for name in _MODULES:
        there = ".".join(filter(None, (_HERE, name)))
        sys.modules[".".join(filter(None, ("jax", name)))] = import_module(there)
    for kind in JAX:  # libraries tell JAX's arrays by this name
        kind.__module__ = "jax"
    distributions: Any = import_module(f"{_HERE}.scipy.stats")
    for name in distributions.__all__:
        sys.modules[f"jax.scipy.stats.{name}"] = getattr(distributions, name)
