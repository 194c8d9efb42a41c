"""The handling of 64-bit floats, which the GPU does not have."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from browsergpu.engine.core.element_types import DEMOTED, INT64, UINT64, ElementType
from browsergpu.engine.core.errors import InvalidArgument, InvalidType
from browsergpu.engine.core.places import frames_of_the_package

_MODES = ("demote", "quiet", "raise")

_mode = "demote"
_told: set[str] = set()


def set_x64(mode: str, /) -> str:
    """Choose what happens to float64 and complex128.

    It applies to dtypes by name and to NumPy arrays. Python numbers and lists, NumPy scalars, and
    casts to a dtype that the GPU has are not affected. int64 beside uint64 counts as float64, as in
    NumPy.

    Parameters
    ----------
    mode : {"demote", "quiet", "raise"}
        - "demote", the default, uses the 32-bit dtype and warns once for each dtype.
        - "quiet" does the same without a warning.
        - "raise" raises a TypeError that says how to cast.

    Returns
    -------
    str
        The previous mode.

    Raises
    ------
    InvalidArgument
        For another mode.

    Notes
    -----
    A finite value from the host that overflows float32 or float16 becomes infinite. "demote" warns
    once for each dtype, "quiet" does not warn, and "raise" raises a ValueError.
    """
    global _mode
    if mode not in _MODES:
        raise InvalidArgument("set_x64", "mode", mode, f"one of {', '.join(map(repr, _MODES))}")
    before, _mode = _mode, mode
    _told.clear()
    return before


def x64_mode() -> str:
    """Return the mode that :func:`set_x64` has set."""
    return _mode


def check_x64(op: str, argument: str, dtype: np.dtype[Any]) -> None:
    """Warn of a 64-bit dtype or raise InvalidType, depending on the mode."""
    found = DEMOTED.get(dtype.newbyteorder("="))
    if found is None or _mode == "quiet":
        return
    if _mode == "raise":
        expected = (
            f"{found.name}, because the GPU has no 64-bit floats and set_x64('raise') refuses them"
        )
        advice = "" if argument == "dtype" else f"Cast it with .astype('{found.name}')."
        raise InvalidType(op, argument, dtype, expected, advice)
    if dtype.name not in _told:
        _told.add(dtype.name)
        warnings.warn(
            f"the GPU has no {dtype.name}, so browsergpu uses {found.name} (see "
            "browsergpu.set_x64)",
            stacklevel=frames_of_the_package(),
        )


def check_x64_pair(op: str, kinds: Iterable[ElementType]) -> bool:
    """Call :func:`check_x64` for int64 beside uint64, and return whether both dtypes are present.

    NumPy promotes the two to float64.
    """
    found = {INT64, UINT64} <= {*kinds}
    if found:
        check_x64(op, "dtypes", np.dtype(np.float64))
    return found


def overflowed(op: str, value: Any, kind: ElementType) -> None:
    """Warn once for each dtype that a finite value becomes infinite, or raise InvalidArgument."""
    if _mode == "quiet":
        return
    if _mode == "raise":
        raise InvalidArgument(op, "value", value, f"a value within the range of {kind.name}")
    told = f"overflow of {kind.name}"
    if told not in _told:
        _told.add(told)
        warnings.warn(
            f"{value} overflows {kind.name} and becomes infinite (see browsergpu.set_x64)",
            RuntimeWarning,
            stacklevel=frames_of_the_package(),
        )
