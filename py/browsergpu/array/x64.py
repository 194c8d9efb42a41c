"""What becomes of the dtypes of 64 bits, which the GPU does not have."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from browsergpu.core.element_types import DEMOTED, ElementType
from browsergpu.core.errors import InvalidArgument, InvalidType

_MODES = ("demote", "quiet", "raise")
_PACKAGE = str(Path(__file__).parents[1])

_mode = "demote"
_told: set[str] = set()


def set_x64(mode: str, /) -> str:
    """Says what is done where float64, int64, uint64 or complex128 is asked for by name or comes
    with a NumPy array. Gives the mode that was in force.

    "demote", the default, takes the kind of 32 bits, and warns once for each dtype; "quiet" does so
    without a warning; "raise" raises a TypeError that says how to cast. Python's numbers and lists,
    and what is cast to a dtype that the GPU has, are of no concern.
    """
    global _mode
    if mode not in _MODES:
        raise InvalidArgument("set_x64", "mode", mode, f"one of {', '.join(map(repr, _MODES))}")
    before, _mode = _mode, mode
    _told.clear()
    return before


def look_at(op: str, argument: str, dtype: np.dtype[Any]) -> None:
    """Warns of a dtype of 64 bits, or raises InvalidType, a TypeError, as the mode has it."""
    found = DEMOTED.get(dtype.newbyteorder("="))
    if found is None or _mode == "quiet":
        return
    if _mode == "raise":
        raise InvalidType(op, argument, dtype, _how_to_cast(argument, found))
    if dtype.name not in _told:
        _told.add(dtype.name)
        warnings.warn(
            f"the GPU has no {dtype.name}; browsergpu takes {found.name} for it "
            "(browsergpu.set_x64 chooses)",
            stacklevel=_frames_of_the_package(),
        )


def _how_to_cast(argument: str, found: ElementType) -> str:
    if argument == "dtype":
        return f"{found.name}, as the GPU has no 64 bits and set_x64('raise') refuses them"
    return (
        f"{found.name}: cast it with .astype('{found.name}'), as the GPU has no 64 bits and "
        "set_x64('raise') refuses them"
    )


def _frames_of_the_package() -> int:
    """How far up the user's own line is, counted as ``warnings.warn`` in the caller counts."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, count = frame.f_back, count + 1
    return count
