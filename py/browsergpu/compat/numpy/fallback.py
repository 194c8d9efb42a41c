"""Fallback to NumPy on the host, for functions without a GPU implementation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.engine.core.element_types import of_numpy
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.places import frames_of_the_package
from browsergpu.functions import creation


class HostFallbackWarning(UserWarning):
    """NumPy computed a function on the host, with a copy from the GPU and back."""


_MODES = ("error", "warn", "quiet")
_mode = "warn"
_warned: set[str] = set()

#: Functions that change their first argument, by the last part of their names.
_IN_PLACE = frozenset((
    "at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle",
))  # fmt: skip


def set_fallback(mode: str, /) -> str:
    """Set the behaviour for functions of NumPy that have no GPU implementation.

    Parameters
    ----------
    mode : {"warn", "quiet", "error"}
        "warn", the default, computes with NumPy on the host and uploads the result. It shows a
        :class:`HostFallbackWarning` once for each function. "quiet" does so without a warning.
        "error" raises a TypeError.

    Returns
    -------
    str
        The previous mode.

    Raises
    ------
    InvalidArgument
        For another mode.

    Examples
    --------
    >>> before = bg.set_fallback("error")
    >>> bg.set_fallback(before)
    'error'
    """
    global _mode
    if mode not in _MODES:
        expected = f"one of {', '.join(map(repr, _MODES))}"
        raise InvalidArgument("set_fallback", "mode", mode, expected)
    before, _mode = _mode, mode
    _warned.clear()
    return before


def on_host(
    name: str, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Call a function of NumPy on the host with copies of arrays, and upload the result.

    Results of a dtype without GPU support, such as datetimes and strings, stay on the host. Raises
    InvalidType if the mode is "error".
    """
    _check_mode(name, function)
    arrays: list[Array] = []
    given = dict(options)
    out = given.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not isinstance(out, Array | None):
        given["out"] = out
    copies = _to_host(tuple(args), arrays)
    found = function(*copies, **_to_host(given, arrays))
    if args and isinstance(args[0], Array) and name.rpartition(".")[2] in _IN_PLACE:
        args[0][...] = copies[0]
    if isinstance(out, np.ndarray):
        return out
    result = to_gpu(found, arrays[0].device if arrays else None)
    if isinstance(out, Array):
        out[...] = result
        return out
    return result


def _check_mode(name: str, function: Any) -> None:
    """Warn or raise for a function without a GPU implementation, as the mode says."""
    if _mode == "quiet":
        return
    if _mode == "error":
        raise InvalidType(
            name, "function", function, "a function with a GPU implementation",
            "Call set_fallback('warn') to compute it with NumPy on the host.",
        )  # fmt: skip
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"{name} is computed by NumPy on the host, because it has no GPU implementation "
            "(see browsergpu.set_fallback)",
            HostFallbackWarning,
            stacklevel=frames_of_the_package(),
        )


def to_host(value: Any) -> Any:
    """Return an argument with copies of its GPU arrays as NumPy arrays. Waits for the GPU."""
    return _to_host(value, [])


def _to_host(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, Array):
        arrays.append(value)
        return value.numpy()
    if type(value) in (list, tuple):
        return type(value)(_to_host(item, arrays) for item in value)
    if type(value) is dict:
        return {key: _to_host(item, arrays) for key, item in value.items()}
    return value


def to_gpu(found: Any, device: Any = None) -> Any:
    """Upload the arrays in a result of NumPy. Arrays of dtypes without GPU support stay."""
    if isinstance(found, np.ndarray) and of_numpy(found.dtype) is not None:
        return creation.asarray(_without_64_bits(found), device=device)
    if type(found) in (list, tuple):
        return type(found)(to_gpu(item, device) for item in found)
    if isinstance(found, tuple) and hasattr(found, "_fields"):
        return type(found)(*(to_gpu(item, device) for item in found))
    return found


def _without_64_bits(found: np.ndarray) -> np.ndarray:
    """Cast a result to the package's default dtype, because 64 bits were not requested."""
    kind = of_numpy(found.dtype)
    assert kind is not None
    return found.astype(kind.numpy, copy=False)
