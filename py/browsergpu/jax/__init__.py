"""JAX's names: the transforms, ``random`` with keys, ``lax`` and ``tree``.

Arrays are those of ``browsergpu``. Use ``browsergpu`` in place of ``jax.numpy``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import devices
from browsergpu.autograd.batching.vmap import vmap
from browsergpu.autograd.custom import checkpoint, custom_vjp
from browsergpu.autograd.jacobians import hessian, jacfwd, jacrev
from browsergpu.autograd.transforms import grad, jvp, linearize, value_and_grad, vjp
from browsergpu.compiled.jit import jit as _compiled
from browsergpu.core.errors import UnknownName
from browsergpu.jax import lax, random, tree

__all__ = [
    "Array", "block_until_ready", "checkpoint", "custom_vjp", "devices", "grad", "hessian",
    "jacfwd", "jacrev", "jit", "jvp", "lax", "linearize", "random", "tree", "tree_map",
    "value_and_grad", "vjp", "vmap",
]  # fmt: skip

tree_map = tree.map

#: Names of JAX that are missing, with advice.
_ADVICE = {
    "numpy": "Use browsergpu itself, with set_default_int('int32') for JAX's integers.",
    "nn": "Use browsergpu.nn.",
    "scipy": "Use browsergpu.special and browsergpu.linalg.",
    "device_put": "Use browsergpu.asarray(x, device=device).",
    "pmap": "Use browsergpu.dask for several GPUs.",
    "custom_jvp": "Use custom_vjp.",
    "tree_util": "Use browsergpu.jax.tree.",
    "debug": "Use print() outside of jit.",
    "eval_shape": "Call the function: operations check shapes and compute nothing until a read.",
}


def jit(
    fun: Callable[..., Any], /, *,
    static_argnums: int | Iterable[int] = (), static_argnames: str | Iterable[str] = (),
    donate_argnums: int | Iterable[int] = (), donate_argnames: str | Iterable[str] = (),
) -> Any:  # fmt: skip
    """Compile a function as :func:`browsergpu.jit`, with JAX's arguments.

    Parameters
    ----------
    fun : callable
        The function.
    static_argnums, static_argnames
        The positions and names of arguments whose values the graph depends on.
    donate_argnums, donate_argnames
        The positions and names of arguments whose memory results may use.

    Returns
    -------
    callable
        The compiled function.

    Raises
    ------
    InvalidArgument
        If the function has no such argument.

    Examples
    --------
    >>> power = bg.jax.jit(lambda x, n: x**n, static_argnums=1)
    >>> power(bg.asarray([2.0, 3.0]), 2)
    array([4., 9.], dtype=float32)
    """
    return _compiled(
        fun,
        static=(*_several(static_argnums), *_several(static_argnames)),
        donate=(*_several(donate_argnums), *_several(donate_argnames)),
    )


def _several(given: Any) -> tuple[Any, ...]:
    return (given,) if isinstance(given, int | str) else tuple(given)


def block_until_ready(x: Any) -> Any:
    """Wait until the arrays of a tree are computed, and return the tree."""
    for leaf in tree.leaves(x):
        if isinstance(leaf, Array):
            leaf.reshape(-1)[:1].detach().numpy()
    return x


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'browsergpu.jax' has no attribute {name!r}")
    advice = _ADVICE.get(name)
    if advice is None:
        close = difflib.get_close_matches(name, __all__, 1)
        advice = f"Did you mean {close[0]}?" if close else "browsergpu may have a function for it."
    raise UnknownName(f"browsergpu.jax.{name}", f"it is not available. {advice}")
