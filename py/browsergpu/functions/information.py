"""What the namespace of arrays has: the inspection functions of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from browsergpu.arrays.context import current
from browsergpu.core.element_types import DEFAULTS, FLOAT16, TYPES
from browsergpu.core.showing import Shown
from browsergpu.device.device import Device, open_devices
from browsergpu.functions.data_types import isdtype


class NamespaceInfo(Shown):
    """What ``__array_namespace_info__()`` gives."""

    def capabilities(self) -> dict[str, Any]:
        """Keys of bools, and shapes that depend on data (``nonzero``, ``unique_…``), which wait."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> Device:
        """The device that new arrays are made on."""
        return current().device

    def devices(self) -> tuple[Device, ...]:
        """The devices that are open, without waiting; :func:`browsergpu.devices` opens all."""
        return tuple(open_devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of new arrays, where none is asked for."""
        return {
            "real floating": np.dtype(np.float32),
            "complex floating": np.dtype(np.complex64),
            "integral": DEFAULTS[int].numpy,
            "indexing": DEFAULTS[int].numpy,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes that the standard names (not float16), or those of a kind as ``isdtype`` knows
        it."""
        return {
            one.name: one.numpy
            for one in TYPES
            if one is not FLOAT16 and (kind is None or isdtype(one.numpy, kind))
        }


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace has."""
    return NamespaceInfo()
