"""Operands of NumPy's functions: arrays of the GPU beside NumPy's, and results in ``out``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.numbers import PYTHON_TYPES
from browsergpu.core.errors import InvalidArgument
from browsergpu.functions import creation, elementwise, manipulation, meta


def on_one_device(inputs: Sequence[Any]) -> list[Any]:
    """Copy NumPy's arrays and lists among some operands to the device of the others.

    Parameters
    ----------
    inputs : sequence
        Arrays and numbers. Where none is on a GPU, arrays go to the default device.

    Returns
    -------
    list
        The operands in their order. Numbers stay as they are.
    """
    if _are_ready(inputs):
        return list(inputs)
    ours = [x for x in inputs if isinstance(x, Array)]
    if not ours:
        return [creation.asarray(x) if isinstance(x, np.ndarray | list) else x for x in inputs]
    if any(x.tracer is not ours[0].tracer for x in ours):
        ours = apply.on_one_device("array", *ours)
    elif not any(isinstance(x, np.ndarray | list) for x in inputs):
        return list(inputs)
    device, those = ours[0].device, iter(ours)
    # A list beside integers of 64 bits has NumPy's dtype, else its own.
    is_wide = any(x.dtype.kind in "iu" and x.dtype.itemsize == 8 for x in ours)
    return [
        next(those)
        if isinstance(x, Array)
        else meta.beside(device, np.asarray(x) if is_wide else x)
        if isinstance(x, np.ndarray | list)
        else x
        for x in inputs
    ]


def _are_ready(inputs: Sequence[Any]) -> bool:
    """Return whether operands are arrays of one device, one at least, and Python's numbers."""
    tracer = None
    for x in inputs:
        if isinstance(x, Array):
            if tracer is None:
                tracer = x.tracer
            elif x.tracer is not tracer:
                return False
        elif type(x) not in PYTHON_TYPES:
            return False
    return tracer is not None


def flattened(x: Any) -> Any:
    """Return the elements of an array along one axis."""
    return manipulation.reshape(x, (-1,))


def parts_of(x: Any) -> Any:
    """The parts of an array along its first axis, as views: to iterate over a vector reads it."""
    return [x[i] for i in range(x.shape[0])] if isinstance(x, Array) else x


def as_floats(x: Any) -> Any:
    """Return integers and bools as float32, floats and complex numbers as they are."""
    if isinstance(x, Array):
        return x if x.dtype.kind in "fc" else x.astype(np.float32)
    return x if isinstance(x, complex) else float(x)


def into(out: Any, found: Array) -> Array:
    """Write a result into ``out``, if there is one."""
    if out is None:
        return found
    if not isinstance(out, Array):
        raise InvalidArgument("out", "out", out, "an array on the GPU")
    out[...] = found
    return out


def refuse(op: str, **given: Any) -> None:
    """Raise InvalidArgument for the first argument that is neither None nor False."""
    for name, value in given.items():
        if value is not None and value is not False and value is not np._NoValue:
            raise InvalidArgument(op, name, value, "the default, as there is no other on the GPU")


def indices_by_mode(op: str, indices: Any, extent: int, mode: str) -> Any:
    """Return indices from 0 on for ``mode`` "wrap" or "clip", and as they are for "raise".

    Raises InvalidArgument for another mode.
    """
    if mode == "wrap":
        return indices % extent if isinstance(indices, Array) else np.mod(indices, extent)
    if mode == "clip":
        clip = elementwise.clip if isinstance(indices, Array) else np.clip
        return clip(indices, 0, extent - 1)
    if mode != "raise":
        raise InvalidArgument(op, "mode", mode, "'raise', 'wrap' or 'clip'")
    return indices


def layout(op: str, order: Any) -> None:
    """Raise InvalidArgument for an order of elements in memory that arrays on the GPU cannot have.

    Results are packed row by row. That is "C", and what "K" and "A" allow.
    """
    if order not in (None, "C", "K", "A"):
        raise InvalidArgument(op, "order", order, "one of 'C', 'K' and 'A'")


def described(own: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an array that needs elements, also for arrays without values that have none.

    ``browsergpu.dask`` describes chunks by such arrays: what a function gives for them has the
    number of axes and the dtype that it gives for chunks, and no elements either.
    """

    @wraps(own)
    def call(a: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(a, Array) or a.device.has_values or 0 not in a.shape:
            return own(a, *args, **options)
        found = own(meta.stand_in(_some(a.shape), a.dtype), *args, **options)
        if isinstance(found, tuple):
            return tuple(map(_none_of, found))
        return _none_of(found)

    return call


def _some(shape: Sequence[int]) -> tuple[int, ...]:
    """Extents with elements enough for every function."""
    return tuple(extent or 8 for extent in shape)


def _none_of(found: Array) -> Array:
    return meta.stand_in((0,) * found.ndim, found.dtype)
