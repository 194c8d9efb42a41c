"""``jax.flatten_util``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browsergpu.engine.core.checks import product
from browsergpu.engine.core.errors import InvalidArgument
from browsergpu.functions import manipulation
from browsergpu.jax import tree
from browsergpu.jax.arrays.array import as_jax, cast
from browsergpu.jax.arrays.operands import array, arrays
from browsergpu.jax.numpy.creation import full


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the elements of a tree as one vector, and the function back to a tree.

    Parameters
    ----------
    pytree : tree
        Arrays and numbers.

    Returns
    -------
    vector : Array
        The elements in the promoted dtype.
    unravel : callable
        Takes a vector. Returns the tree, in the dtypes of its arrays.

    Examples
    --------
    >>> from browsergpu.jax import flatten_util
    >>> vector, unravel = flatten_util.ravel_pytree({"a": 1.0, "b": [2.0, 3.0]})
    >>> unravel(vector * 2)["a"]
    Array(2., dtype=float32)
    """
    leaves, structure = tree.flatten(pytree)
    own = [array("ravel_pytree", x) for x in leaves]
    shapes, kinds = [tuple(x.shape) for x in own], [x.dtype for x in own]
    if own:
        flat = [manipulation.reshape(x, (-1,)) for x in arrays("ravel_pytree", *own)]
        vector = as_jax(manipulation.concat(flat, axis=0))
    else:
        vector = full((0,), 0.0)

    def unravel(given: Any) -> Any:
        x = array("unravel", given)
        if x.shape != vector.shape:
            raise InvalidArgument("unravel", "vector", x, f"of shape {tuple(vector.shape)}")
        made, start = [], 0
        for shape, kind in zip(shapes, kinds, strict=True):
            stop = start + product(shape)
            made.append(cast(as_jax(manipulation.reshape(x[start:stop], shape)), kind))
            start = stop
        return structure.unflatten(made)

    return vector, unravel
