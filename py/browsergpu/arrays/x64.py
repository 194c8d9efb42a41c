"""What becomes of the floats of 64 bits, which the GPU does not have."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from browsergpu.core.element_types import DEMOTED, INT64, UINT64, ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType
from browsergpu.core.places import frames_of_the_package

_MODES = ("demote", "quiet", "raise")

_mode = "demote"
_told: set[str] = set()


def set_x64(mode: str, /) -> str:
    """Says what is done where float64 or complex128 is asked for by name or comes
    with a NumPy array. Gives the mode that was in force.

    "demote", the default, takes the kind of 32 bits, and warns once for each dtype; "quiet" does so
    without a warning; "raise" raises a TypeError that says how to cast. Python's numbers and lists,
    NumPy's single numbers, and casts to a dtype that the GPU has are not looked at. int64 beside
    uint64 counts as float64, which NumPy gives for both.

    A finite value from the host that overflows float32 or float16 becomes infinite: "demote" warns
    once for each dtype, "quiet" does not warn, and "raise" raises a ValueError.
    """
    global _mode
    if mode not in _MODES:
        raise InvalidArgument("set_x64", "mode", mode, f"one of {', '.join(map(repr, _MODES))}")
    before, _mode = _mode, mode
    _told.clear()
    return before


def check_x64(op: str, argument: str, dtype: np.dtype[Any]) -> None:
    """Warns of a dtype of 64 bits, or raises InvalidType, a TypeError, as the mode has it."""
    found = DEMOTED.get(dtype.newbyteorder("="))
    if found is None or _mode == "quiet":
        return
    if _mode == "raise":
        expected = (
            f"{found.name}, as the GPU has no floats of 64 bits and set_x64('raise') refuses them"
        )
        advice = "" if argument == "dtype" else f"Cast it with .astype('{found.name}')."
        raise InvalidType(op, argument, dtype, expected, advice)
    if dtype.name not in _told:
        _told.add(dtype.name)
        warnings.warn(
            f"the GPU has no {dtype.name}; browsergpu takes {found.name} for it "
            "(browsergpu.set_x64 chooses)",
            stacklevel=frames_of_the_package(),
        )


def check_x64_pair(op: str, kinds: Iterable[ElementType]) -> bool:
    """:func:`look_at` for int64 beside uint64, which come to float64 in NumPy. Tells whether they
    are."""
    found = {INT64, UINT64} <= {*kinds}
    if found:
        check_x64(op, "dtypes", np.dtype(np.float64))
    return found


def overflowed(op: str, value: Any, kind: ElementType) -> None:
    """Warn that a finite value becomes infinite, once for each dtype, or raise InvalidArgument, as
    the mode says."""
    if _mode == "quiet":
        return
    if _mode == "raise":
        raise InvalidArgument(op, "value", value, f"a value within the range of {kind.name}")
    told = f"overflow of {kind.name}"
    if told not in _told:
        _told.add(told)
        warnings.warn(
            f"{value} overflows {kind.name} and becomes infinite (browsergpu.set_x64 chooses)",
            RuntimeWarning,
            stacklevel=frames_of_the_package(),
        )
