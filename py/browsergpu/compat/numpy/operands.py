"""Helpers for functions with NumPy's parameters: operands, ``out``, ``order`` and ``mode``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays import apply
from browsergpu.arrays.array import Array
from browsergpu.arrays.numbers import PYTHON_TYPES
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.functions import creation, data_types, elementwise, manipulation, meta


def on_one_device(inputs: Sequence[Any]) -> list[Any]:
    """Upload NumPy arrays and lists among operands to the device of the other operands.

    Parameters
    ----------
    inputs : sequence
        Arrays and numbers. If none is on a GPU, arrays are uploaded to the default device.

    Returns
    -------
    list
        The operands in the same order. Numbers are unchanged.
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
    # With 64-bit integers, a list gets NumPy's dtype. Otherwise it gets the package's default.
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
    """Return whether operands are arrays of one device, at least one, and Python numbers."""
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


def subarrays(x: Any) -> Any:
    """Return views of an array along its first axis. Iterating over a vector would read it."""
    return [x[i] for i in range(x.shape[0])] if isinstance(x, Array) else x


def as_floats(x: Any) -> Any:
    """Convert integers and bools to float32. Floats and complex numbers are unchanged."""
    if isinstance(x, Array):
        return x if x.dtype.kind in "fc" else x.astype(np.float32)
    return x if isinstance(x, complex) else float(x)


def check_out(out: Array, found: Array) -> None:
    """Raise InvalidType if NumPy does not cast a result to the dtype of ``out``."""
    if not data_types.can_cast(found.dtype, out.dtype, casting="same_kind"):
        expected = f"of a dtype that 'same_kind' casts {found.dtype} to"
        raise InvalidType("out", "out", out, expected)


def write_out(out: Any, found: Array) -> Array:
    """Return a result, or write it to ``out`` and return that."""
    if out is None:
        return found
    if not isinstance(out, Array):
        raise InvalidArgument("out", "out", out, "an array on the GPU")
    if out.shape != found.shape:
        raise InvalidArgument("out", "out", out, f"of shape {found.shape}")
    check_out(out, found)
    out[...] = found
    return out


def refuse(op: str, **given: Any) -> None:
    """Raise InvalidArgument for the first argument that is neither None nor False."""
    for name, value in given.items():
        if value is not None and value is not False and value is not np._NoValue:
            advice = "The GPU supports no other value."
            raise InvalidArgument(op, name, value, "the default", advice)


def indices_by_mode(op: str, indices: Any, extent: int, mode: str) -> Any:
    """Wrap or clip indices to ``extent``. Mode "raise" returns them unchanged.

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


def check_order(op: str, order: Any) -> None:
    """Raise InvalidArgument for a memory order other than "C", "K" or "A".

    Results are row-major, which all three allow.
    """
    if order not in (None, "C", "K", "A"):
        raise InvalidArgument(op, "order", order, "one of 'C', 'K' and 'A'")


def supports_meta(own: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function of nonempty arrays, so that it accepts empty meta arrays too.

    ``browsergpu.dask`` describes chunks by meta arrays, which have no values. The result for an
    empty meta array is an empty meta array with the right number of axes and dtype.
    """

    @wraps(own)
    def call(a: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(a, Array) or a.device.has_values or 0 not in a.shape:
            return own(a, *args, **options)
        found = own(meta.stand_in(_nonempty(a.shape), a.dtype), *args, **options)
        if isinstance(found, tuple):
            return tuple(map(_empty, found))
        return _empty(found)

    return call


def _nonempty(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape with enough elements for every function."""
    return tuple(extent or 8 for extent in shape)


def _empty(found: Array) -> Array:
    return meta.stand_in((0,) * found.ndim, found.dtype)
