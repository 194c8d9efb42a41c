"""NumPy on the host, for functions of NumPy that the GPU does not compute."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.core.element_types import of_numpy
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.places import frames_of_the_package
from browsergpu.functions import creation


class HostFallbackWarning(UserWarning):
    """A function was computed by NumPy on the host: arrays were read, and the result uploaded."""


_MODES = ("error", "warn", "quiet")
_mode = "warn"
_told: set[str] = set()

#: Functions that write into their first argument, by the last part of their names.
_WRITING = frozenset((
    "at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle",
))  # fmt: skip


def set_fallback(mode: str, /) -> str:
    """Choose what happens where NumPy has a function that the GPU does not compute.

    Parameters
    ----------
    mode : {"warn", "quiet", "error"}
        "warn", the default, computes with NumPy on the host, brings the result back, and warns
        once for each function with a :class:`HostFallbackWarning` that names the line. "quiet" does
        so without a warning. "error" raises a TypeError.

    Returns
    -------
    str
        The mode before.

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
    _told.clear()
    return before


def on_host(
    name: str, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Call a function of NumPy's with copies of arrays on the host, and upload what it gives.

    Results of a dtype that the GPU does not have, as datetimes and strings, stay on the host.
    Raises InvalidType, a TypeError, where the mode is "error".
    """
    _announce(name, function)
    arrays: list[Array] = []
    given = dict(options)
    out = given.pop("out", None)
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not isinstance(out, Array | None):
        given["out"] = out
    copies = _host(tuple(args), arrays)
    found = function(*copies, **_host(given, arrays))
    if args and isinstance(args[0], Array) and name.rpartition(".")[2] in _WRITING:
        args[0][...] = copies[0]
    if isinstance(out, np.ndarray):
        return out
    result = brought(found, arrays[0].device if arrays else None)
    if isinstance(out, Array):
        out[...] = result
        return out
    return result


def _announce(name: str, function: Any) -> None:
    if _mode == "quiet":
        return
    if _mode == "error":
        raise InvalidType(
            name, "function", function, "a function that the GPU computes",
            "set_fallback('warn') has NumPy compute it on the host.",
        )  # fmt: skip
    if name not in _told:
        _told.add(name)
        warnings.warn(
            f"{name} is computed by NumPy on the host, as the GPU does not compute it "
            "(browsergpu.set_fallback chooses)",
            HostFallbackWarning,
            stacklevel=frames_of_the_package(),
        )


def to_host(value: Any) -> Any:
    """Return an argument with NumPy's arrays in place of the GPU's. Waits."""
    return _host(value, [])


def _host(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, Array):
        arrays.append(value)
        return value.numpy()
    if type(value) in (list, tuple):
        return type(value)(_host(item, arrays) for item in value)
    if type(value) is dict:
        return {key: _host(item, arrays) for key, item in value.items()}
    return value


def brought(found: Any, device: Any = None) -> Any:
    """Return a result of NumPy's with its arrays on the GPU, as far as the GPU has their dtypes."""
    if isinstance(found, np.ndarray) and of_numpy(found.dtype) is not None:
        return creation.asarray(_without_64_bits(found), device=device)
    if type(found) in (list, tuple):
        return type(found)(brought(item, device) for item in found)
    if isinstance(found, tuple) and hasattr(found, "_fields"):
        return type(found)(*(brought(item, device) for item in found))
    return found


def _without_64_bits(found: np.ndarray) -> np.ndarray:
    """A result in the dtype that the GPU takes for its own: nobody has asked for 64 bits."""
    kind = of_numpy(found.dtype)
    assert kind is not None
    return found.astype(kind.numpy, copy=False)
