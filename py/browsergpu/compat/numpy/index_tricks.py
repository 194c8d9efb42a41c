"""Index tricks and iterators: ``mgrid``, ``ogrid``, ``r_``, ``c_``, ``ix_``, ``nditer``."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.compat.numpy.coercion import operand
from browsergpu.compat.numpy.fallback import on_host, to_gpu, to_host
from browsergpu.engine.core.showing import Shown
from browsergpu.functions import creation, manipulation


class Grid(Shown):
    """``mgrid`` and ``ogrid``: coordinates of a grid, given by slices."""

    def __init__(self, name: str, theirs: Any) -> None:
        self._name, self._theirs = name, theirs

    def _facts(self) -> str:
        return self._name

    def __getitem__(self, key: Any) -> Any:
        return to_gpu(self._theirs[key])


class Joiner(Shown):
    """``r_`` and ``c_``: concatenate arrays, numbers and slices."""

    def __init__(self, name: str, theirs: Any, is_columns: bool) -> None:
        self._name, self._theirs, self._is_columns = name, theirs, is_columns

    def _facts(self) -> str:
        return self._name

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if any(isinstance(x, str) for x in items):
            return on_host(f"np.{self._name}", self._theirs.__getitem__, (key,), {})
        parts = [self._part(x) for x in items]
        if all(isinstance(x, int | float | complex | np.generic) for x in items):
            row = creation.asarray(list(items))
            return row.reshape((1, -1)) if self._is_columns else row
        return manipulation.concat(parts, axis=-1 if self._is_columns else 0)

    def _part(self, x: Any) -> Array:
        own: Any = to_gpu(np.r_[x]) if isinstance(x, slice) else operand(x)
        if own.ndim == 0:
            own = own.reshape((1,))
        if self._is_columns and own.ndim == 1:
            own = own.reshape((-1, 1))
        return own  # type: ignore[no-any-return]


def ix_(*args: Any) -> tuple[Any, ...]:
    """Return an open mesh of index vectors, as ``numpy.ix_``. Waits for vectors on the GPU."""
    return np.ix_(*(to_host(x) for x in args))


class Vectorize(np.vectorize):
    """``numpy.vectorize``. It calls the function on the host and uploads the results."""

    def __repr__(self) -> str:
        return f"<vectorize of {getattr(self.pyfunc, '__name__', 'a function')}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        return on_host("np.vectorize", super().__call__, args, options)


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **options: Any) -> Any:
    """Iterate over copies on the host, as ``numpy.nditer``. Waits for the GPU.

    Raises TypeError if an operand on the GPU is writable.
    """
    several = op if isinstance(op, list | tuple) else [op]
    writes = str(op_flags or "")
    if any(isinstance(x, Array) for x in several) and ("write" in writes):
        raise TypeError("nditer: arrays on the GPU cannot be written. Iterate over x.numpy().")
    return np.nditer(to_host(op), flags or (), op_flags, *args, **options)


nditer.of_numpy = np.nditer  # type: ignore[attr-defined]


def ndenumerate(arr: Any) -> Any:
    """Iterate over indices and elements, as ``numpy.ndenumerate``. Waits for the GPU once."""
    return np.ndenumerate(to_host(arr))


def broadcast(*args: Any) -> Any:
    """Return a ``numpy.broadcast`` object with the shapes of the arguments, but no elements."""
    shapes = [x.shape if isinstance(x, Array) else np.shape(x) for x in args]
    return np.broadcast(*(np.broadcast_to(0, shape) for shape in shapes))


OBJECTS: dict[str, Any] = {
    "broadcast": broadcast,
    "c_": Joiner("c_", np.c_, True),
    "ix_": ix_,
    "mgrid": Grid("mgrid", np.mgrid),
    "nditer": nditer,
    "ndenumerate": ndenumerate,
    "ogrid": Grid("ogrid", np.ogrid),
    "r_": Joiner("r_", np.r_, False),
    "vectorize": Vectorize,
}
