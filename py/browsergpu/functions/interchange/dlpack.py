"""Arrays of other libraries, by DLPack (https://dmlc.github.io/dlpack/latest/)."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.array import Array
from browsergpu.arrays.context import device_of
from browsergpu.engine.core.errors import InvalidType
from browsergpu.functions.creation import asarray


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return an array from an object with ``__dlpack__``.

    Parameters
    ----------
    x : object
        An array of this package, or one in the host's memory, which is copied.
    device : Device, optional
        The device of the result. By default, that of ``x``, or the current device.
    copy : bool, optional
        True always copies, and False never does.

    Returns
    -------
    Array
        ``x`` itself, if it is an array on the device and ``copy`` is not True.

    Raises
    ------
    BufferError
        If ``copy=False`` and a copy is needed, or ``x`` is not in the host's memory.
    InvalidType
        If ``x`` has no ``__dlpack__``.
    """
    if isinstance(x, Array):
        if device is None or device_of("from_dlpack", device) is x.device:
            return asarray(x, copy=True) if copy else x
        _may_copy(copy, "another device")
        return asarray(x.numpy(), device=device)
    if not hasattr(x, "__dlpack__"):
        raise InvalidType("from_dlpack", "x", x, "an object with __dlpack__")
    _may_copy(copy, "the GPU")
    return asarray(np.from_dlpack(x), device=device)


def _may_copy(copy: bool | None, place: str) -> None:
    if copy is False:
        raise BufferError(
            f"from_dlpack: copy must be True or None, got False. x must be copied to {place}."
        )
