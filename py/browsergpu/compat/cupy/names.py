"""CuPy's ``asnumpy``, ``get_array_module`` and ``fuse``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from browsergpu.arrays import readback
from browsergpu.arrays.array import Array
from browsergpu.engine.core import checks
from browsergpu.engine.core.above import ABOVE
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.showing import Description


def asnumpy(
    a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> np.ndarray:
    """Return an array as a NumPy array. Waits for the GPU.

    Parameters
    ----------
    a : Array or array_like
        The array. Data on the host is passed to ``np.asarray``.
    stream : cuda.Stream, optional
        Accepted as in CuPy. All streams are the same queue.
    order : {"C", "F", "A"}, optional
        The memory layout of the result.
    out : numpy.ndarray, optional
        An array for the result. If ``a`` is an Array, ``out`` must have its shape and dtype.
    blocking : bool, optional
        Must be True. If Python cannot wait, use ``await a.numpy_async()``.

    Returns
    -------
    numpy.ndarray
        A copy, or ``out``.

    Raises
    ------
    InvalidArgument
        For ``blocking=False``, another order, or an ``out`` of another shape or dtype.
    InvalidType
        If ``out`` is not a NumPy array, or ``stream`` not a Stream.
    """
    op = "asnumpy"
    if not checks.flag(op, "blocking", blocking):
        advice = "Await a.numpy_async()."
        raise InvalidArgument(op, "blocking", blocking, "True", advice)
    if order not in ("C", "F", "A"):
        raise InvalidArgument(op, "order", order, "'C', 'F' or 'A'")
    _check_stream(op, stream)
    if out is not None:
        _check_out(op, a, out)
    if isinstance(a, Array):
        found = readback.numpy(a)
        found = np.asfortranarray(found) if order == "F" else found
    else:
        found = np.asarray(a, None, order)  # type: ignore[call-overload]
    if out is None:
        return found
    out[...] = found
    given: np.ndarray = out
    return given


def _check_out(op: str, a: Any, out: Any) -> None:
    if not isinstance(out, np.ndarray):
        raise InvalidType(op, "out", out, "a NumPy array")
    if isinstance(a, Array) and (a.shape, a.dtype) != (out.shape, out.dtype):
        expected = f"an array of shape {a.shape} and dtype {a.dtype.name}"
        raise InvalidArgument(op, "out", out, expected)


def _check_stream(op: str, stream: Any) -> None:
    if stream is not None and not hasattr(stream, "wait_event"):
        raise InvalidType(op, "stream", stream, "a browsergpu.cuda.Stream or None")


def get_array_module(*args: Any) -> Any:
    """Return ``browsergpu`` if an argument is an Array, else ``numpy``."""
    is_ours = any(isinstance(one, Array) for one in args)
    return ABOVE.namespace if is_ours else np


def fuse(*args: Any, kernel_name: str | None = None) -> Any:
    """Return the decorated function, as in CuPy.

    It needs no fusion, because chains of elementwise operations are fused automatically.
    ``bg.explain(x)`` shows the kernels.

    Parameters
    ----------
    *args : callable
        The function. Without it, ``fuse`` returns a decorator.
    kernel_name : str, optional
        The ``__name__`` of the returned function.
    """
    op = "fuse"
    if kernel_name is not None and not isinstance(kernel_name, str):
        raise InvalidType(op, "kernel_name", kernel_name, "a name or None")

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise InvalidType(op, "function", function, "a function")

        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            return function(*arguments, **options)

        if kernel_name is not None:
            call.__name__ = kernel_name
        return call

    if len(args) > 1:
        raise InvalidArgument(op, "args", Description(f"{len(args)} arguments"), "one function")
    return decorated(args[0]) if args else decorated
